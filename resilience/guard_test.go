package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// R3: the guard knows these errors only through classify.
var (
	errDown  = errors.New("server down")
	errSlow  = errors.New("slow down")
	errKey   = errors.New("key refused")
	errBusy  = errors.New("down, come again later")
	errShape = errors.New("answer of the wrong shape")
)

func classify(err error) resilience.Class {
	switch {
	case errors.Is(err, errDown):
		return resilience.Class{Outcome: resilience.Failure, Retry: true, Reason: "down"}
	case errors.Is(err, errSlow):
		return resilience.Class{Outcome: resilience.Neutral, Cool: true, RetryAfter: 30 * time.Second}
	case errors.Is(err, errBusy):
		return resilience.Class{Outcome: resilience.Failure, Cool: true, RetryAfter: 30 * time.Second, Reason: "busy"}
	case errors.Is(err, errKey):
		return resilience.Class{Outcome: resilience.Trip, Reason: "key refused"}
	case errors.Is(err, errShape):
		return resilience.Class{Outcome: resilience.Success}
	}
	return resilience.Class{}
}

// guardRig is a guard with all its parts on one cache: 5 requests of 100
// tokens in all per minute, and the circuit of [rig].
type guardRig struct {
	*rig
	limiter *resilience.Limiter
	*resilience.Guard
	store *faultyStore
	calls int // of the guarded function
}

func newGuardRig(t *testing.T) *guardRig {
	g := &guardRig{rig: newRig(t)}
	g.store = &faultyStore{Memory: g.cache}
	g.Breaker = g.another(func(c *resilience.BreakerConfig) { c.Cache = g.store })
	var err error
	g.limiter, err = resilience.NewLimiter(resilience.LimiterConfig{
		Cache: g.store, Limits: resilience.Limits{Requests: 5, Tokens: 100}, Clock: g.clock,
	})
	require.NoError(t, err)
	policy := resilience.DefaultRetryPolicy()
	g.Guard, err = resilience.NewGuard(resilience.GuardConfig{
		Breaker: g.Breaker, Limiter: g.limiter, Retry: &policy, Classify: classify,
		RetryOptions: []resilience.RetryOption{resilience.WithSleep(noSleep)},
	})
	require.NoError(t, err)
	return g
}

var aCall = resilience.Call{Tenant: "acme", Operation: "extract", Tokens: 10}

// do makes a call whose attempts end with the errors, the last one repeated.
func (g *guardRig) do(errs ...error) error {
	return g.Do(g.t.Context(), aCall, func(context.Context) (int64, error) {
		g.calls++
		err := errs[0]
		if len(errs) > 1 {
			errs = errs[1:]
		}
		return 0, err
	})
}

func (g *guardRig) remaining() int {
	g.t.Helper()
	n, err := g.limiter.Remaining(g.t.Context(), "acme")
	require.NoError(g.t, err)
	return n
}

// R29 of docs/clauses.md.
func TestR29OneRecordAndOnePlacePerLogicalCall(t *testing.T) {
	g := newGuardRig(t)
	var exhausted *resilience.RetryExhausted
	require.ErrorAs(t, g.do(errDown), &exhausted)
	require.Equal(t, 4, g.calls)
	require.Equal(t, "1", g.key("failures"), "A21: exhausted retries are one failure")
	require.Equal(t, 4, g.remaining())

	require.NoError(t, g.do(errDown, errDown, nil))
	require.Empty(t, g.key("failures"), "success of a later attempt is a success")
	require.Equal(t, 3, g.remaining())
}

// R29 of docs/clauses.md.
func TestR29OpenCircuitUsesNoAllowance(t *testing.T) {
	g := newGuardRig(t)
	require.NoError(t, g.Force(t.Context(), "maintenance"))
	for range 20 {
		var open *resilience.CircuitOpen
		require.ErrorAs(t, g.do(nil), &open)
		require.Equal(t, "maintenance", open.Reason)
	}
	require.Zero(t, g.calls)
	require.Equal(t, 5, g.remaining())
}

