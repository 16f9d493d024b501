package cachetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// brokenValues keep values, counters and their ttls wrongly.
func brokenValues() mistakes {
	return mistakes{
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
	}
}
