package resilience_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// TestRampAdmitsAGrowingShare: after recovery a tenth of the calls passes, then
// more, then all; refusals say when to come back, and nothing of it is left.
func TestRampAdmitsAGrowingShare(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := kvcache.NewMemory()
		draws := 0
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache, cfg.FailureThreshold, cfg.RecoveryTimeout, cfg.Ramp = cache, 1, time.Second, 10*time.Second
		cfg.Rand = func() float64 { draws++; return float64(draws%100) / 100 } // each hundredth once
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		admitted := func() (n int) {
			for range 100 {
				p, ok, err := b.Allow(t.Context())
				require.NoError(t, err)
				if ok {
					n++
					continue
				}
				require.Positive(t, p.Refusal().RetryAfter)
			}
			return n
		}
		require.Equal(t, 100, admitted(), "no ramp before a recovery")

		p, _, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.NoError(t, p.Failure(t.Context(), "down"))
		time.Sleep(time.Second)
		probe, ok, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.True(t, ok)
		require.NoError(t, probe.Success(t.Context()))

		require.Equal(t, 10, admitted())
		time.Sleep(5 * time.Second)
		require.Equal(t, 50, admitted())
		state, err := b.State(t.Context())
		require.NoError(t, err)
		require.Equal(t, resilience.Closed, state, "the circuit is closed all the while")
		time.Sleep(5 * time.Second)
		require.Equal(t, 100, admitted())
		_, there, err := cache.Get(t.Context(), "default.ramp")
		require.NoError(t, err)
		require.False(t, there)
	})
}

// TestNoRampByDefault: the key is neither written nor read.
func TestNoRampByDefault(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := kvcache.NewMemory()
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache, cfg.FailureThreshold, cfg.RecoveryTimeout = cache, 1, time.Second
		cfg.Rand = func() float64 { t.Error("nobody is drawn"); return 1 }
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		p, _, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.NoError(t, p.Failure(t.Context(), "down"))
		time.Sleep(time.Second)
		probe, _, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.NoError(t, probe.Success(t.Context()))
		_, there, err := cache.Get(t.Context(), "default.ramp")
		require.NoError(t, err)
		require.False(t, there)
		_, ok, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.True(t, ok)
	})
}
