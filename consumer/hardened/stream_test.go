package hardened_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// streamed is a hardened provider that takes its answers as event streams, in
// front of a real server.
type streamed struct {
	extraction.Provider
	server  *modelserver.Server
	breaker *resilience.Breaker
	line    *admission.Controller
}

func newStreamed(t *testing.T) streamed {
	t.Helper()
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	client, err := openai.New(openai.Config{BaseURL: server.BaseURL(), Model: "test-model", Stream: true, IdleTimeout: 400 * time.Millisecond})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	config := resilience.DefaultBreakerConfig()
	config.FailureThreshold, config.RecoveryTimeout = 2, 50*time.Millisecond
	breaker, err := resilience.NewBreaker(config)
	require.NoError(t, err)
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker, Retry: &resilience.RetryPolicy{MaxRetries: 2, Multiplier: 1}, Classify: hardened.Classify,
	})
	require.NoError(t, err)
	line, err := admission.New(admission.WithConcurrency(4))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, line.Close()) })
	runner, err := admission.NewRunner(line)
	require.NoError(t, err)
	return streamed{hardened.New(client, guard, hardened.WithAdmission(runner)), server, breaker, line}
}

func (s streamed) behaves(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		b, err := modelserver.Named(name)
		require.NoError(t, err)
		s.server.Then(b)
	}
}

var ada = extraction.Request{Tenant: "acme", SystemPrompt: "Extract.", Text: "Ada Lovelace met Charles Babbage."}

// A20: nothing of an answer is handed on before it is whole. So the replay boundary
// is not passed by a stream that fails in its middle, and the call is made again.
func TestA20AStreamThatFailsIsAskedForAgain(t *testing.T) {
	p := newStreamed(t)
	p.behaves(t, "stream_cut", "stream_stalls")
	answer, err := p.Extract(t.Context(), ada)
	require.NoError(t, err)
	require.Equal(t, modelserver.Answer(ada.Text).JSON(), answer.Content, "once, and of one attempt")
	require.Equal(t, 3, p.server.Stats().Requests)
	state, err := p.breaker.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, resilience.Closed, state)
	require.Zero(t, p.line.Snapshot().Active)
}

// A21: a call whose streams all fail is one failure of the circuit, however many
// attempts it had; a probe is held until its stream has ended.
func TestA21AStreamedCallIsOneOutcomeOfTheCircuit(t *testing.T) {
	p := newStreamed(t)
	state := func() resilience.State {
		s, err := p.breaker.State(t.Context())
		require.NoError(t, err)
		return s
	}
	for call, want := range []resilience.State{resilience.Closed, resilience.Open} {
		p.behaves(t, "stream_error", "stream_cut", "stream_ends_early")
		_, err := p.Extract(t.Context(), ada)
		var exhausted *resilience.RetryExhausted
		require.ErrorAs(t, err, &exhausted)
		require.Equal(t, 3, exhausted.Attempts)
		require.ErrorIs(t, err, extraction.ErrUnavailable)
		require.Equal(t, want, state(), "after call %d", call+1)
	}

	require.Eventually(t, func() bool {
		retryAfter, err := p.breaker.RetryAfter(t.Context())
		return err == nil && retryAfter == 0
	}, 10*time.Second, time.Millisecond)
	p.behaves(t, "stream_stalls")
	ctx, cancel := context.WithCancel(t.Context())
	probe := make(chan error, 1)
	go func() {
		_, err := p.Extract(ctx, ada)
		probe <- err
	}()
	require.NoError(t, p.server.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 1 && s.Requests == 7 }))
	var open *resilience.CircuitOpen
	_, err := p.Extract(t.Context(), ada)
	require.ErrorAs(t, err, &open, "the probe's stream has not ended")
	require.NoError(t, <-probe, "its second attempt")
	cancel()
	require.Equal(t, resilience.Closed, state())
}

// A18: what is no completion fails the call with its own kind, once; a permanent one
// is not asked for again.
func TestA18AnErrorInAStreamKeepsItsKind(t *testing.T) {
	p := newStreamed(t)
	for name, kind := range map[string]error{"refusal": extraction.ErrRefused, "length": extraction.ErrTruncated, "tool_calls": extraction.ErrMalformed} {
		before := p.server.Stats().Requests
		p.behaves(t, name)
		_, err := p.Extract(t.Context(), ada)
		require.ErrorIs(t, err, kind)
		require.Equal(t, before+1, p.server.Stats().Requests)
	}
}
