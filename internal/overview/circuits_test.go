package overview

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Circuits are shown under the names that workers gave them, with how they end, and
// without those of worker check.
func TestCircuitsAreShownAsTheyAreCalled(t *testing.T) {
	w := newWorld(t)
	cache, err := natskv.Open(t.Context(), w.js, w.names.CircuitBucket())
	require.NoError(t, err)
	defer func() { require.NoError(t, cache.Close()) }()
	breaker := func(name string) *resilience.Breaker {
		config := resilience.DefaultBreakerConfig()
		config.Cache, config.Name, config.FailureThreshold, config.RecoveryTimeout = cache, name, 1, time.Minute
		b, err := resilience.NewBreaker(config)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, b.Close()) })
		return b
	}
	fail := func(b *resilience.Breaker) {
		permit, allowed, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.True(t, allowed)
		require.NoError(t, permit.Failure(t.Context(), "502"))
	}
	fail(breaker("gpu 1"))
	fail(breaker("gpu.2"))
	fail(breaker(wire.NewProbe()))
	require.NoError(t, breaker("gpu<img>").Force(t.Context(), "moved"))
	gone := breaker("misspelt")
	fail(gone)
	require.NoError(t, gone.Forget(t.Context()))

	fleet, err := w.reader(t).Read(t.Context())
	require.NoError(t, err)
	require.Len(t, fleet.Circuits, 3, "%+v", fleet.Circuits)
	for i, name := range []string{"gpu 1", "gpu.2"} {
		c := fleet.Circuits[i]
		require.Equal(t, []any{name, "open", false}, []any{c.Name, c.State, c.Forced})
		require.WithinDuration(t, time.Now().Add(time.Minute), *c.NextProbeAt, 10*time.Second)
		require.Equal(t, "next probe in 42s", c.Ends(c.NextProbeAt.Add(-42*time.Second)))
		require.Equal(t, "next probe with the next call", c.Ends(*c.NextProbeAt))
	}
	forced := fleet.Circuits[2]
	require.Equal(t, []any{"gpu<img>", "open", true, "moved"}, []any{forced.Name, forced.State, forced.Forced, forced.Reason})
	require.Nil(t, forced.NextProbeAt)
	require.Equal(t, "until it is reset", forced.Ends(fleet.At))
	require.Empty(t, Circuit{State: "open"}.Ends(fleet.At), "opened by hand")
}
