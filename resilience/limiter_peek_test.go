package resilience_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// R20 with the time to wait: what is asked ahead agrees with what is then refused.
func TestPeekSaysWhenToAskAgain(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	l, err := resilience.NewLimiter(resilience.LimiterConfig{
		Limits: resilience.Limits{Requests: 2, Window: 10 * time.Second, Tokens: 100},
		LimitsFor: func(tenant string) (resilience.Limits, bool) {
			return resilience.Limits{Requests: resilience.Unlimited}, tenant == "free"
		},
		Clock: func() time.Time { return now },
	})
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	peek := func(tenant string) (int, time.Duration) {
		n, wait, err := l.Peek(t.Context(), tenant)
		require.NoError(t, err)
		again, err := l.Remaining(t.Context(), tenant)
		require.NoError(t, err)
		require.Equal(t, n, again)
		return n, wait
	}
	take := func(tokens int64) {
		_, err := l.Acquire(t.Context(), "acme", tokens)
		require.NoError(t, err)
	}

	n, wait := peek("acme")
	require.Equal(t, 2, n)
	require.Zero(t, wait)
	take(10)
	now = now.Add(4 * time.Second)
	take(10)
	n, wait = peek("acme")
	require.Zero(t, n)
	require.Equal(t, 6*time.Second, wait)
	var refused *resilience.RateLimitExceeded
	_, err = l.Acquire(t.Context(), "acme", 1)
	require.ErrorAs(t, err, &refused)
	require.Equal(t, wait, refused.RetryAfter)

	now = now.Add(wait)
	take(90)
	n, _ = peek("acme")
	require.Zero(t, n)

	require.False(t, l.Unlimited("acme"))
	require.True(t, l.Unlimited("free"))
	n, _ = peek("free")
	require.Equal(t, math.MaxInt, n)
	require.NoError(t, l.Cool(t.Context(), "free", 3*time.Second))
	n, wait = peek("free")
	require.Zero(t, n)
	require.Equal(t, 3*time.Second, wait)
}
