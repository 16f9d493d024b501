package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// R18: at most limit admissions in any span of the window, half open: the slot
// of an admission is free again exactly one window later and not earlier.
func TestR18AtMostLimitInAnySpan(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		l := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 7, Window: time.Second})
		var admitted []int64
		for step := range 4000 {
			clock.Advance(time.Duration(step*step%17) * time.Millisecond)
			if _, err := l.Acquire(context.Background(), "a", 1); err == nil {
				admitted = append(admitted, clock.now.Load())
			}
		}
		require.Greater(t, len(admitted), 150)
		for i := 7; i < len(admitted); i++ {
			require.GreaterOrEqual(t, admitted[i]-admitted[i-7], int64(time.Second))
		}
	})
}

func TestR18ConstructorNamesTheArgument(t *testing.T) {
	ok := resilience.Limits{Requests: 1}
	for _, tt := range []struct {
		argument string
		cfg      resilience.LimiterConfig
	}{
		{"Limits.Requests", resilience.LimiterConfig{}},
		{"Limits.Requests", resilience.LimiterConfig{Limits: resilience.Limits{Requests: -1}}},
		{"Limits.Window", resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1, Window: -1}}},
		{"Limits.Window", resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1, Window: math.MaxInt64}}},
		{"Limits.Tokens", resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1, Tokens: -1}}},
		{"Limits.Tokens", resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1, Tokens: 9},
			Cache: hitsOnly{kvcache.NewMemory()}}},
	} {
		_, err := resilience.NewLimiter(tt.cfg)
		var config *resilience.ConfigError
		require.ErrorAs(t, err, &config)
		require.Equal(t, tt.argument, config.Argument)
	}

	// Limits that change while running are checked when they are used.
	for argument, own := range map[string]resilience.Limits{
		"LimitsFor.Requests": {}, "LimitsFor.Tokens": {Requests: 1, Tokens: 1},
	} {
		l, err := resilience.NewLimiter(resilience.LimiterConfig{
			Limits: ok, Cache: hitsOnly{kvcache.NewMemory()},
			LimitsFor: func(string) (resilience.Limits, bool) { return own, true },
		})
		require.NoError(t, err)
		_, err = l.Acquire(context.Background(), "a", 0)
		var config *resilience.ConfigError
		require.ErrorAs(t, err, &config)
		require.Equal(t, argument, config.Argument)
		_, err = l.Remaining(context.Background(), "a")
		require.ErrorAs(t, err, &config)
	}
}

// R18: the window defaults to 60 s.
func TestR18WindowDefault(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		l := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 1})
		granted(t, l, "a", 0)
		require.Equal(t, time.Minute, refused(t, l, "a", 0))
	})
}

// R18: the prefix separates limiters that share a cache.
func TestR18PrefixSeparates(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		cache := newCache(clock)
		for _, prefix := range []string{"", "one.", "two."} {
			l, err := resilience.NewLimiter(resilience.LimiterConfig{
				Cache: cache, Prefix: prefix, Clock: clock.Now, Limits: resilience.Limits{Requests: 1}})
			require.NoError(t, err)
			granted(t, l, "a", 0)
			refused(t, l, "a", 0)
		}
	})
}

// R19: retry_after = oldest + window - now; a refusal records nothing, so asking
// does not lengthen it; sleeping exactly that long gets the slot.
func TestR19RetryAfterIsTruthful(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		l := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 2, Window: 10 * time.Second})
		granted(t, l, "a", 0)
		clock.Advance(3 * time.Second)
		granted(t, l, "a", 0)
		for range 100 {
			require.Equal(t, 7*time.Second, refused(t, l, "a", 0))
		}
		clock.Advance(7*time.Second - 1)
		require.Equal(t, time.Duration(1), refused(t, l, "a", 0))
		clock.Advance(1)
		granted(t, l, "a", 0)
		require.Equal(t, 3*time.Second, refused(t, l, "a", 0))
	})
}

// R19: a clock that steps back makes no room and the wait longer by as much, so that it
// stays true: whoever waits exactly that long gets the slot, and nobody before.
func TestR19ClockThatStepsBack(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		l := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 2, Window: 10 * time.Second})
		granted(t, l, "a", 0)
		granted(t, l, "a", 0)
		clock.Advance(-10 * time.Second)
		wait := refused(t, l, "a", 0)
		require.Equal(t, 20*time.Second, wait)
		clock.Advance(wait - 1)
		require.Equal(t, time.Duration(1), refused(t, l, "a", 0))
		clock.Advance(1)
		granted(t, l, "a", 0)
	})
}

// R19: the full window if the oldest hit vanished between count and question.
func TestR19FullWindowIfTheOldestVanished(t *testing.T) {
	clock := newStillClock()
	l := newLimiter(t, clock, vanishing{kvcache.NewMemory()}, resilience.Limits{Requests: 1, Window: 10 * time.Second})
	require.Equal(t, 10*time.Second, refused(t, l, "a", 0))
}

type vanishing struct{ kvcache.HitWindow }

func (vanishing) CountHits(context.Context, string, time.Time) (int, error) { return 1, nil }

