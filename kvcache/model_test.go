package kvcache_test

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// model is the port written down as plainly as possible: nothing is swept, and
// a key's changes are counted.
type model struct {
	now  time.Time
	keys map[string]*modelKey
}

type modelKey struct {
	value    string
	present  bool
	deadline time.Time // zero: none
	changes  int
	hits     []time.Time // none ends within a run
}

func (m *model) key(name string) *modelKey {
	k := m.keys[name]
	if k == nil {
		k = &modelKey{}
		m.keys[name] = k
	}
	if k.present && !k.deadline.IsZero() && !m.now.Before(k.deadline) {
		k.clear()
	}
	return k
}

func (k *modelKey) clear() {
	k.value, k.present, k.deadline = "", false, time.Time{}
	k.changes++
}

func (k *modelKey) write(value string, deadline time.Time) {
	k.value, k.present, k.deadline = value, true, deadline
	k.changes++
}

func (m *model) deadline(ttl time.Duration) time.Time {
	if ttl == 0 {
		return time.Time{}
	}
	return m.now.Add(ttl)
}

// R8, R9, R10 and Versioned: whatever is done in whatever order, the cache
// answers as the model does.
func TestMemoryBehavesLikeThePort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clock := newHandClock()
		began := clock.Now()
		cache := kvcache.NewMemory(kvcache.WithClock(clock.Now))
		m := &model{now: began, keys: map[string]*modelKey{}}
		ctx := context.Background()
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		ttls := rapid.SampledFrom([]time.Duration{0, time.Millisecond, 700 * time.Millisecond, time.Second, time.Minute})
		instants := rapid.Custom(func(t *rapid.T) time.Time {
			return began.Add(time.Duration(rapid.IntRange(-5, 5).Draw(t, "at")) * time.Second)
		})
		type read struct {
			kvcache.Entry
			changes int
		}
		var reads []read

		t.Repeat(map[string]func(*rapid.T){
			"pass": func(t *rapid.T) {
				d := rapid.SampledFrom([]time.Duration{time.Millisecond, time.Second, time.Minute}).Draw(t, "time")
				clock.Advance(d)
				m.now = m.now.Add(d)
			},
			"set": func(t *rapid.T) {
				name, value, ttl := names.Draw(t, "key"), rapid.SampledFrom([]string{"", "x", "41", "-1"}).Draw(t, "value"), ttls.Draw(t, "ttl")
				require.NoError(t, cache.Set(ctx, name, value, ttl))
				m.key(name).write(value, m.deadline(ttl))
			},
			"increment": func(t *rapid.T) {
				name, ttl := names.Draw(t, "key"), ttls.Draw(t, "ttl")
				n, err := cache.Increment(ctx, name, ttl)
				k := m.key(name)
				want, bad := strconv.ParseInt(k.value, 10, 64)
				switch {
				case !k.present:
					k.write("1", m.deadline(ttl))
				case bad != nil:
					require.ErrorIs(t, err, kvcache.ErrNotNumber)
					return
				default:
					k.write(strconv.FormatInt(want+1, 10), k.deadline)
				}
				require.NoError(t, err)
				require.Equal(t, k.value, strconv.FormatInt(n, 10))
			},
			"delete": func(t *rapid.T) {
				name := names.Draw(t, "key")
				require.NoError(t, cache.Delete(ctx, name))
				if k := m.key(name); k.present {
					k.clear()
				}
				m.key(name).hits = nil
			},
			"hit": func(t *rapid.T) {
				name, at := names.Draw(t, "key"), instants.Draw(t, "instant")
				require.NoError(t, cache.RecordHit(ctx, name, at, 1000*time.Hour))
				m.key(name).hits = append(m.key(name).hits, at)
			},
			"load": func(t *rapid.T) {
				e := []kvcache.Entry{{Key: names.Draw(t, "key")}}
				require.NoError(t, cache.Load(ctx, e))
				reads = append(reads, read{e[0], m.key(e[0].Key).changes})
			},
			"swap": func(t *rapid.T) {
				if len(reads) == 0 {
					t.Skip("nothing read yet")
				}
				var changes []kvcache.Change
				want := true
				for _, r := range rapid.Permutation(reads).Draw(t, "reads")[:rapid.IntRange(1, min(3, len(reads))).Draw(t, "n")] {
					if slices.ContainsFunc(changes, func(c kvcache.Change) bool { return c.Key == r.Key }) {
						continue
					}
					changes = append(changes, kvcache.Change{
						Key: r.Key, Version: r.Version, Value: "swapped", Delete: rapid.Bool().Draw(t, "delete"),
						TTL: rapid.SampledFrom([]time.Duration{0, kvcache.KeepTTL, time.Second}).Draw(t, "ttl"),
					})
					want = want && m.key(r.Key).changes == r.changes
				}
				swapped, err := cache.Swap(ctx, changes)
				require.NoError(t, err)
				require.Equal(t, want, swapped)
				for _, c := range changes {
					k := m.key(c.Key)
					switch {
					case !swapped:
					case c.Delete:
						k.clear()
					case c.TTL == kvcache.KeepTTL:
						k.write(c.Value, k.deadline)
					default:
						k.write(c.Value, m.deadline(c.TTL))
					}
					if swapped {
						reads = append(reads, read{kvcache.Entry{Key: c.Key, Version: c.Version}, k.changes})
					}
				}
			},
			"": func(t *rapid.T) {
				since := instants.Draw(t, "since")
				for _, name := range []string{"a", "b", "c"} {
					k := m.key(name)
					value, ok, err := cache.Get(ctx, name)
					require.NoError(t, err)
					require.Equal(t, k.present, ok)
					require.Equal(t, k.value, value)
					count := 0
					var oldest time.Time
					for _, at := range k.hits {
						if !at.Before(since) {
							count++
							if oldest.IsZero() || at.Before(oldest) {
								oldest = at
							}
						}
					}
					n, err := cache.CountHits(ctx, name, since)
					require.NoError(t, err)
					require.Equal(t, count, n)
					at, ok, err := cache.OldestHit(ctx, name, since)
					require.NoError(t, err)
					require.Equal(t, count > 0, ok)
					require.True(t, at.Equal(oldest))
				}
			},
		})
	})
}
