package resilience_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Requests and tokens are admitted together or not at all, and the estimate is
// replaced by what was used.
func TestTokensWithRequests(t *testing.T) {
	ctx := context.Background()
	clock := newStillClock()
	l := newLimiter(t, clock, nil, resilience.Limits{Requests: 3, Tokens: 100, Window: 10 * time.Second})
	first := granted(t, l, "a", 60)
	clock.Advance(time.Second)
	require.Equal(t, 9*time.Second, refused(t, l, "a", 50), "tokens do not fit")
	granted(t, l, "a", 40) // the refusal took no request
	refused(t, l, "a", 1)
	require.NoError(t, first.Settle(ctx, 10))
	third := granted(t, l, "a", 50)
	clock.Advance(time.Second)
	require.Equal(t, 8*time.Second, refused(t, l, "a", 0), "requests do not fit")
	require.NoError(t, third.Settle(ctx, 500), "more than the estimate, more than the window")
	clock.Advance(8 * time.Second)
	require.Equal(t, 1*time.Second, refused(t, l, "a", 0))
	require.Equal(t, 1*time.Second, refused(t, l, "a", 1))
	clock.Advance(time.Second)
	granted(t, l, "a", 100)

	for _, tokens := range []int64{101, kvcache.MaxTokens + 1, math.MaxInt64} {
		_, err := l.Acquire(ctx, "a", tokens)
		var exceeds *resilience.RequestExceedsWindow
		require.ErrorAs(t, err, &exceeds)
		require.Equal(t, resilience.RequestExceedsWindow{Tokens: tokens, Limit: 100, Window: 10 * time.Second}, *exceeds)
	}
	_, err := l.Acquire(ctx, "a", -1)
	var config *resilience.ConfigError
	require.ErrorAs(t, err, &config)
	require.ErrorAs(t, third.Settle(ctx, -1), &config)
}

// A server's 429 slows everybody who shares the cache; it is never cut short.
func TestCoolReachesEverybody(t *testing.T) {
	ctx := context.Background()
	clock := newStillClock()
	cache := kvcache.NewMemory(kvcache.WithClock(clock.Now))
	one := newLimiter(t, clock, cache, resilience.Limits{Requests: 5})
	two := newLimiter(t, clock, cache, resilience.Limits{Requests: resilience.Unlimited})
	require.NoError(t, one.Cool(ctx, "a", 30*time.Second))
	require.NoError(t, one.Cool(ctx, "a", time.Second))
	require.NoError(t, one.Cool(ctx, "a", -time.Hour))
	require.Equal(t, 30*time.Second, refused(t, one, "a", 0))
	require.Equal(t, 30*time.Second, refused(t, two, "a", 0))
	granted(t, two, "b", 0)
	clock.Advance(30 * time.Second)
	granted(t, one, "a", 0)
	granted(t, two, "a", 0)
}

func TestCoolWithoutLedgerReachesThisLimiter(t *testing.T) {
	clock := newStillClock()
	l := newLimiter(t, clock, hitsOnly{kvcache.NewMemory()}, resilience.Limits{Requests: resilience.Unlimited})
	require.NoError(t, l.Cool(context.Background(), "a", 30*time.Second))
	require.NoError(t, l.Cool(context.Background(), "a", time.Second))
	require.Equal(t, 30*time.Second, refused(t, l, "a", 0))
	clock.Advance(30 * time.Second)
	granted(t, l, "a", 0)
}

func TestTheLastSettlementStands(t *testing.T) {
	clock := newStillClock()
	l := newLimiter(t, clock, nil, resilience.Limits{Requests: 10, Tokens: 100})
	grant, err := l.Acquire(t.Context(), "acme", 10)
	require.NoError(t, err)
	for _, used := range []int64{60, 10} {
		require.NoError(t, grant.Settle(t.Context(), used))
	}
	_, err = l.Acquire(t.Context(), "acme", 90)
	require.NoError(t, err, "10 are in use, not 60")
}

// An optional call leaves the last place of the window to one that cannot be done
// without, and keeps none for itself.
func TestOptionalCallsLeaveTheLastPlace(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		l := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 3, Window: 10 * time.Second})
		optional := resilience.AsOptional()
		for range 2 {
			_, err := l.Acquire(t.Context(), "a", 0, optional)
			require.NoError(t, err)
			clock.Advance(time.Second)
		}
		_, err := l.Acquire(t.Context(), "a", 0, optional)
		var limit *resilience.RateLimitExceeded
		require.ErrorAs(t, err, &limit)
		require.Zero(t, limit.RetryAfter, "there is a place, for somebody else")
		granted(t, l, "a", 0)
		require.Equal(t, 8*time.Second, refused(t, l, "a", 0, optional))
		require.Equal(t, 8*time.Second, refused(t, l, "a", 0), "the refusals have taken nothing")

		one := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 1})
		_, err = one.Acquire(t.Context(), "a", 0, optional)
		require.ErrorAs(t, err, &limit)
		free := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: resilience.Unlimited})
		_, err = free.Acquire(t.Context(), "a", 0, optional)
		require.NoError(t, err)
	})
}
