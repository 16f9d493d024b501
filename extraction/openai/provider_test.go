package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func TestBringsBackWhatTheModelWrote(t *testing.T) {
	p := start(t)
	completion, err := p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
	require.Equal(t, "stop", completion.FinishReason)
	require.Equal(t, "json_schema", completion.OutputMode)
	require.Equal(t, p.sent()["model"], completion.Model, "as the server says")
	require.Positive(t, completion.Usage.PromptTokens)
	require.Positive(t, completion.Usage.CompletionTokens)
}

// R33: provenance, and no prompt of its own.
func TestR33ModelAndNoPromptOfItsOwn(t *testing.T) {
	p := start(t, func(c *openai.Config) { c.Model = "meta/llama-3" })
	require.Equal(t, "openai/meta/llama-3", p.provider.Model())
	require.Equal(t, "vllm/m", connect(t, "http://127.0.0.1:1", func(c *openai.Config) { c.Name, c.Model = "vllm", "m" }).Model())

	req := ask(sentence)
	_, err := p.provider.Extract(t.Context(), req)
	require.NoError(t, err)
	require.Equal(t, []any{
		map[string]any{"role": "system", "content": req.SystemPrompt},
		map[string]any{"role": "user", "content": sentence},
	}, p.sent()["messages"])
	require.Equal(t, "meta/llama-3", p.sent()["model"])
	require.EqualValues(t, openai.DefaultMaxTokens, p.sent()["max_tokens"])

	req.SystemPrompt = ""
	_, err = p.provider.Extract(t.Context(), req)
	require.NoError(t, err)
	require.Len(t, p.sent()["messages"], 1)
}

func TestTextArrivesVerbatim(t *testing.T) {
	p := start(t)
	for _, text := range []string{
		"<a href=\"x\">A & B</a>\r\n\ttab", "東京 👩‍👩‍👧 e\u0301 \u2028 \u200f", `\"quoted\" \u0041 {"json":[]}`, strings.Repeat("长", 50_000),
	} {
		_, err := p.ask(text)
		require.NoError(t, err)
		records := p.server.Records()
		require.Equal(t, text, records[len(records)-1].Text)
	}
}

// R31: a caller's mistake is found before the network is used.
func TestR31BadTextIsRefusedBeforeAnyCall(t *testing.T) {
	p := start(t)
	for _, text := range []string{"", " \n\t", "\u200b"} {
		_, err := p.ask(text)
		require.ErrorIs(t, err, extraction.BlankTextError{})
	}
	var invalid *extraction.InvalidTextError
	_, err := p.ask("Ada \xff Lovelace")
	require.ErrorAs(t, err, &invalid)
	require.Equal(t, 4, invalid.Offset)
	_, err = p.ask("Ada\x00")
	require.ErrorAs(t, err, &invalid)

	var argument *extraction.ArgumentError
	req := ask(sentence)
	req.SystemPrompt = "\xff"
	_, err = p.provider.Extract(t.Context(), req)
	require.ErrorAs(t, err, &argument)
	require.Equal(t, "SystemPrompt", argument.Argument)
	req = ask(sentence)
	req.Schema.JSON = json.RawMessage(`{`)
	_, err = p.provider.Extract(t.Context(), req)
	require.ErrorAs(t, err, &argument)
	require.Equal(t, "Schema", argument.Argument)

	require.Zero(t, p.server.Stats().Requests)
}

func TestACancelledCallerGetsItsOwnError(t *testing.T) {
	p := start(t)
	p.server.Default(named(t, "hang"))
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.provider.Extract(ctx, ask(sentence))
		done <- err
	}()
	require.NoError(t, p.server.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 1 }))
	cancel()
	err := <-done
	require.Equal(t, context.Canceled, err)

	_, err = p.provider.Extract(ctx, ask(sentence))
	require.Equal(t, context.Canceled, err)
	require.Equal(t, 1, p.server.Stats().Requests, "a dead context starts no work")
}

