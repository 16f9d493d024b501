package cachetest

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// blind is a faulty cache whose watch can be spoilt too.
type blind struct {
	*faulty
	watch watchFunc
}

type watchFunc func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error

func (b *blind) Watch(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
	return b.watch(ctx, keys, changed)
}

func newBlind(spoil func(b *blind, sound watchFunc) watchFunc) *blind {
	f := newFaulty(func(*faulty, *kvcache.Memory) {})
	b := &blind{faulty: f}
	b.watch = spoil(b, f.Memory.Watch)
	return b
}

// telling spoils what is told: each returns what to tell instead.
func telling(each func() func(e kvcache.Entry) []kvcache.Entry) func(*blind, watchFunc) watchFunc {
	return func(_ *blind, sound watchFunc) watchFunc {
		return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
			instead := each()
			return sound(ctx, keys, func(e kvcache.Entry) {
				for _, e := range instead(e) {
					changed(e)
				}
			})
		}
	}
}

// unless tells what spoilt does not hold for.
func unless(spoilt func(e kvcache.Entry) bool) func(*blind, watchFunc) watchFunc {
	return telling(func() func(kvcache.Entry) []kvcache.Entry {
		return func(e kvcache.Entry) []kvcache.Entry {
			if spoilt(e) {
				return nil
			}
			return []kvcache.Entry{e}
		}
	})
}

// blindWatchers are watchers with one plausible mistake each.
func blindWatchers() map[string]func(b *blind, sound watchFunc) watchFunc {
	return map[string]func(b *blind, sound watchFunc) watchFunc{
		"what is not there is not told": unless(func(e kvcache.Entry) bool { return !e.Present && e.Version == 0 }),
		"what goes is not told":         unless(func(e kvcache.Entry) bool { return !e.Present && e.Version > 0 }),
		"expiry is not told":            unless(func(e kvcache.Entry) bool { return e.Version%2 == 1 }),
		"empty values are not told":     unless(func(e kvcache.Entry) bool { return e.Present && e.Value == "" }),
		"what was there is not told": telling(func() func(kvcache.Entry) []kvcache.Entry {
			first := map[string]bool{}
			return func(e kvcache.Entry) []kvcache.Entry {
				if !first[e.Key] && e.Present {
					first[e.Key] = true
					return nil
				}
				first[e.Key] = true
				return []kvcache.Entry{e}
			}
		}),
		"each value is told one change late": telling(func() func(kvcache.Entry) []kvcache.Entry {
			last := map[string]kvcache.Entry{}
			return func(e kvcache.Entry) []kvcache.Entry {
				before, ok := last[e.Key]
				last[e.Key] = e
				if !ok {
					before = e
				}
				return []kvcache.Entry{before}
			}
		}),
		"one watch at a time": func(_ *blind, sound watchFunc) watchFunc {
			var mu sync.Mutex
			stop := func() {}
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				mu.Lock()
				stop()
				deaf, cancel := context.WithCancel(ctx)
				stop = cancel
				mu.Unlock()
				err := sound(deaf, keys, changed)
				if deaf.Err() != nil {
					<-ctx.Done()
				}
				return err
			}
		},
		"keys without case": telling(func() func(kvcache.Entry) []kvcache.Entry {
			return func(e kvcache.Entry) []kvcache.Entry { e.Key = strings.ToLower(e.Key); return []kvcache.Entry{e} }
		}),
		"all keys below": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				for _, key := range keys {
					keys = append(keys, key+".c")
				}
				return sound(ctx, keys, changed)
			}
		},
		"versions of its own": telling(func() func(kvcache.Entry) []kvcache.Entry {
			return func(e kvcache.Entry) []kvcache.Entry { e.Version += 10; return []kvcache.Entry{e} }
		}),
		"expiry is told too early": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				return sound(ctx, keys, func(e kvcache.Entry) {
					changed(e)
					if e.Key == "fence" && e.Present {
						changed(kvcache.Entry{Key: "k"})
					}
				})
			}
		},
		"the first ttl counts": telling(func() func(kvcache.Entry) []kvcache.Entry {
			return func(e kvcache.Entry) []kvcache.Entry {
				if e.Key == "short" && e.Version%2 == 1 {
					return []kvcache.Entry{e, {Key: "longer"}}
				}
				return []kvcache.Entry{e}
			}
		}),
		"only at its beginning": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				told := map[string]bool{}
				return sound(ctx, keys, func(e kvcache.Entry) {
					if !told[e.Key] {
						told[e.Key] = true
						changed(e)
					}
				})
			}
		},
		"deaf to cancellation": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				return sound(context.WithoutCancel(ctx), keys, changed)
			}
		},
		"goes on telling": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				go func() { _ = sound(context.WithoutCancel(ctx), keys, changed) }()
				<-ctx.Done()
				return ctx.Err()
			}
		},
		"its end is no error": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				_ = sound(ctx, keys, changed)
				return nil
			}
		},
		"closing is not noticed": func(_ *blind, sound watchFunc) watchFunc {
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				err := sound(ctx, keys, changed)
				<-ctx.Done()
				if err == kvcache.ErrClosed {
					err = ctx.Err()
				}
				return err
			}
		},
		"nothing can be set while something is told": func(b *blind, sound watchFunc) watchFunc {
			set, free := b.faulty.set, make(chan struct{}, 1)
			b.faulty.set = func(ctx context.Context, key, value string, ttl time.Duration) error {
				select {
				case free <- struct{}{}:
					defer func() { <-free }()
					return set(ctx, key, value, ttl)
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return func(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
				return sound(ctx, keys, func(e kvcache.Entry) {
					free <- struct{}{}
					defer func() { <-free }()
					changed(e)
				})
			}
		},
	}
}

// judgePatience is how long a broken watcher is waited for.
const judgePatience = 100 * time.Millisecond

// R12: every broken watcher must be caught, every check must catch one, and a
// sound watcher must pass every check.
func TestEveryWatcherCheckBites(t *testing.T) {
	var mu sync.Mutex
	caught := map[string]bool{}
	var judging sync.WaitGroup
	for name, spoil := range blindWatchers() {
		judging.Go(func() {
			for _, c := range watcherChecks(judgePatience) {
				cache := newBlind(spoil)
				failures := judge(t, c, cache)
				_ = cache.Close() // ends what the check has left running
				if len(failures) > 0 {
					mu.Lock()
					caught[c.name], caught[name] = true, true
					mu.Unlock()
				}
			}
		})
	}
	judging.Wait()
	for name := range blindWatchers() {
		require.True(t, caught[name], "a watcher in which %q passes the suite", name)
	}
	sound := func(_ *blind, watch watchFunc) watchFunc { return watch }
	for _, c := range watcherChecks(20 * time.Second) {
		require.True(t, caught[c.name], "no broken watcher fails %q", c.name)
		require.Empty(t, judge(t, c, newBlind(sound)), c.name)
	}
}
