package resilience_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// R19: requests and tokens are the same before and after a refusal of either.
func TestR19RefusalsTakeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shared := kvcache.NewMemory()
		l, err := resilience.NewLimiter(resilience.LimiterConfig{
			Cache: shared, Limits: resilience.Limits{Requests: 3, Tokens: 100, Window: time.Minute}})
		require.NoError(t, err)
		standing := func() kvcache.Standing {
			s, err := shared.Peek(t.Context(), "acme", kvcache.Quota{Window: time.Minute, Requests: 3, Tokens: 100})
			require.NoError(t, err)
			return s
		}
		_, err = l.Acquire(t.Context(), "acme", 90)
		require.NoError(t, err)
		before := standing()
		for range 10 {
			_, err = l.Acquire(t.Context(), "acme", 20)
			require.Error(t, err, "tokens are missing")
		}
		_, err = l.Acquire(t.Context(), "acme", 101)
		require.Error(t, err, "larger than the window")
		require.Equal(t, before, standing())
		for range 2 {
			_, err = l.Acquire(t.Context(), "acme", 1)
			require.NoError(t, err)
		}
		before = standing()
		_, err = l.Acquire(t.Context(), "acme", 1)
		require.Error(t, err, "requests are missing")
		require.Equal(t, before, standing())
	})
}

// R19: who alone waits for as long as it was told is admitted, and never told to wait
// for nothing, or for what could never be.
func TestR19WhoWaitsAsToldIsAdmitted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, err := resilience.NewLimiter(resilience.LimiterConfig{
			Limits: resilience.Limits{Requests: 5, Tokens: 100, Window: 10 * time.Second}})
		require.NoError(t, err)
		begin := time.Now()
		for granted := 0; granted < 40; {
			_, err := l.Acquire(t.Context(), "acme", int64(5+granted%30))
			var refused *resilience.RateLimitExceeded
			if !errors.As(err, &refused) {
				require.NoError(t, err)
				granted++
				continue
			}
			require.Positive(t, refused.RetryAfter)
			require.LessOrEqual(t, refused.RetryAfter, 10*time.Second)
			time.Sleep(refused.RetryAfter)
			_, err = l.Acquire(t.Context(), "acme", int64(5+granted%30))
			require.NoError(t, err, "the only caller waited exactly as long as it was told")
			granted++
		}
		require.Less(t, time.Since(begin), 40*10*time.Second)

		_, err = l.Acquire(t.Context(), "acme", 101)
		var never *resilience.RequestExceedsWindow
		require.ErrorAs(t, err, &never, "no wait would help, and it says so at once")
	})
}
