package cachetest

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// faulty is a Memory on a hand-moved clock, with operations that can be spoilt.
type faulty struct {
	*kvcache.Memory
	mu  sync.Mutex
	now time.Time

	state sync.Mutex // for what a mistake remembers

	get       func(ctx context.Context, key string) (string, bool, error)
	set       func(ctx context.Context, key, value string, ttl time.Duration) error
	increment func(ctx context.Context, key string, ttl time.Duration) (int64, error)
	delete    func(ctx context.Context, key string) error
	record    func(ctx context.Context, key string, at time.Time, ttl time.Duration) error
	count     func(ctx context.Context, key string, since time.Time) (int, error)
	oldest    func(ctx context.Context, key string, since time.Time) (time.Time, bool, error)
	load      func(ctx context.Context, entries []kvcache.Entry) error
	swap      func(ctx context.Context, changes []kvcache.Change) (bool, error)
	close     func() error
}

func newFaulty(spoil func(f *faulty, m *kvcache.Memory)) *faulty {
	f := &faulty{now: time.Unix(1_700_000_000, 0)}
	m := kvcache.NewMemory(kvcache.WithClock(f.Now))
	f.Memory = m
	f.get, f.set, f.increment, f.delete = m.Get, m.Set, m.Increment, m.Delete
	f.record, f.count, f.oldest = m.RecordHit, m.CountHits, m.OldestHit
	f.load, f.swap, f.close = m.Load, m.Swap, m.Close
	spoil(f, m)
	return f
}

func (f *faulty) Now() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.now
}

func (f *faulty) Advance(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = f.now.Add(d)
}

func (f *faulty) Get(ctx context.Context, key string) (string, bool, error) { return f.get(ctx, key) }
func (f *faulty) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	return f.set(ctx, key, value, ttl)
}
func (f *faulty) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	return f.increment(ctx, key, ttl)
}
func (f *faulty) Delete(ctx context.Context, key string) error { return f.delete(ctx, key) }
func (f *faulty) RecordHit(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
	return f.record(ctx, key, at, ttl)
}
func (f *faulty) CountHits(ctx context.Context, key string, since time.Time) (int, error) {
	return f.count(ctx, key, since)
}
func (f *faulty) OldestHit(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
	return f.oldest(ctx, key, since)
}
func (f *faulty) Load(ctx context.Context, entries []kvcache.Entry) error {
	return f.load(ctx, entries)
}
func (f *faulty) Swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	return f.swap(ctx, changes)
}
func (f *faulty) Close() error { return f.close() }

// mistakes spoil a faulty cache, by what is wrong with it then.
type mistakes map[string]func(f *faulty, m *kvcache.Memory)

// brokenCaches are caches with one plausible mistake each.
func brokenCaches() mistakes {
	all := mistakes{}
	for _, some := range []mistakes{brokenValues(), brokenHits(), brokenSwaps(), brokenLives()} {
		maps.Copy(all, some)
	}
	return all
}

// brokenLives close wrongly, or do not let their callers go.
func brokenLives() mistakes {
	return mistakes{
		"close closes only once": func(f *faulty, m *kvcache.Memory) {
			closed := false
			f.close = func() error {
				f.state.Lock()
				defer f.state.Unlock()
				if closed {
					return errors.New("already closed")
				}
				closed = true
				return m.Close()
			}
		},
		"a closed cache goes on": func(f *faulty, _ *kvcache.Memory) {
			f.close = func() error { return nil }
		},
		"closing fails others oddly": func(f *faulty, m *kvcache.Memory) {
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				v, ok, err := m.Get(ctx, key)
				if err != nil {
					err = errors.New("connection reset")
				}
				return v, ok, err
			}
			f.delete = func(context.Context, string) error { return errors.New("connection reset") }
		},
		"the context is ignored": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				return m.Set(context.WithoutCancel(ctx), key, value, ttl)
			}
		},
	}
}