// R19: many simultaneous refusals get an instant each, in the order in which
// they asked, and hear it again when they ask early.
func TestR19EachWaiterGetsItsOwnSlot(t *testing.T) {
	clock := newStillClock()
	l := newLimiter(t, clock, kvcache.NewMemory(kvcache.WithClock(clock.Now)), resilience.Limits{Requests: 3, Window: 3 * time.Second})
	for range 3 {
		granted(t, l, "a", 0)
		clock.Advance(500 * time.Millisecond)
	}
	start := clock.Now()
	var slots []time.Duration
	for i := range 12 {
		slots = append(slots, refused(t, l, "a", 0, resilience.WithWaiter(fmt.Sprint(i))))
	}
	for i, slot := range slots {
		require.Equal(t, time.Duration(i%3*500+1500+i/3*3000)*time.Millisecond, slot)
	}
	clock.Advance(100 * time.Millisecond)
	require.Equal(t, slots[5]-100*time.Millisecond, refused(t, l, "a", 0, resilience.WithWaiter("5")))
	// Nobody asked on behalf of the others, so without a name it is the first slot.
	require.Equal(t, slots[0]-100*time.Millisecond, refused(t, l, "a", 0))
	for i, slot := range slots {
		clock.Advance(start.Add(slot).Sub(clock.Now()))
		_, err := l.Acquire(context.Background(), "a", 0, resilience.WithWaiter(fmt.Sprint(i)))
		require.NoError(t, err, "waiter %d came at its slot", i)
	}
}

// R20: remaining is never negative, takes nothing, and is 0 in a cool-down.
func TestR20Remaining(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		limits := resilience.Limits{Requests: 3, Window: time.Second}
		l, err := resilience.NewLimiter(resilience.LimiterConfig{
			Cache: newCache(clock), Limits: limits, Clock: clock.Now,
			LimitsFor: func(string) (resilience.Limits, bool) { return limits, true },
		})
		require.NoError(t, err)
		remaining := func() int {
			n, err := l.Remaining(context.Background(), "a")
			require.NoError(t, err)
			return n
		}
		for want := 3; want > 0; want-- {
			for range 5 {
				require.Equal(t, want, remaining())
			}
			granted(t, l, "a", 0)
		}
		require.Zero(t, remaining())
		limits.Requests = 1 // lowered while running
		require.Zero(t, remaining())
		clock.Advance(time.Second)
		require.Equal(t, 1, remaining())
		require.NoError(t, l.Cool(context.Background(), "a", time.Minute))
		require.Zero(t, remaining())
		limits.Requests = resilience.Unlimited
		require.Zero(t, remaining())
		clock.Advance(time.Minute)
		require.Equal(t, math.MaxInt, remaining())
	})
}

// R21: two limiters on one cache share an allowance, on two caches they do not;
// exhausting one tenant leaves another untouched.
func TestR21WhoSharesWhat(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		cache, limits := newCache(clock), resilience.Limits{Requests: 2, Window: time.Second}
		one, two := newLimiter(t, clock, cache, limits), newLimiter(t, clock, cache, limits)
		apart := newLimiter(t, clock, newCache(clock), limits)
		granted(t, one, "a", 0)
		granted(t, two, "a", 0)
		refused(t, one, "a", 0)
		refused(t, two, "a", 0)
		granted(t, apart, "a", 0)
		granted(t, one, "b", 0)
		granted(t, two, "b", 0)
	})
	clock := newStillClock()
	own1 := newLimiter(t, clock, nil, resilience.Limits{Requests: 1})
	own2 := newLimiter(t, clock, nil, resilience.Limits{Requests: 1})
	granted(t, own1, "a", 0)
	granted(t, own2, "a", 0)
}

// A store's failure is a StoreError, the caller's own cancellation is not.
func TestLimiterStoreErrors(t *testing.T) {
	down := fmt.Errorf("%w: no servers", kvcache.ErrUnavailable)
	l := newLimiter(t, newStillClock(), failing{err: down}, resilience.Limits{Requests: 1})
	_, err := l.Acquire(context.Background(), "a", 0)
	var store *resilience.StoreError
	require.ErrorAs(t, err, &store)
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
	_, err = l.Remaining(context.Background(), "a")
	require.ErrorAs(t, err, &store)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	l = newLimiter(t, newStillClock(), nil, resilience.Limits{Requests: 1})
	_, err = l.Acquire(ctx, "a", 0)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, errors.As(err, &store))
}

type failing struct {
	kvcache.HitWindow
	err error
}

func (f failing) CountHits(context.Context, string, time.Time) (int, error) { return 0, f.err }

// R7: a cache that was handed in stays open, the limiter's own does not.
func TestR7LimiterClosesOnlyItsOwnCache(t *testing.T) {
	ctx := context.Background()
	cache := kvcache.NewMemory()
	l, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: cache, Limits: resilience.Limits{Requests: 1}})
	require.NoError(t, err)
	require.NoError(t, l.Close())
	require.NoError(t, l.Close())
	require.NoError(t, cache.Set(ctx, "k", "v", 0))

	own, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 1}})
	require.NoError(t, err)
	require.NoError(t, own.Close())
	require.NoError(t, own.Close())
	_, err = own.Acquire(ctx, "a", 0)
	require.ErrorIs(t, err, kvcache.ErrClosed)
}
