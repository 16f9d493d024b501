package cachetest

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// brokenSwaps read and change several keys wrongly.
func brokenSwaps() mistakes {
	return mistakes{
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
			f.swap = forgiving(m, func(stands kvcache.Entry, asked uint64) bool { return !stands.Present && asked == 0 })
		},
		"expiry is no change": func(f *faulty, m *kvcache.Memory) {
			f.swap = forgiving(m, func(stands kvcache.Entry, asked uint64) bool { return stands.Version == asked+1 })
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

// forgiving is a swap that takes the versions that are not those which stand, if they
// will do.
func forgiving(m *kvcache.Memory, willDo func(stands kvcache.Entry, asked uint64) bool) func(context.Context, []kvcache.Change) (bool, error) {
	return func(ctx context.Context, changes []kvcache.Change) (bool, error) {
		fixed := append([]kvcache.Change(nil), changes...)
		for i, c := range fixed {
			e := []kvcache.Entry{{Key: c.Key}}
			if err := m.Load(ctx, e); err != nil {
				return false, err
			}
			if willDo(e[0], c.Version) {
				fixed[i].Version = e[0].Version
			}
		}
		ok, err := m.Swap(ctx, fixed)
		for i := range changes {
			changes[i].Version = fixed[i].Version
		}
		return ok, err
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
