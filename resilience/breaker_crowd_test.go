package resilience_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// However many have waited for the recovery, no more are let through than may probe.
func TestR23NoCrowdIsLetThroughAtRecovery(t *testing.T) {
	for _, probes := range []int{1, 3} {
		b := newRig(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = probes })
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

// Failures that several instances record at the same time all count.
func TestNoFailureOfACrowdIsLost(t *testing.T) {
	b := newRig(t, func(c *resilience.BreakerConfig) { c.FailureThreshold = 1000 })
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

// Callers that lose against each other do not give up.
func TestACrowdThatSwapsComesThrough(t *testing.T) {
	b := newRig(t, func(c *resilience.BreakerConfig) { c.FailureThreshold = 1_000_000 })
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

// With a store that takes time to answer, so that everybody has read the same before
// anybody has written, whoever loses comes back at a moment of its own.
func TestWhoLosesComesBackAtAMomentOfItsOwn(t *testing.T) {
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

// A store that answers late, but answers, is told of every failure of a crowd.
func TestALateStoreCountsEveryFailure(t *testing.T) {
	for late, crowd := range map[time.Duration]int{100 * time.Millisecond: 16, 1900 * time.Millisecond: 3} {
		synctest.Test(t, func(t *testing.T) {
			cfg := resilience.DefaultBreakerConfig()
			cfg.Cache, cfg.FailureThreshold = &lateStore{Memory: kvcache.NewMemory(), takes: late}, crowd+1
			b, err := resilience.NewBreaker(cfg)
			require.NoError(t, err)
			g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Classify: classify})
			require.NoError(t, err)
			var all sync.WaitGroup
			for range crowd {
				all.Go(func() {
					_ = g.Do(t.Context(), aCall, func(context.Context) (int64, error) { return 0, errDown })
				})
			}
			all.Wait()
			s, err := b.Snapshot(t.Context())
			require.NoError(t, err)
			require.Equal(t, crowd, s.Failures)
		})
	}
}
