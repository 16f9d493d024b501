package resilience_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// halfOpen returns a breaker that gives its only probe to the next call.
func halfOpen(t *testing.T) *resilience.Breaker {
	t.Helper()
	cfg := resilience.DefaultBreakerConfig()
	cfg.FailureThreshold, cfg.RecoveryTimeout = 1, time.Second
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	permit, ok, err := b.Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, permit.Failure(t.Context(), "down"))
	time.Sleep(time.Second)
	return b
}

// TestPanicOfACallbackGivesTheProbeBack: what a user configured may panic like
// the function itself, and must not keep everybody out for a lease.
func TestPanicOfACallbackGivesTheProbeBack(t *testing.T) {
	boom := func() { panic("boom") }
	for name, cfg := range map[string]resilience.GuardConfig{
		"Classify": {Classify: func(error) resilience.Class { boom(); return resilience.Class{} }},
		"LimitsFor": {
			Classify: func(error) resilience.Class { return resilience.Class{} },
			Limiter: func() *resilience.Limiter {
				l, err := resilience.NewLimiter(resilience.LimiterConfig{
					Limits:    resilience.Limits{Requests: 1},
					LimitsFor: func(string) (resilience.Limits, bool) { boom(); return resilience.Limits{}, false },
				})
				require.NoError(t, err)
				return l
			}(),
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				cfg.Breaker = halfOpen(t)
				g, err := resilience.NewGuard(cfg)
				require.NoError(t, err)
				require.Panics(t, func() {
					_ = g.Do(t.Context(), resilience.Call{}, func(context.Context) (int64, error) { return 0, errors.New("failed") })
				})
				permit, ok, err := cfg.Breaker.Allow(t.Context())
				require.NoError(t, err)
				require.True(t, ok, "the probe is free again")
				require.True(t, permit.Probe())
			})
		})
	}
}

// TestCoolDownIsRecordedForACallerWhoHasGone: the server's word outlives the call
// that heard it.
func TestCoolDownIsRecordedForACallerWhoHasGone(t *testing.T) {
	l, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 10}})
	require.NoError(t, err)
	g, err := resilience.NewGuard(resilience.GuardConfig{Limiter: l, Classify: func(error) resilience.Class {
		return resilience.Class{Outcome: resilience.Neutral, Cool: true, RetryAfter: time.Hour}
	}})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	_ = g.Do(ctx, resilience.Call{Tenant: "acme"}, func(context.Context) (int64, error) {
		cancel()
		return 0, errors.New("429")
	})
	n, err := l.Remaining(t.Context(), "acme")
	require.NoError(t, err)
	require.Zero(t, n)
}
