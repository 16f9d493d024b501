package resilience_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// R18 within one process: exactly the limit, however many ask at once.
func TestR18ConcurrentCallersOfOneProcess(t *testing.T) {
	eachCache(t, func(t *testing.T, newCache func(*stillClock) kvcache.HitWindow) {
		clock := newStillClock()
		l := newLimiter(t, clock, newCache(clock), resilience.Limits{Requests: 5, Window: time.Second})
		var admitted atomic.Int64
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(func() {
				if _, err := l.Acquire(context.Background(), "a", 0); err == nil {
					admitted.Add(1)
				}
			})
		}
		wg.Wait()
		require.EqualValues(t, 5, admitted.Load())
	})
}

// R21: instances that share a cache admit no more between them than one would.
func TestR21InstancesShareOneAllowance(t *testing.T) {
	shared := kvcache.NewMemory()
	defer func() { require.NoError(t, shared.Close()) }()
	const instances, limit = 8, 50
	var admitted atomic.Int64
	var all sync.WaitGroup
	for range instances {
		l, err := resilience.NewLimiter(resilience.LimiterConfig{
			Cache: shared, Limits: resilience.Limits{Requests: limit, Window: time.Hour}})
		require.NoError(t, err)
		for range 8 {
			all.Go(func() {
				for range limit {
					if _, err := l.Acquire(t.Context(), "acme", 0); err == nil {
						admitted.Add(1)
					}
				}
			})
		}
	}
	all.Wait()
	require.EqualValues(t, limit, admitted.Load(), "neither %d-fold nor too few", instances)
}
