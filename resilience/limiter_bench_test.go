package resilience_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// stillClock moves only when told to.
type stillClock struct{ now atomic.Int64 }

func newStillClock() *stillClock {
	c := new(stillClock)
	c.now.Store(1_700_000_000_000_000_000)
	return c
}

func (c *stillClock) Now() time.Time { return time.Unix(0, c.now.Load()) }

func (c *stillClock) Advance(d time.Duration) { c.now.Add(int64(d)) }

// hitsOnly hides everything of a cache but its hit window, as a third party's
// adapter would have it.
type hitsOnly struct{ kvcache.HitWindow }

// eachCache runs a test over a cache with a ledger and over one without.
func eachCache(t *testing.T, test func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow)) {
	t.Run("ledger", func(t *testing.T) {
		test(t, func(c *stillClock) kvcache.HitWindow { return kvcache.NewMemory(kvcache.WithClock(c.Now)) })
	})
	t.Run("hits only", func(t *testing.T) {
		test(t, func(c *stillClock) kvcache.HitWindow {
			return hitsOnly{kvcache.NewMemory(kvcache.WithClock(c.Now))}
		})
	})
}

func newLimiter(t *testing.T, clock *stillClock, cache kvcache.HitWindow, limits resilience.Limits) *resilience.Limiter {
	t.Helper()
	l, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: cache, Limits: limits, Clock: clock.Now})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, l.Close()) })
	return l
}

// refused asserts a refusal and returns its wait.
func refused(t *testing.T, l *resilience.Limiter, tenant string, tokens int64, opts ...resilience.AcquireOption) time.Duration {
	t.Helper()
	_, err := l.Acquire(context.Background(), tenant, tokens, opts...)
	var limit *resilience.RateLimitExceeded
	require.ErrorAs(t, err, &limit)
	require.Equal(t, tenant, limit.Tenant)
	require.Positive(t, limit.RetryAfter)
	return limit.RetryAfter
}

func granted(t *testing.T, l *resilience.Limiter, tenant string, tokens int64) *resilience.Grant {
	t.Helper()
	grant, err := l.Acquire(context.Background(), tenant, tokens)
	require.NoError(t, err)
	return grant
}

func BenchmarkLimiterAcquire(b *testing.B) {
	l, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1 << 40, Window: time.Millisecond}})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.Acquire(context.Background(), "acme", 0, resilience.WithWaiter("chunk")); err != nil {
			b.Fatal(err)
		}
	}
}

// An admission in memory costs its grant and nothing else, waiter or not.
func TestLimiterAllocatesItsGrantOnly(t *testing.T) {
	l, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1 << 40}})
	require.NoError(t, err)
	require.LessOrEqual(t, testing.AllocsPerRun(1000, func() {
		if _, err := l.Acquire(context.Background(), "acme", 0, resilience.WithWaiter("chunk")); err != nil {
			t.Fatal(err)
		}
	}), 1.0)
}
