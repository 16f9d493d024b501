package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/offline"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/secretfile"
)

// modelFlags choose the provider of extractions.
type modelFlags struct {
	Provider      string     `group:"model" default:"auto" enum:"auto,openai,offline" help:"Who extracts: openai (any OpenAI-compatible server), offline (a small built-in tagger that needs no server, for English), or auto: openai when a base URL or key is set, else offline."`
	OpenAIBaseURL string     `name:"openai-base-url" known:"OPENAI_BASE_URL" group:"model" placeholder:"URL" help:"Base URL of the model server, up to and including /v1. Default: OpenAI's own."`
	OpenAIAPIKey  cli.Secret `name:"openai-api-key" known:"OPENAI_API_KEY" group:"model" placeholder:"KEY" help:"API key. Prefer the environment or --config: a command line can be seen by others on the machine."`
	OpenAIKeyFile string     `name:"openai-api-key-file" known:"OPENAI_API_KEY_FILE" group:"model" placeholder:"FILE" help:"File with the API key and nothing else, as Docker and Kubernetes mount secrets. Read again for every request: a key that was replaced needs no restart."`
	Model         string     `group:"model" default:"gpt-4o-mini" placeholder:"NAME" help:"Model to ask for, as the server knows it. Default: gpt-4o-mini, which other servers than OpenAI's may not have."`
	MaxTokens     int        `group:"model" default:"8192" help:"Most tokens that one answer may have."`

	Stream            bool          `group:"model" help:"Take answers as event streams. What is extracted is the same; a server that hangs in the middle of an answer is noticed after --stream-idle-timeout, and proxies that cut silent connections let it be."`
	StreamIdleTimeout time.Duration `group:"model" placeholder:"60s" help:"With --stream: how long a stream that has begun may be silent. Default: 60s."`
	AttemptTimeout    time.Duration `group:"model" placeholder:"DURATION" help:"Longest time that one request to the model may take. Shorter than --chunk-deadline, so that there is time to ask again. Default: --chunk-deadline, at most 10m."`
	OpenAIHeader      headers       `name:"openai-header" secret:"" group:"model" placeholder:"'NAME: VALUE'" help:"Header to send with every request, such as a gateway's key; give it several times, or one on each line. Values are kept secret."`
	OpenAIBody        bodyFields    `name:"openai-body" group:"model" placeholder:"JSON" help:"JSON object with fields to add to every request, such as {\"chat_template_kwargs\":{\"enable_thinking\":false}} or {\"temperature\":0.2}."`
	OpenAICA          string        `name:"openai-ca" group:"model" placeholder:"FILE" help:"PEM file with certificate authorities to trust besides the system's."`
}

// openai reports whether the flags choose an OpenAI-compatible server.
func (f modelFlags) openai() bool {
	return f.Provider == "openai" || f.Provider == "auto" && (f.OpenAIBaseURL != "" || f.OpenAIAPIKey.IsSet() || f.OpenAIKeyFile != "")
}

func (f modelFlags) check(chunkDeadline time.Duration) error {
	switch {
	case !f.openai():
		return nil
	case f.OpenAIAPIKey.IsSet() && f.OpenAIKeyFile != "":
		return errors.New("--openai-api-key-file: there is a key in --openai-api-key or $OPENAI_API_KEY as well, give one of them")
	case f.Model == "":
		return errors.New("--model must have a name")
	case f.MaxTokens < 1:
		return errors.New("--max-tokens must be positive")
	case f.StreamIdleTimeout < 0:
		return errors.New("--stream-idle-timeout must be positive")
	case f.StreamIdleTimeout > 0 && !f.Stream:
		return errors.New("--stream-idle-timeout goes with --stream")
	case f.AttemptTimeout < 0 || f.AttemptTimeout > openai.DefaultTimeout:
		return fmt.Errorf("--attempt-timeout must be positive and at most %s", openai.DefaultTimeout)
	case f.AttemptTimeout > 0 && f.AttemptTimeout >= chunkDeadline:
		// Else every chunk that a hung server has would end as deadline, without
		// a retry.
		return fmt.Errorf("--attempt-timeout must be shorter than --chunk-deadline, which is %s", chunkDeadline)
	}
	return nil
}

