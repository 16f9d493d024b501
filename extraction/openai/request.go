package openai

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// request is what the library sees: an address and the header go with it. Its body is
// replaced by that of [head.body], since the library drops a temperature of 0, cannot
// send fields of the user's, and refuses requests by the look of the model's name, which
// says nothing about a local server's models.
func request() sdk.ChatCompletionRequest {
	return sdk.ChatCompletionRequest{Model: "model", Messages: []sdk.ChatCompletionMessage{{Role: sdk.ChatMessageRoleUser, Content: "text"}}}
}

// head is what a request's body begins with: everything up to the text. As a rule that
// is the same for all chunks, and much longer than the text.
type head struct {
	question
	mode   mode
	fewest int64 // tokens of the system prompt, see [extent.fewest]
	json   []byte
}

// question is what a head depends on.
type question struct {
	dialect  dialect
	streamed bool
	budget   int
	prompt   string
	schema   extraction.Schema
}

func (q question) equal(other question) bool {
	return q.dialect == other.dialect && q.streamed == other.streamed && q.budget == other.budget && q.prompt == other.prompt &&
		q.schema.Name == other.schema.Name && bytes.Equal(q.schema.JSON, other.schema.JSON)
}

// head returns the head of a request. The last one is kept.
func (p *Provider) head(req extraction.Request, d dialect) (*head, error) {
	q := question{
		dialect: d, streamed: p.config.Stream && d.streaming != noStream,
		budget: tighter(tighter(p.config.MaxTokens, req.MaxTokens), d.budget),
		prompt: req.SystemPrompt, schema: req.Schema,
	}
	if h := p.lastHead.Load(); h != nil && h.equal(q) {
		return h, nil
	}
	q.schema.JSON = slices.Clone(req.Schema.JSON) // the caller's
	h, err := p.newHead(q)
	if err == nil {
		p.lastHead.Store(h)
	}
	return h, err
}

func (p *Provider) newHead(q question) (*head, error) {
	h := &head{question: q, mode: q.dialect.mode, fewest: measure(q.prompt).fewest()}
	if len(q.schema.JSON) == 0 {
		h.mode = modeText
	} else if !json.Valid(q.schema.JSON) {
		return nil, &extraction.ArgumentError{Argument: "Schema", Reason: "is not JSON"}
	}
	fields := map[string]any{"model": p.config.Model, "stream": q.streamed}
	if !q.dialect.ownTemperature {
		fields["temperature"] = 0
	}
	if q.dialect.completionTokens {
		fields["max_completion_tokens"] = q.budget
	} else {
		fields["max_tokens"] = q.budget
	}
	switch h.mode {
	case modeSchema:
		fields["response_format"] = sdk.ChatCompletionResponseFormat{
			Type: sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{
				Name: q.schema.Name, Schema: q.schema.JSON, Strict: true,
			},
		}
	case modeObject:
		fields["response_format"] = sdk.ChatCompletionResponseFormat{Type: sdk.ChatCompletionResponseFormatTypeJSONObject}
	}
	if q.streamed && q.dialect.streaming == streamWithUsage {
		fields["stream_options"] = sdk.StreamOptions{IncludeUsage: true}
	}
	maps.Copy(fields, p.config.Body)
	options, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	h.json = append(bytes.TrimSuffix(options, []byte("}")), `,"messages":[`...)
	if q.prompt != "" {
		prompt, err := json.Marshal(q.prompt)
		if err != nil {
			return nil, err
		}
		h.json = append(append(append(h.json, `{"role":"system","content":`...), prompt...), "},"...)
	}
	h.json = append(h.json, `{"role":"user","content":`...)
	return h, nil
}

// body is the whole body of a request about a text.
func (h *head) body(text string) ([]byte, error) {
	encoded, err := json.Marshal(text)
	if err != nil {
		return nil, err
	}
	return slices.Concat(h.json, encoded, []byte("}]}")), nil
}
