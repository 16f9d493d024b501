package resilience_test

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// R13 of docs/clauses.md.
func TestR13DefaultPolicyAndDelays(t *testing.T) {
	p := resilience.DefaultRetryPolicy()
	require.Equal(t, resilience.RetryPolicy{
		MaxRetries: 3, InitialDelay: time.Second, Multiplier: 2, MaxDelay: time.Minute, Jitter: 0.1,
	}, p)
	for n, want := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60, 60} {
		require.Equal(t, want*time.Second, p.Delay(n, 0.5), "retry %d", n)
	}
	// The cap applies to the base, jitter comes on top of it, to either side.
	require.Equal(t, 54*time.Second, p.Delay(100, 0))
	require.InDelta(t, float64(66*time.Second), float64(p.Delay(100, 1-1e-12)), float64(time.Millisecond))
	require.InDelta(t, float64(900*time.Millisecond), float64(p.Delay(0, 0)), 1)
	require.Equal(t, time.Second, p.Delay(-1, 0.5))
}

func TestA19TransportPolicy(t *testing.T) {
	require.Equal(t, resilience.RetryPolicy{
		MaxRetries: 2, InitialDelay: time.Second, Multiplier: 2, MaxDelay: time.Minute, Jitter: 0.2,
	}, resilience.TransportRetryPolicy())
	calls := 0
	err := newRetry(t, resilience.TransportRetryPolicy(), noSleep).Do(t.Context(), "op",
		func(context.Context) error { calls++; return errFlaky })
	require.Error(t, err)
	require.Equal(t, 3, calls, "attempts are total, including the first")
}

func TestR14PolicyValidation(t *testing.T) {
	for _, tc := range []struct {
		argument string
		change   func(*resilience.RetryPolicy)
	}{
		{"MaxRetries", func(p *resilience.RetryPolicy) { p.MaxRetries = -1 }},
		{"InitialDelay", func(p *resilience.RetryPolicy) { p.InitialDelay = -1 }},
		{"MaxDelay", func(p *resilience.RetryPolicy) { p.MaxDelay = -1 }},
		{"Multiplier", func(p *resilience.RetryPolicy) { p.Multiplier = 0.99 }},
		{"Multiplier", func(p *resilience.RetryPolicy) { p.Multiplier = math.NaN() }},
		{"Multiplier", func(p *resilience.RetryPolicy) { p.Multiplier = math.Inf(1) }},
		{"Jitter", func(p *resilience.RetryPolicy) { p.Jitter = -0.01 }},
		{"Jitter", func(p *resilience.RetryPolicy) { p.Jitter = 1.01 }},
		{"Jitter", func(p *resilience.RetryPolicy) { p.Jitter = math.NaN() }},
	} {
		p := resilience.DefaultRetryPolicy()
		tc.change(&p)
		_, err := resilience.NewRetry(p, isFlaky)
		requireConfigError(t, err, tc.argument)
	}
	_, err := resilience.NewRetry(resilience.DefaultRetryPolicy(), nil)
	requireConfigError(t, err, "retryable")
	_, err = resilience.NewRetry(resilience.DefaultRetryPolicy(), isFlaky, resilience.WithSleep(nil))
	requireConfigError(t, err, "WithSleep")
	_, err = resilience.NewRetry(resilience.DefaultRetryPolicy(), isFlaky, resilience.WithRand(nil))
	requireConfigError(t, err, "WithRand")
	_, err = resilience.NewRetry(resilience.DefaultRetryPolicy(), isFlaky, resilience.WithClock(nil))
	requireConfigError(t, err, "WithClock")
	_, err = resilience.NewRetry(resilience.DefaultRetryPolicy(), isFlaky, resilience.WithRetryAfter(nil))
	requireConfigError(t, err, "WithRetryAfter")

	legal := resilience.RetryPolicy{Multiplier: 1}
	require.NoError(t, legal.Validate())
}

// R14: whatever the policy and however large the attempt, a delay is a number
// between 0 and the cap with its jitter.
func TestR14DelayNeverLeavesItsRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		duration := rapid.OneOf(
			rapid.Int64Range(0, math.MaxInt64), rapid.Int64Range(0, int64(time.Hour)), rapid.Just(int64(0)))
		p := resilience.RetryPolicy{
			InitialDelay: time.Duration(duration.Draw(t, "initial")),
			Multiplier:   rapid.OneOf(rapid.Float64Range(1, 10), rapid.Float64Range(1, math.MaxFloat64)).Draw(t, "multiplier"),
			MaxDelay:     time.Duration(duration.Draw(t, "max")),
			Jitter:       rapid.Float64Range(0, 1).Draw(t, "jitter"),
		}
		require.NoError(t, p.Validate())
		n := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, math.MaxInt)).Draw(t, "n")
		u := rapid.Float64Range(0, math.Nextafter(1, 0)).Draw(t, "u")

		d := p.Delay(n, u)
		top := float64(p.MaxDelay) * (1 + p.Jitter)
		require.GreaterOrEqual(t, d, time.Duration(0))
		require.LessOrEqual(t, float64(d), top*(1+1e-12))
		if p.Jitter == 0 {
			require.LessOrEqual(t, d, p.MaxDelay)
			require.LessOrEqual(t, p.Delay(n, 0), p.Delay(min(n, math.MaxInt-1)+1, 0), "delays never shrink")
		}
	})
}

// R14: nothing overflows where a policy or an attempt is as large as can be.
func TestR14NoDelayOverflows(t *testing.T) {
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
