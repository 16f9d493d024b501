package resilience_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// R26 of docs/clauses.md.
func TestR26ReadsArePure(t *testing.T) {
	b := newRig(t)
	look := func() {
		t.Helper()
		before := b.versions()
		_, err := b.State(t.Context())
		require.NoError(t, err)
		_, err = b.RetryAfter(t.Context())
		require.NoError(t, err)
		_, err = b.Snapshot(t.Context())
		require.NoError(t, err)
		require.Equal(t, before, b.versions())
	}
	look()
	b.fail(1)
	look()
	require.NoError(t, b.Reset(t.Context()))
	b.due()
	look() // does not take the probe that is due
	b.allowed()
	look()
}

// R26 of docs/clauses.md.
func TestR26RetryAfter(t *testing.T) {
	b := newRig(t)
	require.Zero(t, b.retryAfter())
	b.open()
	require.Equal(t, 10*time.Second, b.retryAfter())
	b.pass(7 * time.Second)
	require.Equal(t, 3*time.Second, b.retryAfter())
	b.pass(3 * time.Second)
	require.Zero(t, b.retryAfter())
	b.pass(time.Hour)
	require.Zero(t, b.retryAfter())
	b.allowed()
	require.Equal(t, time.Second, b.retryAfter(), "while others probe: positive, and not the whole lease")
}

// R26 of docs/clauses.md.
func TestR26KeysAreTheContract(t *testing.T) {
	b := newRig(t, func(c *resilience.BreakerConfig) { c.Prefix, c.Name = "llm/", "gpu 1" })
	b.open()
	require.Equal(t, "open", b.key("state"))
	require.Equal(t, "1700000000.250", b.key("opened_at"))
	require.Equal(t, "no answer", b.key("reason"))
	b.pass(10 * time.Second)
	p := b.allowed()
	require.Equal(t, "half_open", b.key("state"))
	require.Equal(t, "1", b.key("half_open_calls"))
	require.Equal(t, "1700000000.250", b.key("opened_at"))
	require.Equal(t, "no answer", b.key("reason"))
	require.NoError(t, p.Success(t.Context()))
	require.Equal(t, "closed", b.key("state"))
}

// R27 of docs/clauses.md.
func TestR27RefusalSaysWhenAndWhy(t *testing.T) {
	b := newRig(t)
	b.open()
	b.pass(time.Second)
	require.Equal(t, &resilience.CircuitOpen{Circuit: "model", RetryAfter: 9 * time.Second, Reason: "no answer"}, b.refused())
}

func TestSnapshot(t *testing.T) {
	b := newRig(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 2 })
	b.fail(2)
	s, err := b.Snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, resilience.Snapshot{Circuit: "model", State: resilience.Closed, Failures: 2}, s)
	b.fail(1)
	opened := b.now
	b.pass(10 * time.Second)
	b.allowed()
	s, err = b.Snapshot(t.Context())
	require.NoError(t, err)
	require.True(t, s.OpenedAt.Equal(opened))
	s.OpenedAt = time.Time{}
	require.Equal(t, resilience.Snapshot{Circuit: "model", State: resilience.HalfOpen, Reason: "no answer", HalfOpenCalls: 1}, s)
}

func TestChangesAreObservable(t *testing.T) {
	var changes []resilience.Change
	b := newRig(t, func(c *resilience.BreakerConfig) {
		c.OnChange = func(c resilience.Change) { changes = append(changes, c) }
	})
	opened := b.now
	b.due()
	require.NoError(t, b.allowed().Success(t.Context()))
	periods := map[uint64]bool{}
	for i := range changes {
		periods[changes[i].Period] = true
		changes[i].Period = 0
	}
	require.Len(t, periods, 3, "each period has a name of its own")
	require.Equal(t, []resilience.Change{
		{Circuit: "model", From: resilience.Closed, To: resilience.Open, Reason: "no answer", At: opened},
		{Circuit: "model", From: resilience.Open, To: resilience.HalfOpen, At: b.now},
		{Circuit: "model", From: resilience.HalfOpen, To: resilience.Closed, At: b.now},
	}, changes)
}

// A listener that panics does not take the probe with it.
func TestPanicOfTheListener(t *testing.T) {
	cfg := resilience.DefaultBreakerConfig()
	cfg.OnChange = func(resilience.Change) { panic("boom") }
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	require.NoError(t, b.Force(t.Context(), "maintenance"))
	s, err := b.State(t.Context())
	require.NoError(t, err)
	require.Equal(t, resilience.Open, s)
}

// However much an error has to say, the circuit opens.
func TestLongReasonsAreCut(t *testing.T) {
	cfg := resilience.DefaultBreakerConfig()
	cfg.FailureThreshold = 1
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	permit, _, err := b.Allow(t.Context())
	require.NoError(t, err)
	require.NoError(t, permit.Failure(t.Context(), strings.Repeat("é", 1<<20)))
	s, err := b.Snapshot(t.Context())
	require.NoError(t, err)
	require.Equal(t, resilience.Open, s.State)
	require.LessOrEqual(t, len(s.Reason), 1024)
	require.True(t, utf8.ValidString(s.Reason))
}