// R29 of docs/clauses.md.
func TestR29RateRefusalGivesTheProbeBack(t *testing.T) {
	g := newGuardRig(t)
	g.due()
	require.NoError(t, g.limiter.Cool(t.Context(), "acme", time.Minute))
	for range 3 {
		var refused *resilience.RateLimitExceeded
		require.ErrorAs(t, g.do(nil), &refused)
		require.Equal(t, time.Minute, refused.RetryAfter)
	}
	g.is(resilience.HalfOpen)
	require.Zero(t, g.calls)
	require.True(t, g.allowed().Probe(), "the probe is free for another tenant")
}

// R29 of docs/clauses.md.
func TestR29RateRefusalRecordsNoOutcome(t *testing.T) {
	g := newGuardRig(t)
	require.Error(t, g.do(errDown))
	require.NoError(t, g.limiter.Cool(t.Context(), "acme", time.Minute))
	before := g.versions()
	require.Error(t, g.do(nil))
	require.Equal(t, before, g.versions())
}

func TestR30RefusalsAreToldApart(t *testing.T) {
	refusals := []error{
		&resilience.RateLimitExceeded{Tenant: "acme", RetryAfter: 3 * time.Second},
		&resilience.CircuitOpen{Circuit: "model", RetryAfter: 4 * time.Second, Reason: "down"},
		&resilience.RetryExhausted{Operation: "extract", Retries: 3, Attempts: 4, Err: errDown},
	}
	for i, err := range refusals {
		err = fmt.Errorf("chunk 7: %w", err)
		var rate *resilience.RateLimitExceeded
		var open *resilience.CircuitOpen
		var exhausted *resilience.RetryExhausted
		require.Equal(t, []bool{i == 0, i == 1, i == 2},
			[]bool{errors.As(err, &rate), errors.As(err, &open), errors.As(err, &exhausted)})

		var delayed resilience.Delayed
		require.ErrorAs(t, err, &delayed)
		delay, known := delayed.RetryDelay()
		require.Equal(t, []time.Duration{3 * time.Second, 4 * time.Second, 0}[i], delay)
		require.Equal(t, i < 2, known)
	}
	exhausted := &resilience.RetryExhausted{Err: errDown, RetryAfter: time.Second}
	delay, known := exhausted.RetryDelay()
	require.Equal(t, []any{time.Second, true}, []any{delay, known}, "the server said so")
	exhausted = &resilience.RetryExhausted{Err: fmt.Errorf("last: %w", refusals[0])}
	delay, known = exhausted.RetryDelay()
	require.True(t, known)
	require.Equal(t, 3*time.Second, delay)
	for _, hopeless := range []resilience.Delayed{
		&resilience.RequestExceedsWindow{Tokens: 2, Limit: 1}, &resilience.ConfigError{Argument: "a", Problem: "b"},
		&resilience.StoreError{Op: "op", Err: errDown},
	} {
		_, known := hopeless.RetryDelay()
		require.False(t, known)
		require.NotEmpty(t, hopeless.Error())
	}
}

// A call that goes well costs no allocation in breaker, limiter and
// retry together.
func TestGuardAllocatesNothingOnTheSuccessPath(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector allocates")
	}
	b, err := resilience.NewBreaker(resilience.DefaultBreakerConfig())
	require.NoError(t, err)
	l, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1_000_000}})
	require.NoError(t, err)
	policy := resilience.DefaultRetryPolicy()
	g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Limiter: l, Retry: &policy, Classify: classify})
	require.NoError(t, err)
	call := func() {
		if g.Do(context.Background(), resilience.Call{Tenant: "acme"}, func(context.Context) (int64, error) { return 0, nil }) != nil {
			t.Fatal("refused")
		}
	}
	require.Zero(t, testing.AllocsPerRun(1000, call))
}

