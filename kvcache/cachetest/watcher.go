package cachetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// RunWatcher checks the [kvcache.Watcher] capability, and skips if the cache does
// not have it.
func RunWatcher(t *testing.T, open Open) {
	t.Helper()
	probe := open(t)
	_, ok := probe.(kvcache.Watcher)
	if err := probe.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !ok {
		t.Skipf("%T does not offer kvcache.Watcher", probe)
	}
	runAll(t, open, watcherChecks(20*time.Second))
}

// watching is one Watch that runs in a goroutine of its own.
type watching struct {
	r        *rig
	patience time.Duration // before it is said that something is not told
	cancel   context.CancelFunc
	news     chan struct{} // holds one signal: something was told
	done     chan struct{}
	err      error // after done

	mu   sync.Mutex
	told []sight
}

// sight is an entry and when it was told.
type sight struct {
	kvcache.Entry
	at time.Time
}

// watch begins a watch. Every check has to stop what it has begun.
func (r *rig) watch(patience time.Duration, keys ...string) *watching {
	return r.watchAnd(patience, func(context.Context, kvcache.Entry) {}, keys...)
}

// watchAnd begins a watch that also does something with what it is told.
func (r *rig) watchAnd(patience time.Duration, do func(ctx context.Context, e kvcache.Entry), keys ...string) *watching {
	ctx, cancel := context.WithCancel(r.ctx)
	w := &watching{r: r, patience: patience, cancel: cancel, news: make(chan struct{}, 1), done: make(chan struct{})}
	go func() {
		defer close(w.done)
		w.err = r.cache.(kvcache.Watcher).Watch(ctx, keys, func(e kvcache.Entry) {
			w.hear(e)
			do(ctx, e)
		})
	}()
	return w
}

func (w *watching) hear(e kvcache.Entry) {
	w.mu.Lock()
	w.told = append(w.told, sight{e, time.Now()})
	w.mu.Unlock()
	select {
	case w.news <- struct{}{}:
	default:
	}
}

// since returns what was told of key after the first n tellings of anything.
func (w *watching) since(n int, key string) (of []sight) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.told[min(n, len(w.told)):] {
		if s.Key == key {
			of = append(of, s)
		}
	}
	return of
}

func (w *watching) count() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.told)
}

// comes waits until the last that was told of key is value, or nothing.
func (w *watching) comes(key, value string, present bool) sight {
	w.r.Helper()
	patience := time.NewTimer(w.patience)
	defer patience.Stop()
	for {
		of := w.since(0, key)
		if len(of) > 0 {
			if s := of[len(of)-1]; s.Present == present && s.Value == value {
				return s
			}
		}
		select {
		case <-w.news:
		case <-w.done:
			w.r.Fatalf("the watch ended: %v", w.err)
		case <-patience.C:
			w.cancel()
			w.r.Fatalf("of %s was told %+v, and not %s (present: %v)", quote(key), of, quote(value), present)
		}
	}
}

// ends waits for the end of the watch, which must have the given error.
func (w *watching) ends(want error) {
	w.r.Helper()
	select {
	case <-w.done:
	case <-time.After(w.patience):
		w.r.Fatalf("the watch does not end")
	}
	if !errors.Is(w.err, want) {
		w.r.Fatalf("the watch ended with %v, want %v", w.err, want)
	}
}

func (w *watching) stop() {
	w.r.Helper()
	w.cancel()
	w.ends(context.Canceled)
}

