package resilience_test

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestR22Configuration(t *testing.T) {
	cfg := resilience.DefaultBreakerConfig()
	require.Equal(t, 5, cfg.FailureThreshold)
	require.Equal(t, time.Minute, cfg.RecoveryTimeout)
	require.Equal(t, 1, cfg.HalfOpenMaxCalls)
	for argument, change := range map[string]func(*resilience.BreakerConfig){
		"FailureThreshold": func(c *resilience.BreakerConfig) { c.FailureThreshold = 0 },
		"RecoveryTimeout":  func(c *resilience.BreakerConfig) { c.RecoveryTimeout = -1 },
		"HalfOpenMaxCalls": func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 0 },
		"ProbeLease":       func(c *resilience.BreakerConfig) { c.ProbeLease = -1 },
		"Name":             func(c *resilience.BreakerConfig) { c.Name = "" },
	} {
		c := cfg
		change(&c)
		_, err := resilience.NewBreaker(c)
		requireConfigError(t, err, argument)
	}
	// With no cache it owns one, and is a whole breaker.
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	_, ok, err := b.Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	_, _, err = b.Allow(t.Context())
	require.ErrorIs(t, err, kvcache.ErrClosed)
}

func TestR22ClosedOpensAtTheThreshold(t *testing.T) {
	b := newBench(t)
	b.fail(2)
	b.is(resilience.Closed)
	require.Equal(t, "2", b.key("failures"))
	b.fail(1)
	b.is(resilience.Open)
	b.refused()
}

func TestR22SuccessClearsTheFailures(t *testing.T) {
	b := newBench(t)
	for range 5 {
		b.fail(2)
		require.NoError(t, b.allowed().Success(t.Context()))
		require.Empty(t, b.key("failures"))
	}
	b.is(resilience.Closed)
}

func TestR22OpenBecomesHalfOpenByTheCallThatAsks(t *testing.T) {
	b := newBench(t)
	b.open()
	b.pass(10*time.Second - time.Millisecond)
	b.refused()
	b.pass(time.Millisecond)
	b.is(resilience.Open)
	require.True(t, b.allowed().Probe(), "the call that moves the circuit is itself a probe")
	b.is(resilience.HalfOpen)
	b.refused()
}

func TestR22ProbeDecides(t *testing.T) {
	t.Run("success closes and clears everything", func(t *testing.T) {
		b := newBench(t)
		b.due()
		require.NoError(t, b.allowed().Success(t.Context()))
		b.is(resilience.Closed)
		for _, name := range []string{"failures", "half_open_calls", "opened_at", "reason", "hold", "probe.0"} {
			require.Empty(t, b.key(name), name)
		}
		require.False(t, b.allowed().Probe())
	})
	t.Run("failure opens and starts the timeout again", func(t *testing.T) {
		b := newBench(t)
		b.due()
		p := b.allowed()
		b.pass(3 * time.Second)
		require.NoError(t, p.Failure(t.Context(), "still down"))
		b.is(resilience.Open)
		require.Equal(t, 10*time.Second, b.refused().RetryAfter)
		b.pass(10*time.Second - time.Millisecond)
		b.refused()
		b.pass(time.Millisecond)
		b.allowed()
	})
}

func TestR22OpenIgnoresFailures(t *testing.T) {
	b := newBench(t)
	late := b.allowed()
	b.open()
	b.pass(5 * time.Second)
	require.NoError(t, late.Failure(t.Context(), "late"))
	require.NoError(t, late.Trip(t.Context(), "late"))
	require.Equal(t, 5*time.Second, b.refused().RetryAfter, "the timeout was not started again")
	require.Equal(t, "no answer", b.key("reason"))
}

func TestR23NeverMoreProbesThanPermitted(t *testing.T) {
	b := newBench(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 3 })
	for range 3 { // each time it reopens there is a fresh allowance
		b.due()
		probes := []resilience.Permit{b.allowed(), b.allowed(), b.allowed()}
		b.refused()
		require.Equal(t, "3", b.key("half_open_calls"))

		require.NoError(t, probes[1].Release(t.Context()))
		require.Equal(t, "2", b.key("half_open_calls"))
		probes[1] = b.allowed()
		b.refused()

		require.NoError(t, probes[2].Failure(t.Context(), "still down"))
		require.Empty(t, b.key("half_open_calls"))
		b.is(resilience.Open)
		b.pass(b.cfg.RecoveryTimeout)
		require.NoError(t, b.allowed().Success(t.Context()))
	}
}

