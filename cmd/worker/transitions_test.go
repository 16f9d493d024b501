package main

import (
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Each of two workers logs every transition once, its own and the other's.
func TestEveryWorkerLogsEachTransitionOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := kvcache.NewMemory()
		var logs [2]process.Log
		var breakers [2]*resilience.Breaker
		for i := range breakers {
			circuit := newTransitions(slog.New(slog.NewTextHandler(&logs[i], nil)))
			config := resilience.DefaultBreakerConfig()
			config.Cache, config.OnChange = cache, circuit.hear
			var err error
			breakers[i], err = resilience.NewBreaker(config)
			require.NoError(t, err)
			defer circuit.follow(breakers[i])()
		}
		synctest.Wait()
		logged := func(want int) {
			t.Helper()
			synctest.Wait()
			for i := range logs {
				require.Equal(t, want, strings.Count(logs[i].String(), "circuit changed"), logs[i].String())
			}
		}
		require.NoError(t, breakers[0].Force(t.Context(), "maintenance"))
		logged(1)
		require.NoError(t, breakers[1].Reset(t.Context()))
		logged(2)
		require.NoError(t, breakers[1].Force(t.Context(), "more of it"))
		logged(3)
		for i := range logs {
			require.Contains(t, logs[i].String(), "maintenance")
			require.Contains(t, logs[i].String(), "more of it")
		}
	})
}