func watcherChecks(patience time.Duration) []check {
	return []check{
		{"Watcher: begins with what is there, and with what is not", func(r *rig) {
			r.set("k", "v", 0)
			r.set("empty", "", time.Hour)
			r.increment("n", 0)
			r.set("gone", "v", 0)
			r.delete("gone")
			w := r.watch(patience, "k", "missing", "empty", "n", "gone", "k")
			w.comes("k", "v", true)
			w.comes("missing", "", false)
			w.comes("empty", "", true)
			w.comes("n", "1", true)
			w.comes("gone", "", false)
			w.stop()
		}},
		{"Watcher: tells what is set, counted and deleted", func(r *rig) {
			w := r.watch(patience, "a", "b")
			w.comes("a", "", false)
			w.comes("b", "", false)
			r.set("a", "one", 0)
			w.comes("a", "one", true)
			r.increment("b", time.Hour)
			w.comes("b", "1", true)
			r.set("a", "two", time.Hour)
			w.comes("a", "two", true)
			r.increment("b", time.Hour)
			w.comes("b", "2", true)
			r.delete("a")
			w.comes("a", "", false)
			r.set("a", "", 0)
			w.comes("a", "", true)
			w.stop()
		}},
		{"Watcher: the newest of many changes is told", func(r *rig) {
			const callers, each = 4, 10
			one, two := r.watch(patience, "n"), r.watch(patience, "other", "n")
			inParallel(callers, func(int) {
				for range each {
					if _, err := r.cache.Increment(r.ctx, "n", 0); err != nil {
						r.Errorf("increment: %v", err)
					}
				}
			})
			one.comes("n", fmt.Sprint(callers*each), true)
			two.comes("n", fmt.Sprint(callers*each), true)
			one.stop()
			r.set("n", "last", 0)
			two.comes("n", "last", true)
			two.stop()
		}},
		{"Watcher: what expires is told, and not before its time", func(r *rig) {
			r.set("stays", "v", subSecond)
			r.set("stays", "v", 0)
			w := r.watch(patience, "k", "stays", "fence")
			w.comes("stays", "v", true)
			w.comes("k", "", false)
			written := r.write(fractional, func() { r.set("k", "v", fractional) })
			w.comes("k", "v", true)
			if r.advance == nil {
				if gone := w.comes("k", "", false); gone.at.Before(written.begin.Add(fractional)) {
					r.Fatalf("gone %v after the write, with a ttl of %v", gone.at.Sub(written.begin), fractional)
				}
			} else {
				r.advance(fractional - 1)
				r.set("fence", "v", 0)
				w.comes("fence", "v", true)
				w.comes("k", "v", true)
				r.advance(1)
				w.comes("k", "", false)
			}
			w.comes("stays", "v", true)
			w.stop()
		}},
		{"Watcher: a ttl is the last one that was set", func(r *rig) {
			w := r.watch(patience, "longer", "short")
			r.set("longer", "v", subSecond)
			w.comes("longer", "v", true)
			r.set("longer", "v", 0)
			r.set("short", "v", subSecond)
			w.comes("short", "v", true)
			if r.advance != nil {
				r.advance(subSecond)
			}
			w.comes("short", "", false)
			w.comes("longer", "v", true)
			w.stop()
		}},
		{"Watcher: tells of the keys asked for, whatever their letters, and of no other", func(r *rig) {
			asked := []string{"a.b", "a b", "größe", "*", ">", "A.B"}
			w := r.watch(patience, asked...)
			r.set("a", "v", 0)
			r.set("a.b.c", "v", 0)
			for _, key := range asked {
				r.set(key, "value of "+key, 0)
			}
			for _, key := range asked {
				w.comes(key, "value of "+key, true)
			}
			for _, key := range []string{"a", "a.b.c"} {
				if of := w.since(0, key); len(of) > 0 {
					r.Fatalf("was told of %s: %+v", quote(key), of)
				}
			}
			w.stop()
		}},
		{"Watcher: versions are those that load tells", func(r *rig) {
			if _, ok := r.cache.(kvcache.Versioned); !ok {
				return
			}
			r.set("k", "v", 0)
			w := r.watch(patience, "k")
			if s, e := w.comes("k", "v", true), r.load("k")[0]; s.Entry != e {
				r.Errorf("told %+v, load tells %+v", s.Entry, e)
			}
			e := r.load("k")[0]
			change := to(e, "w")
			change.TTL = time.Hour
			changes := r.swap(true, change)
			if s := w.comes("k", "w", true); s.Version != changes[0].Version {
				r.Errorf("told version %d, swap tells %d", s.Version, changes[0].Version)
			}
			r.swap(true, kvcache.Change{Key: "k", Version: changes[0].Version, Delete: true})
			w.comes("k", "", false)
			w.stop()
		}},
		{"Watcher: ends with its context, and tells nothing more", func(r *rig) {
			for _, keys := range [][]string{nil, {"k"}} {
				w := r.watch(patience, keys...)
				if keys != nil {
					w.comes("k", "", false)
				}
				w.stop()
				before := w.count()
				r.set("k", "v", 0)
				other := r.watch(patience, "k")
				other.comes("k", "v", true)
				other.stop()
				if after := w.since(before, "k"); len(after) > 0 {
					r.Errorf("told after its end: %+v", after)
				}
				r.delete("k")
			}
		}},
		{"Watcher: a context that has ended is told nothing", func(r *rig) {
			ctx, cancel := context.WithCancel(r.ctx)
			cancel()
			w := (&rig{T: r.T, cache: r.cache, ctx: ctx}).watch(patience, "k")
			w.ends(context.Canceled)
			if w.count() > 0 {
				r.Errorf("told %+v", w.since(0, "k"))
			}
		}},
		{"Watcher: who is told may use the cache, and end the watch", func(r *rig) {
			ctx, cancel := context.WithCancel(r.ctx)
			w := (&rig{T: r.T, cache: r.cache, ctx: ctx}).watchAnd(patience, func(ctx context.Context, e kvcache.Entry) {
				if e.Present {
					cancel()
				} else if err := r.cache.Set(ctx, "k", "v", 0); err != nil {
					r.Errorf("set: %v", err)
				}
			}, "k")
			w.ends(context.Canceled)
			if of := w.since(0, "k"); len(of) != 2 {
				r.Errorf("told %+v, want what was there and what was set", of)
			}
		}},
		{"Watcher: a closed cache says so", func(r *rig) {
			w, idle := r.watch(patience, "k"), r.watch(patience)
			w.comes("k", "", false)
			r.must(r.cache.Close(), "close")
			w.ends(kvcache.ErrClosed)
			idle.ends(kvcache.ErrClosed)
			r.watch(patience, "k").ends(kvcache.ErrClosed)
		}},
	}
}