// R24 of docs/clauses.md.
func TestR24FailuresDecayFromTheFirst(t *testing.T) {
	b := newBench(t)
	b.fail(1)
	b.pass(6 * time.Second)
	b.fail(1) // does not keep the first one alive
	b.pass(4 * time.Second)
	require.Empty(t, b.key("failures"))
	b.fail(2)
	b.is(resilience.Closed)
	b.fail(1)
	b.is(resilience.Open)
}

// R26 of docs/clauses.md.
func TestR26ReadsArePure(t *testing.T) {
	b := newBench(t)
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
	b := newBench(t)
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
func TestR26ResetForcesClosed(t *testing.T) {
	for _, prepare := range []func(*bench){
		func(b *bench) { b.fail(2) }, (*bench).open, func(b *bench) { b.due(); b.allowed() },
		func(b *bench) { require.NoError(b.t, b.Force(b.t.Context(), "maintenance")) },
	} {
		b := newBench(t)
		prepare(b)
		require.NoError(t, b.Reset(t.Context()))
		b.is(resilience.Closed)
		b.fail(2)
		b.is(resilience.Closed)
	}
}

// R26 of docs/clauses.md.
func TestR26KeysAreTheContract(t *testing.T) {
	b := newBench(t, func(c *resilience.BreakerConfig) { c.Prefix, c.Name = "llm/", "gpu 1" })
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
	b := newBench(t)
	b.open()
	b.pass(time.Second)
	require.Equal(t, &resilience.CircuitOpen{Circuit: "model", RetryAfter: 9 * time.Second, Reason: "no answer"}, b.refused())
}

// R27 of docs/clauses.md.
func TestR27SharedAndSeparateCircuits(t *testing.T) {
	b := newBench(t)
	twin := b.another()
	stranger := b.another(func(c *resilience.BreakerConfig) { c.Name = "other" })
	prefixed := b.another(func(c *resilience.BreakerConfig) { c.Name, c.Prefix = "model", "x-" })
	b.cfg.Prefix = ""
	b.fail(2)
	p, ok, err := twin.Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, p.Failure(t.Context(), "no answer"))
	b.refused()
	for _, other := range []*resilience.Breaker{stranger, prefixed} {
		_, ok, err := other.Allow(t.Context())
		require.NoError(t, err)
		require.True(t, ok)
	}
}

func TestR28ReleaseSaysNothingAboutTheServer(t *testing.T) {
	b := newBench(t)
	b.fail(2)
	require.NoError(t, b.allowed().Release(t.Context()))
	require.Equal(t, "2", b.key("failures"))
	b.is(resilience.Closed)
}

func TestTripOpensAtOnceWithTheReason(t *testing.T) {
	b := newBench(t)
	require.NoError(t, b.allowed().Trip(t.Context(), "401 from the server"))
	require.Equal(t, "401 from the server", b.refused().Reason)
	b.pass(10 * time.Second)
	require.NoError(t, b.allowed().Trip(t.Context(), "still 401"))
	require.Equal(t, "still 401", b.refused().Reason)
}

func TestForcedOpenStaysOpenUntilReset(t *testing.T) {
	b := newBench(t)
	late := b.allowed()
	require.NoError(t, b.Force(t.Context(), "maintenance"))
	b.pass(1000 * time.Hour)
	require.Equal(t, &resilience.CircuitOpen{Circuit: "model", RetryAfter: 10 * time.Second, Reason: "maintenance"}, b.refused())
	s, err := b.Snapshot(t.Context())
	require.NoError(t, err)
	require.True(t, s.Forced)
	require.NoError(t, late.Success(t.Context()))
	b.refused()
	require.NoError(t, b.Reset(t.Context()))
	b.allowed()
}

func TestSnapshot(t *testing.T) {
	b := newBench(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 2 })
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
	b := newBench(t, func(c *resilience.BreakerConfig) {
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

// A permit that was refused, or was never given, reports nothing: R22, an open
// circuit ignores failures, and a forced one stays forced.
func TestRefusedPermitsReportNothing(t *testing.T) {
	cfg := resilience.DefaultBreakerConfig()
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	ctx := t.Context()
	require.NoError(t, b.Force(ctx, "maintenance"))
	before, err := b.Snapshot(ctx)
	require.NoError(t, err)
	refused, ok, err := b.Allow(ctx)
	require.NoError(t, err)
	require.False(t, ok)
	for _, p := range []resilience.Permit{refused, {}} {
		require.NoError(t, p.Failure(ctx, "down"))
		require.NoError(t, p.Trip(ctx, "down"))
		require.NoError(t, p.Success(ctx))
		require.NoError(t, p.Release(ctx))
	}
	after, err := b.Snapshot(ctx)
	require.NoError(t, err)
	require.True(t, after.Forced)
	require.Equal(t, before, after)
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
