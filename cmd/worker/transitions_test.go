package main

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Each of two workers logs every transition once, its own and the other's.
func TestEveryWorkerLogsEachTransitionOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cache := kvcache.NewMemory()
		var logs [2]lockedBuffer
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

type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.String()
}