func TestTheCallersDeadlineIsNotTheServersFault(t *testing.T) {
	p := start(t)
	p.server.Default(named(t, "hang"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	_, err := p.provider.Extract(ctx, ask(sentence))
	require.Equal(t, context.DeadlineExceeded, err)
}

func TestConnectionsAreReused(t *testing.T) {
	const callers = 6
	p := start(t, func(c *openai.Config) { c.Concurrency = callers })
	p.server.Mix(modelserver.Mix{Weights: map[string]int{"ok": 1, "bad_gateway": 1, "ok_html": 1, "prose": 1}})
	for range 5 {
		var all sync.WaitGroup
		for i := range callers {
			all.Go(func() { _, _ = p.ask(sentence + strings.Repeat("!", i)) })
		}
		all.Wait()
	}
	stats := p.server.Stats()
	require.Equal(t, 5*callers, stats.Requests)
	// A transport may dial a spare one while an idle one comes back; without reuse
	// it would be one per request.
	require.LessOrEqual(t, stats.Connections, 2*callers)
}

func TestNoKeyNoAuthorizationHeader(t *testing.T) {
	p := start(t, func(c *openai.Config) { c.APIKey = "" })
	_, err := p.ask(sentence)
	require.NoError(t, err)
	require.Zero(t, p.server.Stats().WithKey)

	p = start(t, func(c *openai.Config) { c.APIKey = " " + apiKey + "\n" })
	p.server.RequireKey(apiKey)
	_, err = p.ask(sentence)
	require.NoError(t, err)
}

func TestExtraBodyFields(t *testing.T) {
	p := start(t, func(c *openai.Config) {
		c.MaxTokens = 77
		c.Body = map[string]any{"chat_template_kwargs": map[string]any{"enable_thinking": false}, "temperature": 0.3}
	})
	_, err := p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"enable_thinking": false}, p.sent()["chat_template_kwargs"])
	require.InDelta(t, 0.3, p.sent()["temperature"], 1e-9)
	require.EqualValues(t, 77, p.sent()["max_tokens"])
}

// A request may ask for a shorter answer, never for a longer one.
func TestARequestBoundsItsAnswer(t *testing.T) {
	p := start(t, func(c *openai.Config) { c.MaxTokens = 77 })
	for most, want := range map[int]int{0: 77, 20: 20, 500: 77} {
		req := ask(sentence)
		req.MaxTokens = most
		_, err := p.provider.Extract(t.Context(), req)
		require.NoError(t, err)
		require.EqualValues(t, want, p.sent()["max_tokens"])
	}
}

func TestConfigIsChecked(t *testing.T) {
	for argument, change := range map[string][]func(*openai.Config){
		"Model": {func(c *openai.Config) { c.Model = " " }},
		"BaseURL": {
			func(c *openai.Config) { c.BaseURL = "127.0.0.1:80/v1" },
			func(c *openai.Config) { c.BaseURL = "ftp://host/v1" },
			func(c *openai.Config) { c.BaseURL = "http://" },
			func(c *openai.Config) { c.BaseURL = "http://user:hunter2@host/v1" },
			func(c *openai.Config) { c.BaseURL = "http://host/v1?key=hunter2" },
			func(c *openai.Config) { c.BaseURL = "http://host/v1/chat/completions/" },
			func(c *openai.Config) { c.BaseURL = "http://hunter2\x7f/v1" },
		},
		"APIKey":      {func(c *openai.Config) { c.APIKey = "hunter2\nX: y" }},
		"Name":        {func(c *openai.Config) { c.Name = "a/b" }},
		"MaxTokens":   {func(c *openai.Config) { c.MaxTokens = -1 }},
		"Concurrency": {func(c *openai.Config) { c.Concurrency = -1 }},
		"IdleTimeout": {func(c *openai.Config) { c.IdleTimeout = -1 }},
		"Timeout": {
			func(c *openai.Config) { c.Timeout = -1 },
			func(c *openai.Config) { c.Timeout = openai.DefaultTimeout + 1 },
		},
		"Header": {
			func(c *openai.Config) { c.Header = map[string]string{"a b": "c"} },
			func(c *openai.Config) { c.Header = map[string]string{"a": "hunter2\n"} },
			func(c *openai.Config) { c.Header = map[string]string{"accept-encoding": "hunter2"} },
		},
		"Body": {
			func(c *openai.Config) { c.Body = map[string]any{"model": "x"} },
			func(c *openai.Config) { c.Body = map[string]any{"stream_options": "x"} },
			func(c *openai.Config) { c.Body = map[string]any{"x": func() {}} },
		},
	} {
		for _, f := range change {
			config := openai.Config{Model: "m"}
			f(&config)
			_, err := openai.New(config)
			var wrong *extraction.ArgumentError
			require.ErrorAs(t, err, &wrong, argument)
			require.Equal(t, argument, wrong.Argument)
			require.NotContains(t, err.Error(), "hunter2")
		}
	}
	provider, err := openai.New(openai.Config{Model: "m"})
	require.NoError(t, err)
	require.NoError(t, provider.Close())
	require.NoError(t, provider.Close(), "closing twice is safe")
}

func TestIsSafeForConcurrentUse(t *testing.T) {
	p := start(t)
	p.server.RejectFormats("json_schema")
	var all sync.WaitGroup
	errs := make(chan error, 32)
	for range cap(errs) {
		all.Go(func() {
			_, err := p.ask(sentence)
			errs <- err
		})
	}
	all.Wait()
	close(errs)
	var failed []error
	for err := range errs {
		failed = append(failed, err)
	}
	require.NoError(t, errors.Join(failed...))
}
