package consumer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// pipeline is the real extraction over real HTTP.
func pipeline(t *testing.T, server *modelserver.Server) *extraction.Pipeline {
	t.Helper()
	provider, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "test-model", Timeout: 5 * time.Second})
	require.NoError(t, err)
	t.Cleanup(func() { _ = provider.Close() })
	p, err := extraction.NewPipeline(provider)
	require.NoError(t, err)
	return p
}

func modelServer(t *testing.T) *modelserver.Server {
	t.Helper()
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

// From a raw document to grounded knowledge, over a real model server.
func TestEndToEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := modelServer(t)
	w.start(pipeline(t, server))
	const text = "Ada Lovelace met Charles Babbage in London."
	w.sendTo("weir.documents.acme", text, nil)
	require.Eventually(t, func() bool { return len(w.results()) == 1 }, patience, tick)
	r := w.onlyResult()
	require.Equal(t, "openai/test-model", r.Model)
	require.NotEmpty(t, r.Entities)
	for _, e := range r.Entities {
		if e.Evidence != nil {
			require.Equal(t, e.Evidence.Quote, text[e.Evidence.ByteStart:e.Evidence.ByteEnd])
		}
	}
}

// What a model may do wrong ends in the dead letter of the contract.
func TestModelFaultsEndToEnd(t *testing.T) {
	for behaviour, kind := range map[string]string{
		"server_error": "attempts_exhausted", "ok_html": "attempts_exhausted", "ok_error": "attempts_exhausted", "reset": "attempts_exhausted",
		"prose": "malformed", "list": "malformed", "truncated_json": "malformed", "no_relationships": "malformed",
		"empty": "empty", "length": "truncated", "refusal": "refused", "content_filter": "refused",
		"context_vllm": "context_too_long", "bad_request": "invalid_request",
	} {
		t.Run(behaviour, func(t *testing.T) {
			t.Parallel()
			b, err := modelserver.Named(behaviour)
			require.NoError(t, err, "known: %v", modelserver.Names())
			w := newWorld(t)
			server := modelServer(t)
			server.Default(b)
			w.start(pipeline(t, server), func(c *consumer.Config) { c.MaxAttempts = 2 })
			w.send("acme", `{"text":"Ada Lovelace met Charles Babbage in London."}`)
			require.Equal(t, kind, w.onlyDead().Kind)
		})
	}
}

// Several workers, a model that fails now and then: one result per chunk.
func TestFleetEndToEnd(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	server := modelServer(t)
	failing, err := modelserver.Named("server_error")
	require.NoError(t, err)
	ok, err := modelserver.Named("ok")
	require.NoError(t, err)
	for i := range 20 {
		server.OnMarker(fmt.Sprintf("number %d met", 5*i), failing, failing, ok)
	}
	for range 3 {
		w.start(pipeline(t, server), func(c *consumer.Config) { c.MaxAttempts = 10 })
	}
	for i := range 100 {
		w.send("acme", chunkJSON("d", i, fmt.Sprintf("Ada number %d met Charles Babbage in London.", i)))
	}
	w.settled()
	require.Len(t, w.results(), 100)
	require.Empty(t, w.dead())
}
