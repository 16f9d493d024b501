package cachetest

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// brokenHits keep hit series wrongly.
func brokenHits() mistakes {
	return mistakes{
		"delete leaves the hits": func(f *faulty, m *kvcache.Memory) {
			f.record = func(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
				return m.RecordHit(ctx, "hits of "+key, at, ttl)
			}
			f.count = func(ctx context.Context, key string, since time.Time) (int, error) {
				return m.CountHits(ctx, "hits of "+key, since)
			}
			f.oldest = func(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
				return m.OldestHit(ctx, "hits of "+key, since)
			}
		},
		"set clears the hits": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				if err := m.Delete(ctx, key); err != nil {
					return err
				}
				return m.Set(ctx, key, value, ttl)
			}
		},
		"a hit is a value": func(f *faulty, m *kvcache.Memory) {
			f.record = func(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
				return errors.Join(m.RecordHit(ctx, key, at, ttl), m.Set(ctx, key, at.String(), ttl))
			}
		},
		"all series are one": func(f *faulty, m *kvcache.Memory) {
			f.record = func(ctx context.Context, _ string, at time.Time, ttl time.Duration) error {
				return m.RecordHit(ctx, "all", at, ttl)
			}
			f.count = func(ctx context.Context, _ string, since time.Time) (int, error) {
				return m.CountHits(ctx, "all", since)
			}
		},
		"the boundary is exclusive": func(f *faulty, m *kvcache.Memory) {
			f.count = func(ctx context.Context, key string, since time.Time) (int, error) {
				return m.CountHits(ctx, key, since.Add(1))
			}
			f.oldest = func(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
				return m.OldestHit(ctx, key, since.Add(1))
			}
		},
		"hits are a set": func(f *faulty, m *kvcache.Memory) {
			f.record = func(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
				f.state.Lock()
				defer f.state.Unlock()
				if old, ok, _ := m.OldestHit(ctx, key, at); ok && old.Equal(at) {
					return nil
				}
				return m.RecordHit(ctx, key, at, ttl)
			}
		},
		"an empty series has an oldest hit": func(f *faulty, m *kvcache.Memory) {
			f.oldest = func(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
				at, _, err := m.OldestHit(ctx, key, since)
				return at, true, err
			}
		},
		"the oldest hit is the first that came": func(f *faulty, m *kvcache.Memory) {
			first := map[string]time.Time{}
			f.record = func(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
				f.state.Lock()
				defer f.state.Unlock()
				if _, ok := first[key]; !ok {
					first[key] = at
				}
				return m.RecordHit(ctx, key, at, ttl)
			}
			f.oldest = func(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
				at, ok, err := m.OldestHit(ctx, key, since)
				f.state.Lock()
				defer f.state.Unlock()
				if ok && !first[key].Before(since) {
					at = first[key]
				}
				return at, ok, err
			}
		},
		"hits are counted from the cache's own clock": func(f *faulty, m *kvcache.Memory) {
			f.record = func(ctx context.Context, key string, _ time.Time, ttl time.Duration) error {
				return m.RecordHit(ctx, key, f.Now(), ttl)
			}
		},
		"hits expire by the caller's instant": func(f *faulty, m *kvcache.Memory) {
			began := f.Now()
			f.count = func(ctx context.Context, key string, since time.Time) (int, error) {
				if f.Now().Sub(began) > 100*time.Millisecond && since.Before(f.Now().Add(-time.Hour)) {
					return 0, ctx.Err()
				}
				return m.CountHits(ctx, key, since)
			}
		},
		"the first hit's ttl is the series'": func(f *faulty, m *kvcache.Memory) {
			first := map[string]time.Duration{}
			f.record = func(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
				f.state.Lock()
				defer f.state.Unlock()
				if _, ok := first[key]; !ok {
					first[key] = ttl
				}
				return m.RecordHit(ctx, key, at, first[key])
			}
		},
		"hits go with the value": func(f *faulty, m *kvcache.Memory) {
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				v, ok, err := m.Get(ctx, key)
				if !ok && err == nil {
					err = m.Delete(ctx, key)
				}
				return v, ok, err
			}
		},
	}
}