// TestGuardRenewsATinyLeaseWithPauses: a lease of nanoseconds is renewed a thousand
// times in a second, not as fast as the processor can.
func TestGuardRenewsATinyLeaseWithPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &faultyStore{Memory: kvcache.NewMemory()}
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache, cfg.FailureThreshold, cfg.RecoveryTimeout, cfg.ProbeLease = store, 1, time.Second, 1
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Classify: classify})
		require.NoError(t, err)
		do := func(fn func() error) error {
			return g.Do(t.Context(), resilience.Call{}, func(context.Context) (int64, error) { return 0, fn() })
		}
		require.ErrorIs(t, do(func() error { return errDown }), errDown)
		time.Sleep(time.Second)
		before := store.loads
		require.NoError(t, do(func() error { time.Sleep(time.Second); return nil }))
		require.Less(t, store.loads-before, 3000)
	})
}

func TestGuardSettlesWhatWasUsed(t *testing.T) {
	g := newGuardRig(t)
	used := func(tokens ...int64) error {
		return g.Do(t.Context(), aCall, func(context.Context) (int64, error) {
			n := tokens[0]
			if tokens = tokens[1:]; len(tokens) > 0 {
				return n, errDown
			}
			return n, nil
		})
	}
	left := func(tokens int64) bool {
		grant, err := g.limiter.Acquire(t.Context(), "acme", tokens)
		if err == nil {
			require.NoError(t, grant.Settle(t.Context(), 0))
		}
		return err == nil
	}
	require.NoError(t, used(0)) // not known: the estimate of 10 stands
	require.False(t, left(91))
	require.NoError(t, used(30, 30)) // two attempts, both used tokens
	require.False(t, left(31))
	require.True(t, left(30))
}

func TestRequestExceedsWindowAtOnce(t *testing.T) {
	g := newGuardRig(t)
	err := g.Do(t.Context(), resilience.Call{Tenant: "acme", Tokens: 101}, func(context.Context) (int64, error) { panic("called") })
	var too *resilience.RequestExceedsWindow
	require.ErrorAs(t, err, &too)
	require.Equal(t, resilience.RequestExceedsWindow{Tokens: 101, Limit: 100, Window: resilience.DefaultWindow}, *too)
}

func TestGuardKeepsTheLeaseOfALongProbe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache, cfg.ProbeLease = kvcache.NewMemory(), 6*time.Second
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Classify: classify})
		require.NoError(t, err)
		require.Same(t, errKey, g.Do(t.Context(), aCall, func(context.Context) (int64, error) { return 0, errKey }))
		time.Sleep(cfg.RecoveryTimeout)
		require.NoError(t, g.Do(t.Context(), aCall, func(ctx context.Context) (int64, error) {
			for range 100 { // many leases long
				time.Sleep(time.Second)
				_, ok, err := b.Allow(ctx)
				require.NoError(t, err)
				require.False(t, ok)
			}
			return 0, nil
		}))
		s, err := b.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, resilience.Closed, s)
		synctest.Wait() // nothing is left running, or the bubble would not end
	})
}

func TestGuardOfParts(t *testing.T) {
	_, err := resilience.NewGuard(resilience.GuardConfig{})
	requireConfigError(t, err, "Classify")
	bad := resilience.RetryPolicy{MaxRetries: -1, Multiplier: 1}
	_, err = resilience.NewGuard(resilience.GuardConfig{Classify: classify, Retry: &bad})
	requireConfigError(t, err, "MaxRetries")

	g, err := resilience.NewGuard(resilience.GuardConfig{Classify: classify})
	require.NoError(t, err)
	for _, want := range []error{nil, errDown, errSlow, errKey} {
		require.Equal(t, want, g.Do(t.Context(), aCall, func(context.Context) (int64, error) { return 1, want }))
	}
}
