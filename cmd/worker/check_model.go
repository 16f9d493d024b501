package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// checkText is what models are asked about.
const checkText = "Ada Lovelace met Charles Babbage in London."

// checkModel asks one question the way a worker does: with the key, the model and
// the response format.
func (u *checkup) checkModel(ctx context.Context) (string, error) {
	pipeline, err := extraction.NewPipeline(u.provider)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, u.flags.ChunkDeadline)
	defer cancel()
	begun := time.Now()
	found, err := pipeline.Extract(ctx, u.probe, extraction.Chunk{Text: checkText})
	if errors.Is(err, context.DeadlineExceeded) {
		return "", advise(fmt.Errorf("%s: no answer within --chunk-deadline: %w", u.provider.Model(), err), "give it longer, or use a smaller model")
	}
	if err != nil {
		return "", advise(fmt.Errorf("%s: %w", u.provider.Model(), err), u.cure(err))
	}
	entities := fmt.Sprintf("%d entities", len(found.Entities))
	if len(found.Entities) == 1 {
		entities = "1 entity"
	}
	detail := fmt.Sprintf("%s found %s and %s in %s", found.Model, entities, cli.Count(len(found.Relationships), "relationship"),
		time.Since(begun).Round(10*time.Microsecond))
	switch found.OutputMode {
	case "json_schema":
		detail += "; response_format json_schema"
	case "json_object", "text":
		detail += "; the server does not support response_format json_schema, so answers come as " + found.OutputMode + " and are checked all the same"
	}
	return detail + u.learnt(), nil
}

// learnt is what the model's client has found out about its server by asking.
func (u *checkup) learnt() string {
	client, ok := u.provider.(*openai.Provider)
	if !ok {
		return ""
	}
	found, said := client.Learnt(), ""
	switch {
	case found.Streams:
		said = "; answers are streamed"
	case u.flags.Stream:
		said = "; the server does not stream, so --stream changes nothing"
	}
	if found.MaxTokens < u.flags.MaxTokens {
		said += fmt.Sprintf("; the server allows no answers of --max-tokens %d, so they may have %d", u.flags.MaxTokens, found.MaxTokens)
	}
	return said
}

// cure says what to do about an error of the model.
func (u *checkup) cure(err error) string {
	failed, ok := errors.AsType[*extraction.ProviderError](err)
	if !ok {
		return "look at the log of the model server"
	}
	switch failed.Kind {
	case extraction.KindAuth:
		return "give a key that the server accepts, in OPENAI_API_KEY or --openai-api-key-file"
	case extraction.KindQuota:
		return "top up the account, or use another key"
	case extraction.KindUnavailable:
		if _, ok := errors.AsType[*tls.CertificateVerificationError](failed.Err); ok {
			return "give the file of the authority that has signed the server's certificate with --openai-ca"
		}
		return "start the model server, or correct --openai-base-url (it goes up to and including /v1)"
	case extraction.KindRateLimited:
		return "wait and check again; set --rpm to what the server allows"
	case extraction.KindInvalidRequest:
		return "name a model that the server has with --model, and check that --openai-base-url goes up to and including /v1"
	case extraction.KindContextTooLong:
		return fmt.Sprintf("many servers count --max-tokens (%d) and the prompt together: give at most half of the model's context, or choose a model with a larger one", u.flags.MaxTokens)
	case extraction.KindTruncated:
		return "give more --max-tokens, or turn the model's thinking off with --openai-body"
	}
	return "use a model that can answer in JSON: this one reads and writes, but not what is asked for"
}
