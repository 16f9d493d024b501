package resilience_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Every transition is told to whoever watches, whichever breaker makes it, under
// the name that its maker has for it too.
func TestWatchTellsTransitionsOfOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := kvcache.NewMemory()
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache, cfg.RecoveryTimeout = cache, time.Minute
		watching, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		var made, told []resilience.Change
		cfg.OnChange = func(c resilience.Change) { made = append(made, c) }
		other, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)

		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- watching.Watch(ctx, func(c resilience.Change) { told = append(told, c) }) }()
		synctest.Wait()
		require.Empty(t, told, "how the circuit stood is no transition")

		p, _, err := other.Allow(ctx)
		require.NoError(t, err)
		require.NoError(t, p.Failure(ctx, "counted"))
		synctest.Wait()
		require.Empty(t, told, "a failure is no transition")
		require.NoError(t, p.Trip(ctx, "no answer"))
		synctest.Wait()
		time.Sleep(cfg.RecoveryTimeout)
		probe, ok, err := other.Allow(ctx)
		require.NoError(t, err)
		require.True(t, ok)
		synctest.Wait()
		require.NoError(t, probe.Success(ctx))
		synctest.Wait()
		require.NoError(t, other.Force(ctx, "maintenance"))
		synctest.Wait()
		require.NoError(t, other.Force(ctx, "longer"))
		synctest.Wait()
		require.Equal(t, made, told)
		require.Len(t, told, 5)
		require.Equal(t, "no answer", told[0].Reason)
		require.Equal(t, resilience.Open, told[4].From, "opened again is a transition")

		// An operator, by hand.
		require.NoError(t, cache.Delete(ctx, "default.state"))
		synctest.Wait()
		require.Equal(t, resilience.Closed, told[5].To)

		cancel()
		require.Same(t, context.Canceled, <-done)
	})
}

// Whoever overwrites a state with what is none closes the circuit, or changes nothing.
func TestWatchSaysWhatAStateThatIsNoneDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := kvcache.NewMemory()
		cfg := resilience.DefaultBreakerConfig()
		cfg.Cache = cache
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		var told []string
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			done <- b.Watch(ctx, func(c resilience.Change) { told = append(told, string(c.From+" -> "+c.To)+": "+c.Reason) })
		}()
		synctest.Wait()
		store := func(state string) {
			require.NoError(t, cache.Set(ctx, "default.state", state, 0))
			synctest.Wait()
		}
		store("garbage")
		store("more of it")
		require.Empty(t, told, "it was closed, and is")
		require.NoError(t, b.Force(ctx, "maintenance"))
		synctest.Wait()
		store("opne")
		require.Equal(t, []string{"closed -> open: maintenance", `open -> closed: somebody has stored "opne", which is no state`}, told)
		cancel()
		require.ErrorIs(t, <-done, context.Canceled)
	})
}

func TestWatchNeedsACacheThatTells(t *testing.T) {
	cfg := resilience.DefaultBreakerConfig()
	cfg.Cache = struct{ kvcache.KeyValue }{kvcache.NewMemory()}
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	require.ErrorIs(t, b.Watch(t.Context(), nil), resilience.ErrUnwatchable)

	cfg.Cache = nil // a cache of its own can be watched
	b, err = resilience.NewBreaker(cfg)
	require.NoError(t, err)
	require.NoError(t, b.Close())
	err = b.Watch(t.Context(), func(resilience.Change) {})
	var store *resilience.StoreError
	require.ErrorAs(t, err, &store)
	require.ErrorIs(t, err, kvcache.ErrClosed)
}
