package cachetest_test

import (
	"sync"
	"testing"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/cachetest"
)

// R12: the in-memory cache passes the suite in its own time and by hand-moved
// clock.
func TestMemory(t *testing.T) {
	for name, open := range map[string]cachetest.Open{
		"real time":  func(*testing.T) kvcache.Cache { return kvcache.NewMemory() },
		"moved time": func(*testing.T) kvcache.Cache { return newMoved() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("Cache", func(t *testing.T) { t.Parallel(); cachetest.Run(t, open) })
			t.Run("Versioned", func(t *testing.T) { t.Parallel(); cachetest.RunVersioned(t, open) })
			t.Run("Watcher", func(t *testing.T) { t.Parallel(); cachetest.RunWatcher(t, open) })
		})
	}
}

// The emulation passes what it promises, over a cache that has no versions.
func TestUnversioned(t *testing.T) {
	t.Parallel()
	cachetest.RunEmulated(t, func(*testing.T) kvcache.Cache {
		m := kvcache.NewMemory()
		return struct {
			kvcache.Cache
			kvcache.Versioned
		}{m, kvcache.Unversioned(struct{ kvcache.Cache }{m})}
	})
}

// moved is a Memory whose clock the suite moves.
type moved struct {
	*kvcache.Memory
	mu  sync.Mutex
	now time.Time
}

func newMoved() *moved {
	m := &moved{now: time.Unix(1_700_000_000, 0)}
	m.Memory = kvcache.NewMemory(kvcache.WithClock(m.Now))
	return m
}

func (m *moved) Now() time.Time {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.now
}

func (m *moved) Advance(d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.now = m.now.Add(d)
}