// client is the configuration of the model's client. An attempt may take as long as
// its chunk may, unless there is a flag that says less.
func (f modelFlags) client(chunkDeadline time.Duration, concurrency int, logger *slog.Logger) (openai.Config, error) {
	config := openai.Config{
		BaseURL: f.OpenAIBaseURL, APIKey: f.OpenAIAPIKey.Reveal(), Model: f.Model, MaxTokens: f.MaxTokens,
		Timeout: f.AttemptTimeout, Stream: f.Stream, IdleTimeout: f.StreamIdleTimeout,
		Header: f.OpenAIHeader.values, Body: f.OpenAIBody.fields,
		Concurrency: concurrency, Logger: logger,
	}
	if config.Timeout == 0 {
		config.Timeout = min(chunkDeadline, openai.DefaultTimeout)
	}
	if err := f.keyFile(&config, logger); err != nil {
		return config, fmt.Errorf("--openai-api-key-file: %w", err)
	}
	if f.OpenAICA == "" {
		return config, nil
	}
	authorities, err := os.ReadFile(f.OpenAICA)
	if err != nil {
		return config, fmt.Errorf("--openai-ca: %w", err)
	}
	if config.RootCAs, err = x509.SystemCertPool(); err != nil {
		config.RootCAs = x509.NewCertPool() // a system without any
	}
	if !config.RootCAs.AppendCertsFromPEM(authorities) {
		return config, fmt.Errorf("--openai-ca: %s has no certificate in PEM", f.OpenAICA)
	}
	return config, nil
}

// keyFile makes the client read its key from the file, if there is one.
func (f modelFlags) keyFile(config *openai.Config, logger *slog.Logger) error {
	if f.OpenAIKeyFile == "" {
		return nil
	}
	source, err := secretfile.Open(f.OpenAIKeyFile)
	if err != nil {
		return err
	}
	secretfile.Warn(logger, "openai-api-key-file", f.OpenAIKeyFile)
	config.KeySource = func() string {
		key, _ := source.Current() // the last one that could be read, if somebody is replacing it
		return key
	}
	return nil
}

// newProvider makes the provider that the flags choose. Errors are mistakes in
// the flags.
func newProvider(flags engineFlags, logger *slog.Logger) (provider extraction.Provider, closeProvider func(), err error) {
	if !flags.openai() {
		provider, err := offline.New()
		if err != nil {
			return nil, nil, err
		}
		return provider, func() {}, nil
	}
	config, err := flags.client(flags.ChunkDeadline, flags.Concurrency, logger)
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	client, err := openai.New(config)
	if wrong, ok := errors.AsType[*extraction.ArgumentError](err); ok {
		if flag := flagOf(wrong.Argument); flag != "" {
			return nil, nil, cli.Usage(fmt.Errorf("%s %s", flag, wrong.Reason))
		}
	}
	if err != nil {
		return nil, nil, cli.Usage(err)
	}
	return client, func() { _ = client.Close() }, nil
}

// flagOf names the flag that sets a field of the client's configuration.
func flagOf(argument string) string {
	return map[string]string{
		"BaseURL": "--openai-base-url", "APIKey": "--openai-api-key", "Header": "--openai-header", "Body": "--openai-body",
	}[argument]
}

// headers are the values of --openai-header. They are secrets, so no error shows
// one.
type headers struct{ values map[string]string }

// UnmarshalText adds what is given once, a header on each line.
func (h *headers) UnmarshalText(text []byte) error {
	for line := range strings.Lines(string(text)) {
		if strings.TrimSpace(line) == "" {
			continue
		}
		name, value, found := strings.Cut(line, ":")
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		if !found || name == "" {
			return errors.New("want NAME: VALUE")
		}
		if h.values == nil {
			h.values = map[string]string{}
		}
		h.values[name] = value
	}
	return nil
}

// bodyFields are the value of --openai-body.
type bodyFields struct{ fields map[string]any }

// UnmarshalText reads one JSON object, numbers as they are written.
func (b *bodyFields) UnmarshalText(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var fields map[string]any
	if err := decoder.Decode(&fields); err != nil || fields == nil || decoder.More() {
		return errors.New("want one JSON object, such as {\"top_p\":0.9}")
	}
	b.fields = fields
	return nil
}
