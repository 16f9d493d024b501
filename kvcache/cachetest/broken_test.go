package cachetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
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

// brokenCaches are caches with one plausible mistake each.
func brokenCaches() map[string]func(f *faulty, m *kvcache.Memory) {
	return map[string]func(f *faulty, m *kvcache.Memory){
		"missing key is an error": func(f *faulty, m *kvcache.Memory) {
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				v, ok, err := m.Get(ctx, key)
				if err == nil && !ok {
					err = errors.New("not found")
				}
				return v, ok, err
			}
		},
		"empty values are absent": func(f *faulty, m *kvcache.Memory) {
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				v, ok, err := m.Get(ctx, key)
				return v, ok && v != "", err
			}
		},
		"values are trimmed": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				return m.Set(ctx, key, strings.TrimSpace(value), ttl)
			}
		},
		"set does not replace": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				if _, ok, _ := m.Get(ctx, key); ok {
					return nil
				}
				return m.Set(ctx, key, value, ttl)
			}
		},
		"counters read back padded": func(f *faulty, m *kvcache.Memory) {
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				v, ok, err := m.Get(ctx, key)
				if n, bad := strconv.Atoi(v); bad == nil && n >= 0 {
					v = fmt.Sprintf("%08d", n)
				}
				return v, ok, err
			}
		},
		"counters and values are apart": func(f *faulty, m *kvcache.Memory) {
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				return m.Increment(ctx, "counter."+key, ttl)
			}
		},
		"increment resets what is no number": func(f *faulty, m *kvcache.Memory) {
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				n, err := m.Increment(ctx, key, ttl)
				if errors.Is(err, kvcache.ErrNotNumber) {
					return 1, m.Set(ctx, key, "1", ttl)
				}
				return n, err
			}
		},
		"increment by read and write loses counts": func(f *faulty, m *kvcache.Memory) {
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				v, ok, err := m.Get(ctx, key)
				if !ok || err != nil {
					return m.Increment(ctx, key, ttl)
				}
				n, err := kvcache.NextCount(v)
				if err != nil {
					return 0, err
				}
				time.Sleep(time.Microsecond) // makes the race likely, nothing depends on how long it is
				return n, m.Set(ctx, key, strconv.FormatInt(n, 10), time.Hour)
			}
		},
		"increment refreshes the ttl": func(f *faulty, m *kvcache.Memory) {
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				n, err := m.Increment(ctx, key, ttl)
				if err == nil {
					err = m.Set(ctx, key, strconv.FormatInt(n, 10), ttl)
				}
				return n, err
			}
		},
		"increment drops the ttl": func(f *faulty, m *kvcache.Memory) {
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				n, err := m.Increment(ctx, key, ttl)
				if err == nil && n > 1 {
					err = m.Set(ctx, key, strconv.FormatInt(n, 10), 0)
				}
				return n, err
			}
		},
		"a negative ttl is for ever": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				return m.Set(ctx, key, value, max(ttl, 0))
			}
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				return m.Increment(ctx, key, max(ttl, 0))
			}
		},
		"ttls are rounded up to seconds": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				return m.Set(ctx, key, value, (ttl + time.Second - 1).Truncate(time.Second))
			}
		},
		"ttls are cut to seconds": func(f *faulty, m *kvcache.Memory) {
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				return m.Increment(ctx, key, ttl.Truncate(time.Second))
			}
		},
		"set without a ttl keeps the old one": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				e := []kvcache.Entry{{Key: key}}
				if err := m.Load(ctx, e); err != nil || ttl != 0 {
					return errors.Join(err, m.Set(ctx, key, value, ttl))
				}
				_, err := m.Swap(ctx, []kvcache.Change{{Key: key, Version: e[0].Version, Value: value, TTL: kvcache.KeepTTL}})
				return err
			}
		},
		"set with a ttl keeps the old one": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				e := []kvcache.Entry{{Key: key}}
				if err := m.Load(ctx, e); err != nil || ttl <= 0 || !e[0].Present {
					return errors.Join(err, m.Set(ctx, key, value, ttl))
				}
				_, err := m.Swap(ctx, []kvcache.Change{{Key: key, Version: e[0].Version, Value: value, TTL: kvcache.KeepTTL}})
				return err
			}
		},
		"no ttl means one second": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				if ttl == 0 {
					ttl = time.Second
				}
				return m.Set(ctx, key, value, ttl)
			}
		},
		"long ttls overflow": func(f *faulty, m *kvcache.Memory) {
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				if err := m.Set(ctx, key, value, ttl); err != nil || ttl < 100*24*time.Hour {
					return err
				}
				return m.Delete(ctx, key)
			}
		},
		"an expired counter goes on": func(f *faulty, m *kvcache.Memory) {
			last := map[string]int64{}
			f.increment = func(ctx context.Context, key string, ttl time.Duration) (int64, error) {
				n, err := m.Increment(ctx, key, ttl)
				f.state.Lock()
				defer f.state.Unlock()
				if v, ok := last[key]; ok && n == 1 {
					n = v + 1
				}
				last[key] = n
				return n, err
			}
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				v, ok, err := m.Get(ctx, key)
				f.state.Lock()
				defer f.state.Unlock()
				if n, bad := strconv.ParseInt(v, 10, 64); bad == nil {
					last[key] = n
				}
				return v, ok, err
			}
		},
		"delete does nothing": func(f *faulty, _ *kvcache.Memory) {
			f.delete = func(context.Context, string) error { return nil }
		},
		"delete of a missing key fails": func(f *faulty, m *kvcache.Memory) {
			f.delete = func(ctx context.Context, key string) error {
				if _, ok, err := m.Get(ctx, key); !ok && err == nil {
					return errors.New("not found")
				}
				return m.Delete(ctx, key)
			}
		},
		"delete keeps the count": func(f *faulty, m *kvcache.Memory) {
			f.delete = func(ctx context.Context, key string) error {
				if v, ok, _ := m.Get(ctx, key); ok && v == "2" {
					return m.Set(ctx, key, "0", 0)
				}
				return m.Delete(ctx, key)
			}
		},
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
		"keys are folded": func(f *faulty, m *kvcache.Memory) {
			f.get = func(ctx context.Context, key string) (string, bool, error) {
				return m.Get(ctx, strings.ToLower(key))
			}
			f.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				return m.Set(ctx, strings.ToLower(key), value, ttl)
			}
			f.load = func(ctx context.Context, entries []kvcache.Entry) error {
				lower := make([]kvcache.Entry, len(entries))
				for i, e := range entries {
					lower[i].Key = strings.ToLower(e.Key)
				}
				err := m.Load(ctx, lower)
				for i := range entries {
					lower[i].Key, entries[i] = entries[i].Key, lower[i]
					entries[i].Key = lower[i].Key
				}
				return err
			}
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				lower := make([]kvcache.Change, len(changes))
				for i, c := range changes {
					lower[i] = c
					lower[i].Key = strings.ToLower(c.Key)
				}
				ok, err := m.Swap(ctx, lower)
				for i := range changes {
					changes[i].Version = lower[i].Version
				}
				return ok, err
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

		"load leaves absent entries as they were": func(f *faulty, m *kvcache.Memory) {
			f.load = func(ctx context.Context, entries []kvcache.Entry) error {
				fresh := append([]kvcache.Entry(nil), entries...)
				err := m.Load(ctx, fresh)
				for i := range fresh {
					if fresh[i].Present {
						entries[i] = fresh[i]
					}
				}
				return err
			}
		},
		"swap never succeeds": func(f *faulty, _ *kvcache.Memory) {
			f.swap = func(context.Context, []kvcache.Change) (bool, error) { return false, nil }
		},
		"swap compares nothing": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				return true, applyAll(ctx, m, changes)
			}
		},
		"swap checks first and writes later": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				for _, c := range changes {
					e := []kvcache.Entry{{Key: c.Key}}
					if err := m.Load(ctx, e); err != nil || e[0].Version != c.Version {
						return false, err
					}
				}
				time.Sleep(time.Microsecond) // makes the race likely, nothing depends on how long it is
				return true, applyAll(ctx, m, changes)
			}
		},
		"swap is one key after another": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				for i := range changes {
					if ok, err := m.Swap(ctx, changes[i:i+1]); !ok || err != nil {
						return false, err
					}
				}
				return true, nil
			}
		},
		"swap keeps the new versions to itself": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				return m.Swap(ctx, append([]kvcache.Change(nil), changes...))
			}
		},
		"swap skips deletes of absent keys": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				if len(changes) == 1 && changes[0].Delete {
					if _, ok, _ := m.Get(ctx, changes[0].Key); !ok {
						return true, nil
					}
				}
				return m.Swap(ctx, changes)
			}
		},
		"swap ignores the ttl": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				for i := range changes {
					changes[i].TTL = 0
				}
				return m.Swap(ctx, changes)
			}
		},
		"swap always keeps the ttl": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				for i := range changes {
					if changes[i].TTL == 0 {
						changes[i].TTL = kvcache.KeepTTL
					}
				}
				return m.Swap(ctx, changes)
			}
		},
		"a missing key has version 0 again": func(f *faulty, m *kvcache.Memory) {
			f.load = func(ctx context.Context, entries []kvcache.Entry) error {
				err := m.Load(ctx, entries)
				for i := range entries {
					if !entries[i].Present {
						entries[i].Version = 0
					}
				}
				return err
			}
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				fixed := append([]kvcache.Change(nil), changes...)
				for i, c := range fixed {
					e := []kvcache.Entry{{Key: c.Key}}
					if err := m.Load(ctx, e); err != nil {
						return false, err
					}
					if !e[0].Present && c.Version == 0 {
						fixed[i].Version = e[0].Version
					}
				}
				ok, err := m.Swap(ctx, fixed)
				for i := range changes {
					changes[i].Version = fixed[i].Version
				}
				return ok, err
			}
		},
		"expiry is no change": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				fixed := append([]kvcache.Change(nil), changes...)
				for i, c := range fixed {
					e := []kvcache.Entry{{Key: c.Key}}
					if err := m.Load(ctx, e); err != nil {
						return false, err
					}
					if e[0].Version == c.Version+1 {
						fixed[i].Version++
					}
				}
				ok, err := m.Swap(ctx, fixed)
				for i := range changes {
					changes[i].Version = fixed[i].Version
				}
				return ok, err
			}
		},
		"a swap compares values": func(f *faulty, m *kvcache.Memory) {
			u := kvcache.Unversioned(struct{ kvcache.Cache }{m})
			f.load, f.swap = u.Load, u.Swap
		},
		"a swapped delete clears the hits": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				ok, err := m.Swap(ctx, changes)
				for _, c := range changes {
					if ok && c.Delete {
						err = errors.Join(err, m.Delete(ctx, c.Key))
					}
				}
				return ok, err
			}
		},
		"KeepTTL keeps nothing": func(f *faulty, m *kvcache.Memory) {
			f.swap = func(ctx context.Context, changes []kvcache.Change) (bool, error) {
				for i := range changes {
					changes[i].TTL = max(changes[i].TTL, 0)
				}
				return m.Swap(ctx, changes)
			}
		},
	}
}

func applyAll(ctx context.Context, m *kvcache.Memory, changes []kvcache.Change) error {
	for _, c := range changes {
		if c.Delete {
			if err := m.Delete(ctx, c.Key); err != nil {
				return err
			}
		} else if err := m.Set(ctx, c.Key, c.Value, max(c.TTL, 0)); err != nil {
			return err
		}
	}
	return nil
}
