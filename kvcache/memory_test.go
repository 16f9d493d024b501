package kvcache_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

var (
	_ kvcache.Cache     = (*kvcache.Memory)(nil)
	_ kvcache.Versioned = (*kvcache.Memory)(nil)
)

// handClock is a clock that moves only when told to.
type handClock struct {
	mu  sync.Mutex
	now time.Time
}

func newHandClock() *handClock { return &handClock{now: time.Unix(1_700_000_000, 0)} }

func (c *handClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *handClock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

func TestMemoryLoadOfOneEntryAllocatesNothing(t *testing.T) {
	m := kvcache.NewMemory()
	ctx := context.Background()
	require.NoError(t, m.Set(ctx, "default.state", "closed", time.Hour))
	entries := []kvcache.Entry{{Key: "default.state"}}
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := m.Load(ctx, entries); err != nil || !entries[0].Present {
			t.Fatal("lost", err)
		}
	}))
	entries[0].Key = "never.written"
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if err := m.Load(ctx, entries); err != nil || entries[0].Present {
			t.Fatal("found", err)
		}
	}))
}

// A version that went back to an old value would let a Swap through that was
// computed before the key was written, deleted and forgotten.
func TestMemoryVersionsNeverGoBackEvenWhenForgotten(t *testing.T) {
	clock := newHandClock()
	m := kvcache.NewMemory(kvcache.WithClock(clock.Now))
	ctx := context.Background()
	stale := []kvcache.Entry{{Key: "k"}}
	require.NoError(t, m.Load(ctx, stale))

	require.NoError(t, m.Set(ctx, "k", "v", time.Second))
	clock.Advance(24 * time.Hour)
	for i := range 100 { // the writes of others sweep k away
		require.NoError(t, m.Set(ctx, fmt.Sprint("other", i), "v", time.Second))
		clock.Advance(2 * time.Hour)
	}
	swapped, err := m.Swap(ctx, []kvcache.Change{{Key: "k", Version: stale[0].Version, Value: "late"}})
	require.NoError(t, err)
	require.False(t, swapped)
}

// Forgetting the keys of one user must not move the versions that another one
// has loaded, or results in flight would count as outdated.
func TestMemoryForgettingOthersLeavesLoadedVersionsAlone(t *testing.T) {
	clock := newHandClock()
	m := kvcache.NewMemory(kvcache.WithClock(clock.Now))
	ctx := context.Background()
	loaded := []kvcache.Entry{{Key: "breaker.state"}}
	require.NoError(t, m.Load(ctx, loaded))
	for i := range 1000 {
		require.NoError(t, m.Set(ctx, fmt.Sprint("attempts", i), "1", time.Second))
		clock.Advance(time.Second)
	}
	swapped, err := m.Swap(ctx, []kvcache.Change{{Key: "breaker.state", Version: loaded[0].Version, Value: "open"}})
	require.NoError(t, err)
	require.True(t, swapped)
}

func TestMemoryHitsOfASkewedCallerStay(t *testing.T) {
	// R11: a read by a clock that runs ahead must not shorten the window of others.
	m := kvcache.NewMemory()
	ctx := context.Background()
	at := time.Unix(1_700_000_000, 0)
	require.NoError(t, m.RecordHit(ctx, "k", at, time.Minute))
	n, err := m.CountHits(ctx, "k", at.Add(time.Hour))
	require.NoError(t, err)
	require.Zero(t, n)
	n, err = m.CountHits(ctx, "k", at)
	require.NoError(t, err)
	require.Equal(t, 1, n)
}
