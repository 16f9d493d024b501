package resilience_test

import (
	"testing"
	"time"

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
	b := newRig(t)
	b.fail(2)
	b.is(resilience.Closed)
	require.Equal(t, "2", b.key("failures"))
	b.fail(1)
	b.is(resilience.Open)
	b.refused()
}

func TestR22SuccessClearsTheFailures(t *testing.T) {
	b := newRig(t)
	for range 5 {
		b.fail(2)
		require.NoError(t, b.allowed().Success(t.Context()))
		require.Empty(t, b.key("failures"))
	}
	b.is(resilience.Closed)
}

func TestR22OpenBecomesHalfOpenByTheCallThatAsks(t *testing.T) {
	b := newRig(t)
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
		b := newRig(t)
		b.due()
		require.NoError(t, b.allowed().Success(t.Context()))
		b.is(resilience.Closed)
		for _, name := range []string{"failures", "half_open_calls", "opened_at", "reason", "hold", "probe.0"} {
			require.Empty(t, b.key(name), name)
		}
		require.False(t, b.allowed().Probe())
	})
	t.Run("failure opens and starts the timeout again", func(t *testing.T) {
		b := newRig(t)
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
	b := newRig(t)
	late := b.allowed()
	b.open()
	b.pass(5 * time.Second)
	require.NoError(t, late.Failure(t.Context(), "late"))
	require.NoError(t, late.Trip(t.Context(), "late"))
	require.Equal(t, 5*time.Second, b.refused().RetryAfter, "the timeout was not started again")
	require.Equal(t, "no answer", b.key("reason"))
}

func TestR23NeverMoreProbesThanPermitted(t *testing.T) {
	b := newRig(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 3 })
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
	b := newRig(t)
	b.fail(1)
	b.pass(6 * time.Second)
	b.fail(1) // does not keep the first one alive
	b.pass(4 * time.Second)
	require.Empty(t, b.key("failures"))
	b.fail(2)
	b.is(resilience.Closed)
	b.fail(1)
	b.is(resilience.Open)

	b = newRig(t)
	for range 100 { // one every 6s, remembered for 10s: never three
		b.fail(1)
		b.pass(6 * time.Second)
	}
	b.is(resilience.Closed)
}

// R26 of docs/clauses.md.
func TestR26ResetForcesClosed(t *testing.T) {
	for _, prepare := range []func(*rig){
		func(b *rig) { b.fail(2) }, (*rig).open, func(b *rig) { b.due(); b.allowed() },
		func(b *rig) { require.NoError(b.t, b.Force(b.t.Context(), "maintenance")) },
	} {
		b := newRig(t)
		prepare(b)
		require.NoError(t, b.Reset(t.Context()))
		b.is(resilience.Closed)
		b.fail(2)
		b.is(resilience.Closed)
	}
}

// R27 of docs/clauses.md.
func TestR27SharedAndSeparateCircuits(t *testing.T) {
	b := newRig(t)
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
	b := newRig(t)
	b.fail(2)
	require.NoError(t, b.allowed().Release(t.Context()))
	require.Equal(t, "2", b.key("failures"))
	b.is(resilience.Closed)
}

func TestTripOpensAtOnceWithTheReason(t *testing.T) {
	b := newRig(t)
	require.NoError(t, b.allowed().Trip(t.Context(), "401 from the server"))
	require.Equal(t, "401 from the server", b.refused().Reason)
	b.pass(10 * time.Second)
	require.NoError(t, b.allowed().Trip(t.Context(), "still 401"))
	require.Equal(t, "still 401", b.refused().Reason)
}

func TestForcedOpenStaysOpenUntilReset(t *testing.T) {
	b := newRig(t)
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
