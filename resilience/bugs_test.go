package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Bugs that other retries, limiters and breakers have had, each tried on ours.
// Those of limiters are in limiter_bugs_test.go.

// 1: a prober that dies leaves the circuit half-open for ever.
func TestBug01DeadProber(t *testing.T) {
	b := newBench(t)
	b.due()
	b.allowed() // its caller is never heard of again
	b.refused()
	b.pass(b.cfg.ProbeLease)
	p := b.allowed()
	for range 10 {
		b.refused() // exactly one new probe
	}
	require.NoError(t, p.Success(t.Context()))
	b.is(resilience.Closed)
}

// 2: at the moment of recovery everybody who waited is let through.
func TestBug02StampedeAtRecovery(t *testing.T) {
	for _, probes := range []int{1, 3} {
		b := newBench(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = probes })
		for range 20 {
			b.due()
			admitted := stampede(t, 32, func() *resilience.Breaker { return b.another() })
			require.Len(t, admitted, probes)
			require.NoError(t, admitted[0].Success(t.Context()))
		}
	}
}

// stampede lets n callers, each with a breaker of its own, ask at the same time
// and returns the permits that were given.
func stampede(t *testing.T, n int, breaker func() *resilience.Breaker) []resilience.Permit {
	var (
		barrier  = make(chan struct{})
		mu       sync.Mutex
		admitted []resilience.Permit
		all      sync.WaitGroup
	)
	for range n {
		b := breaker()
		all.Go(func() {
			<-barrier
			p, ok, err := b.Allow(context.Background())
			if err != nil {
				t.Error(err)
			}
			if ok {
				mu.Lock()
				admitted = append(admitted, p)
				mu.Unlock()
			}
		})
	}
	close(barrier)
	all.Wait()
	return admitted
}

// 3: failures that several instances record at the same time get lost.
func TestBug03LostUpdates(t *testing.T) {
	b := newBench(t, func(c *resilience.BreakerConfig) { c.FailureThreshold = 1000 })
	var all sync.WaitGroup
	for range 4 {
		instance := b.another()
		for range 10 {
			all.Go(func() {
				p, _, err := instance.Allow(context.Background())
				if err == nil {
					err = p.Failure(context.Background(), "down")
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	all.Wait()
	require.Equal(t, "40", b.key("failures"))
}

// 5: a counter whose time to live starts again with each use never expires.
func TestBug05CounterThatNeverExpires(t *testing.T) {
	b := newBench(t)
	for range 100 { // one failure every 6s, remembered for 10s: never three
		b.fail(1)
		b.pass(6 * time.Second)
	}
	b.is(resilience.Closed)
}

// 6: a call that is cancelled half-way keeps what it holds.
func TestBug06ProbeLeakedOnCancel(t *testing.T) {
	g := newGuardBench(t)
	g.due()
	for i := range 50 {
		ctx, cancel := context.WithCancel(t.Context())
		err := g.Do(ctx, resilience.Call{Tenant: fmt.Sprint("tenant", i)}, func(ctx context.Context) (int64, error) {
			cancel() // in the middle of its stream
			return 0, ctx.Err()
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, "0", g.key("half_open_calls"))
	}
	g.is(resilience.HalfOpen)
}

// 8: Retry-After is ignored, misread, jittered below, or waited for past the
// deadline.
func TestBug08RetryAfterMisread(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"2": 2 * time.Second, "0.5": 500 * time.Millisecond, "Fri, 02 Jan 2026 03:04:35 GMT": 30 * time.Second,
		"1e9": 0, "-5": 0, "soon": 0, "999999999999999999999999": resilience.MaxRetryAfter,
	} {
		wait, _ := resilience.ParseRetryAfter(http.Header{"Retry-After": {header}}, now)
		require.Equal(t, want, wait, header)
	}
	wait, _ := resilience.ParseRetryAfter(http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"1"}}, now)
	require.Equal(t, 1500*time.Millisecond, wait)

	synctest.Test(t, func(t *testing.T) {
		r, err := resilience.NewRetry(resilience.DefaultRetryPolicy(), isFlaky,
			resilience.WithRetryAfter(func(error) time.Duration { return 20 * time.Second }))
		require.NoError(t, err)
		var last time.Time
		err = r.Do(t.Context(), "op", func(context.Context) error {
			if !last.IsZero() {
				require.GreaterOrEqual(t, time.Since(last), 20*time.Second)
			}
			last = time.Now()
			return errFlaky
		})
		require.Error(t, err)

		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		require.Same(t, errFlaky, r.Do(ctx, "op", func(context.Context) error { return errFlaky }))
		require.Zero(t, time.Since(start), "what cannot fit is given up at once")
	})
}

// 9: the delay overflows, or the cap does not hold.
func TestBug09BackoffOverflow(t *testing.T) {
	for _, p := range []resilience.RetryPolicy{
		resilience.DefaultRetryPolicy(),
		{InitialDelay: math.MaxInt64, Multiplier: math.MaxFloat64, MaxDelay: math.MaxInt64, Jitter: 1},
		{InitialDelay: 0, Multiplier: math.MaxFloat64, MaxDelay: math.MaxInt64, Jitter: 1},
		{InitialDelay: 1, Multiplier: 1.0000001, MaxDelay: time.Hour},
	} {
		require.NoError(t, p.Validate())
		for n := range 10_000 {
			for _, u := range []float64{0, 0.5, 1 - 1e-16} {
				d := p.Delay(n, u)
				require.GreaterOrEqual(t, d, time.Duration(0), "%+v retry %d", p, n)
				require.LessOrEqual(t, float64(d), float64(p.MaxDelay)*(1+p.Jitter)*(1+1e-12), "%+v retry %d", p, n)
			}
		}
		require.GreaterOrEqual(t, p.Delay(math.MaxInt, 0.5), time.Duration(0))
	}
}

// 10: the wait between attempts cannot be cancelled.
func TestBug10BackoffIgnoresCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := resilience.DefaultRetryPolicy()
		p.InitialDelay = time.Minute
		r, err := resilience.NewRetry(p, isFlaky)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		start := time.Now()
		require.ErrorIs(t, r.Do(ctx, "op", func(context.Context) error { return errFlaky }), context.Canceled)
		require.Equal(t, time.Second, time.Since(start))
	})
}

