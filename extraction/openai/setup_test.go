package openai_test

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	apiKey   = "sk-test-1234567890abcdef"
	sentence = "Ada Lovelace met Charles Babbage in London."
)

// pair is a provider and the misbehaving server that it talks to.
type pair struct {
	t        *testing.T
	server   *modelserver.Server
	provider *openai.Provider
}

func start(t *testing.T, change ...func(*openai.Config)) pair {
	t.Helper()
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return pair{t: t, server: server, provider: connect(t, server.BaseURL(), change...)}
}

func connect(t *testing.T, baseURL string, change ...func(*openai.Config)) *openai.Provider {
	t.Helper()
	config := openai.Config{BaseURL: baseURL, APIKey: apiKey, Model: "test-model"}
	for _, f := range change {
		f(&config)
	}
	provider, err := openai.New(config)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, provider.Close()) })
	return provider
}

func ask(text string) extraction.Request {
	return extraction.Request{
		Tenant: "acme", SystemPrompt: "Extract entities as JSON.", Text: text,
		Schema: extraction.Schema{Name: "graph", JSON: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)},
	}
}

func (p pair) ask(text string) (extraction.Completion, error) {
	ctx, cancel := context.WithTimeout(p.t.Context(), 30*time.Second)
	defer cancel()
	return p.provider.Extract(ctx, ask(text))
}

// fails asks once under a behaviour, and expects a provider error.
func (p pair) fails(b modelserver.Behaviour) *extraction.ProviderError {
	p.t.Helper()
	p.server.Then(b)
	completion, err := p.ask(sentence)
	require.Empty(p.t, completion)
	var failed *extraction.ProviderError
	require.ErrorAs(p.t, err, &failed)
	return failed
}

func named(t *testing.T, name string) modelserver.Behaviour {
	t.Helper()
	b, err := modelserver.Named(name)
	require.NoError(t, err)
	return b
}

// sent is the body of the newest request.
func (p pair) sent() map[string]any {
	p.t.Helper()
	records := p.server.Records()
	require.NotEmpty(p.t, records)
	var body map[string]any
	require.NoError(p.t, json.Unmarshal(records[len(records)-1].Body, &body))
	return body
}