// 11: a rate limit is counted as a failure of the server; a used-up quota is
// taken for a rate limit.
func TestBug11RateLimitOpensTheCircuit(t *testing.T) {
	g := newGuardBench(t)
	g.due()
	for i := range 100 {
		call := resilience.Call{Tenant: fmt.Sprint("tenant", i)}
		require.Same(t, errSlow, g.Do(t.Context(), call, func(context.Context) (int64, error) { return 0, errSlow }))
		var cooling *resilience.RateLimitExceeded
		require.ErrorAs(t, g.Do(t.Context(), call, func(context.Context) (int64, error) { panic("called") }), &cooling)
		require.Equal(t, 30*time.Second, cooling.RetryAfter)
		require.Equal(t, "0", g.key("half_open_calls"), "the probe was given back")
	}
	g.is(resilience.HalfOpen)
	require.Empty(t, g.key("failures"))

	require.Same(t, errKey, g.do(errKey)) // no quota, wrong key: waiting does not help
	g.is(resilience.Open)
}

// 13: callers that lose against each other give up.
func TestBug13SwapsExhaustedUnderContention(t *testing.T) {
	b := newBench(t, func(c *resilience.BreakerConfig) { c.FailureThreshold = 1_000_000 })
	var all sync.WaitGroup
	var failed atomic.Int64
	for range 64 {
		all.Go(func() {
			for range 50 {
				p, ok, err := b.Allow(context.Background())
				if err != nil || !ok || p.Failure(context.Background(), "down") != nil {
					failed.Add(1)
				}
			}
		})
	}
	all.Wait()
	require.Zero(t, failed.Load())
	require.Equal(t, "3200", b.key("failures"))
}

// 13: and with a store that takes time to answer, so that everybody has read the same
// before anybody has written, whoever loses comes back at a moment of its own.
func TestBug13EverybodyLosesToSomebody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const callers = 100
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache, cfg.FailureThreshold = &lateStore{Memory: kvcache.NewMemory(), takes: time.Millisecond}, 1_000_000
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		var all sync.WaitGroup
		for range callers {
			all.Go(func() {
				p, _, err := b.Allow(t.Context())
				require.NoError(t, err)
				require.NoError(t, p.Failure(t.Context(), "down"))
			})
		}
		all.Wait()
		s, err := b.Snapshot(t.Context())
		require.NoError(t, err)
		require.Equal(t, callers, s.Failures)
	})
}

// 14: a stream is begun again after part of it has been delivered. A guarded
// call decides that for itself: an error that is not to be retried is not.
func TestBug14ReplayAfterTheFirstChunk(t *testing.T) {
	errBroken := errors.New("stream broken off")
	delivered := 0
	policy := resilience.DefaultRetryPolicy()
	breaker := newBench(t)
	g, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker.Breaker, Retry: &policy,
		RetryOptions: []resilience.RetryOption{resilience.WithSleep(noSleep)},
		Classify: func(error) resilience.Class {
			return resilience.Class{Outcome: resilience.Failure, Retry: delivered == 0}
		},
	})
	require.NoError(t, err)
	attempts := 0
	err = g.Do(t.Context(), aCall, func(context.Context) (int64, error) {
		if attempts++; attempts > 1 {
			delivered++ // the second attempt gets as far as the first chunk
		}
		return 0, errBroken
	})
	require.Same(t, errBroken, err)
	require.Equal(t, 2, attempts)
	require.Equal(t, 1, delivered)
	require.Equal(t, "1", breaker.key("failures"))

	// And an error that says so itself is not, whatever the classification thinks of it.
	delivered, attempts = 0, 0
	err = g.Do(t.Context(), aCall, func(context.Context) (int64, error) {
		attempts++
		return 0, fmt.Errorf("after output: %w", permanentError{errBroken})
	})
	require.ErrorIs(t, err, permanentError{errBroken})
	require.Equal(t, 1, attempts)
}

// 15: a store that hiccups looks like a model that failed, or the reverse.
func TestBug15StoreHiccupIsNoModelFailure(t *testing.T) {
	g := newGuardBench(t)
	answer := errors.New("the model's own error")
	for _, want := range []error{nil, answer, errShape, errKey} {
		// The line breaks while the model works: its answer stands.
		got := g.Do(t.Context(), resilience.Call{Tenant: fmt.Sprint(want)}, func(context.Context) (int64, error) {
			g.store.fault = notApplied
			return 5, want
		})
		require.Equal(t, want, got)
		g.store.fault = none
	}
	// The line is broken before: the model is not asked, and the error says why.
	g.store.fault = notApplied
	err := g.Do(t.Context(), aCall, func(context.Context) (int64, error) { panic("called") })
	var store *resilience.StoreError
	require.ErrorAs(t, err, &store)
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
	g.store.fault = none
	g.is(resilience.Closed)
}
