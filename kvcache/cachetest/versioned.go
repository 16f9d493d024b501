package cachetest

import (
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// RunVersioned checks the [kvcache.Versioned] capability, and skips if the cache
// does not have it.
func RunVersioned(t *testing.T, open Open) {
	runCapable(t, open, append(swapChecks(), besideChecks()...))
}

// RunEmulated checks the part of [kvcache.Versioned] that an emulation like
// [kvcache.Unversioned] keeps: everything but writes that go around it.
func RunEmulated(t *testing.T, open Open) { runCapable(t, open, swapChecks()) }

func runCapable(t *testing.T, open Open, checks []check) {
	t.Helper()
	probe := open(t)
	_, ok := probe.(kvcache.Versioned)
	if err := probe.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !ok {
		t.Skipf("%T does not offer kvcache.Versioned", probe)
	}
	runAll(t, open, checks)
}

func (r *rig) versioned() kvcache.Versioned { return r.cache.(kvcache.Versioned) }

func (r *rig) load(keys ...string) []kvcache.Entry {
	r.Helper()
	entries := make([]kvcache.Entry, len(keys))
	for i, key := range keys {
		// What was there before must be overwritten.
		entries[i] = kvcache.Entry{Key: key, Value: "stale", Present: true, Version: 1 << 60}
	}
	r.must(r.versioned().Load(r.ctx, entries), "load")
	for _, e := range entries {
		if !e.Present && e.Value != "" {
			r.Errorf("load %s: absent, yet the value is %s", quote(e.Key), quote(e.Value))
		}
	}
	return entries
}

func (r *rig) swap(want bool, changes ...kvcache.Change) []kvcache.Change {
	r.Helper()
	got, err := r.versioned().Swap(r.ctx, changes)
	r.must(err, "swap")
	if got != want {
		r.Fatalf("swap of %+v: got %v, want %v", changes, got, want)
	}
	return changes
}

// to is the change of an entry to a value that stays.
func to(e kvcache.Entry, value string) kvcache.Change {
	return kvcache.Change{Key: e.Key, Version: e.Version, Value: value}
}

func swapChecks() []check {
	return []check{
		{"Versioned: load tells what is there", func(r *rig) {
			r.set("k", "v", 0)
			r.set("empty", "", 0)
			e := r.load("k", "missing", "empty", "k")
			if !e[0].Present || e[0].Value != "v" || e[1].Present || !e[2].Present || e[2].Value != "" || e[3] != e[0] {
				r.Fatalf("load: got %+v", e)
			}
			r.must(r.versioned().Load(r.ctx, nil), "load nothing")
		}},
		{"Versioned: swap creates, changes and deletes", func(r *rig) {
			r.swap(true, to(r.load("k")[0], "one"))
			r.wantValue("k", "one")
			r.swap(true, to(r.load("k")[0], "two"))
			r.wantValue("k", "two")
			r.swap(true, kvcache.Change{Key: "k", Version: r.load("k")[0].Version, Delete: true})
			r.wantAbsent("k")
			r.swap(true, to(r.load("k")[0], "three"))
			r.wantValue("k", "three")
			r.swap(true)
		}},
		{"Versioned: a version can be used once", func(r *rig) {
			absent := r.load("k")[0]
			r.swap(true, to(absent, "first"))
			r.swap(false, to(absent, "second"))
			present := r.load("k")[0]
			r.swap(true, to(present, "first")) // the same value is a change too
			r.swap(false, to(present, "second"))
			r.wantValue("k", "first")
			present = r.load("k")[0]
			gone := kvcache.Change{Key: "k", Version: present.Version, Delete: true}
			r.swap(true, gone)
			r.swap(false, gone)
			r.swap(false, to(present, "second"))
			r.swap(false, to(absent, "second"))
			r.wantAbsent("k")
		}},
		{"Versioned: deleting what is not there is a change too", func(r *rig) {
			absent := r.load("k")[0]
			r.swap(true, kvcache.Change{Key: "k", Version: absent.Version, Delete: true})
			r.wantAbsent("k")
			r.swap(false, to(absent, "late"))
			r.wantAbsent("k")
		}},
		{"Versioned: swap writes the new versions back", func(r *rig) {
			e := r.load("a", "b", "c")
			done := r.swap(true, to(e[0], "1"), to(e[1], "2"), kvcache.Change{Key: "c", Version: e[2].Version, Delete: true})
			for i, now := range r.load("a", "b", "c") {
				if done[i].Version != now.Version || now.Version == e[i].Version {
					r.Errorf("%s: was version %d, swap told %d, load tells %d", now.Key, e[i].Version, done[i].Version, now.Version)
				}
			}
			r.swap(true, done...)
			r.wantValue("b", "2")
		}},
		{"Versioned: several keys change together or not at all", func(r *rig) {
			r.set("b", "0", 0)
			e := r.load("a", "b", "c")
			r.swap(true, to(e[0], "1"), to(e[1], "1"), to(e[2], "1"))
			for stale := range 3 { // whichever of them is outdated
				now := r.load("a", "b", "c")
				now[stale].Version = e[stale].Version
				r.swap(false, to(now[0], "2"), kvcache.Change{Key: "b", Version: now[1].Version, Delete: true}, to(now[2], "2"))
				for _, key := range []string{"a", "b", "c"} {
					r.wantValue(key, "1")
				}
			}
			now := r.load("a", "b", "c")
			r.swap(true, to(now[2], "3"), kvcache.Change{Key: "b", Version: now[1].Version, Delete: true}, to(now[0], "3"))
			r.wantValue("a", "3")
			r.wantAbsent("b")
			r.wantValue("c", "3")
		}},
		{"Versioned: keys of any characters change together", func(r *rig) {
			keys := awkwardKeys()
			for i, e := range r.load(keys...) {
				r.swap(true, to(e, strconv.Itoa(i)))
			}
			e := r.load(keys...)
			changes := make([]kvcache.Change, len(keys))
			for i := range keys {
				if e[i].Value != strconv.Itoa(i) {
					r.Fatalf("load %s: got %s, want %d", quote(keys[i]), quote(e[i].Value), i)
				}
				changes[i] = to(e[i], "all")
			}
			r.swap(true, changes...)
			for _, key := range keys {
				r.wantValue(key, "all")
			}
		}},
		{"Versioned: a swap that makes no sense is an error and changes nothing", func(r *rig) {
			e := r.load("a", "b")
			_, err := r.versioned().Swap(r.ctx, []kvcache.Change{to(e[0], "1"), to(e[1], "1"), to(e[0], "2")})
			if !errors.Is(err, kvcache.ErrDuplicateKey) {
				r.Errorf("a key named twice: got %v, want ErrDuplicateKey", err)
			}
			negative := to(e[1], "1")
			negative.TTL = -time.Second
			if _, err = r.versioned().Swap(r.ctx, []kvcache.Change{to(e[0], "1"), negative}); !errors.Is(err, kvcache.ErrInvalidTTL) {
				r.Errorf("a negative ttl: got %v, want ErrInvalidTTL", err)
			}
			r.wantAbsent("a")
			r.wantAbsent("b")
		}},
		{"Versioned: a swap's ttl is kept exactly, and 0 is none", func(r *rig) {
			for _, ttl := range []time.Duration{subSecond, fractional} {
				e := r.load("k", "plain")
				short := to(e[0], "v")
				short.TTL = ttl
				r.write(ttl, func() { r.swap(true, short, to(e[1], "v")) }).
					expires(func() bool { return r.present("k") })
				r.wantValue("plain", "v")
			}
			r.set("k", "v", subSecond)
			r.swap(true, to(r.load("k")[0], "stays"))
			r.write(fractional, func() { r.set("clock", "", fractional) }).
				expires(func() bool { return r.present("clock") })
			r.wantValue("k", "stays")
		}},
		{"Versioned: KeepTTL keeps the deadline, and none", func(r *rig) {
			e := r.load("k", "plain")
			e1 := to(e[0], "1")
			e1.TTL = fractional
			var done []kvcache.Change
			w := r.write(fractional, func() { done = r.swap(true, e1, to(e[1], "1")) })
			for i := range done {
				done[i].TTL = kvcache.KeepTTL
			}
			r.swap(true, done...)
			r.swap(true, done...)
			w.expires(func() bool { return r.load("k")[0].Present })
			r.wantAbsent("k")
			r.wantValue("plain", "1")
			again := to(r.load("k")[0], "no deadline is left to keep")
			again.TTL = kvcache.KeepTTL
			r.swap(true, again)
			r.write(fractional, func() { r.set("clock", "", fractional) }).
				expires(func() bool { return r.present("clock") })
			r.wantValue("k", "no deadline is left to keep")
		}},
		{"Versioned: expiry is a change", func(r *rig) {
			for _, ttl := range []time.Duration{subSecond, kvcache.KeepTTL} {
				short := to(r.load("k")[0], "5")
				short.TTL = subSecond
				done := r.swap(true, short)
				r.write(subSecond, func() { r.set("clock", "", subSecond) }).
					expires(func() bool { return r.present("clock") || r.present("k") })
				late := done[0]
				late.Value, late.TTL = "6", ttl
				r.swap(false, late)
				r.wantAbsent("k")
			}
		}},
		{"Versioned: many racing swaps lose nothing and never show half", racingSwaps},
	}
}

// racingSwaps moves one unit at a time between two keys whose sum stays put.
func racingSwaps(r *rig) {
	r.set("a", "0", 0)
	r.set("b", "0", 0)
	const callers, each, patience = 4, 6, 5000
	inParallel(callers, func(int) {
		for done, tries := 0, 0; done < each; tries++ {
			if tries == patience {
				r.Errorf("%d swaps in a row or nearly so were refused", patience)
				return
			}
			e := []kvcache.Entry{{Key: "a"}, {Key: "b"}}
			if err := r.versioned().Load(r.ctx, e); err != nil {
				r.Errorf("load: %v", err)
				return
			}
			a, _ := strconv.Atoi(e[0].Value)
			b, _ := strconv.Atoi(e[1].Value)
			ok, err := r.versioned().Swap(r.ctx, []kvcache.Change{to(e[0], strconv.Itoa(a+1)), to(e[1], strconv.Itoa(b-1))})
			if err != nil {
				r.Errorf("swap: %v", err)
				return
			}
			if ok {
				done++
				if a != -b {
					r.Errorf("a swap went through that was computed from half of another: a=%d b=%d", a, b)
				}
			}
		}
	})
	r.wantValue("a", strconv.Itoa(callers*each))
	r.wantValue("b", strconv.Itoa(-callers*each))
}

// besideChecks are about writes that do not go through Swap.
func besideChecks() []check {
	return []check{
		{"Versioned: every other write is a change too", func(r *rig) {
			for name, write := range map[string]func(){
				"set":                func() { r.set("k", "2", 0) },
				"set the same value": func() { r.set("k", "1", 0) },
				"set with a ttl":     func() { r.set("k", "1", time.Hour) },
				"increment":          func() { r.increment("k", 0) },
				"delete":             func() { r.delete("k") },
				"delete and restore": func() { r.delete("k"); r.set("k", "1", 0) },
			} {
				r.set("k", "1", 0)
				before := r.load("k", "other")
				write()
				if got, err := r.versioned().Swap(r.ctx, []kvcache.Change{to(before[1], "x"), to(before[0], "late")}); err != nil || got {
					r.Errorf("swap after %s: got %v, %v, want false", name, got, err)
				}
				r.wantAbsent("other")
			}
		}},
		{"Versioned: a key that came and went has changed", func(r *rig) {
			absent := r.load("k")[0]
			r.set("k", "v", 0)
			r.delete("k")
			r.swap(false, to(absent, "late"))

			absent = r.load("n")[0]
			r.write(subSecond, func() { r.set("n", "v", subSecond) }).
				expires(func() bool { return r.present("n") })
			r.swap(false, to(absent, "late"))
		}},
		{"Versioned: KeepTTL keeps a deadline that set or increment made", func(r *rig) {
			r.increment("n", fractional)
			w := r.write(fractional, func() { r.set("k", "v", fractional) })
			e := r.load("k", "n")
			k, n := to(e[0], "w"), to(e[1], "7")
			k.TTL, n.TTL = kvcache.KeepTTL, kvcache.KeepTTL
			r.swap(true, k, n)
			w.expires(func() bool { return r.present("k") })
			r.wantAbsent("n")
		}},
		{"Versioned: hits are no part of a key's version", func(r *rig) {
			before := r.load("k")[0]
			r.hit("k", instant)
			now := to(before, "v")
			r.swap(true, now)
			now.Version = r.load("k")[0].Version
			now.Delete = true
			r.swap(true, now)
			r.wantCount("k", instant, 1)
		}},
	}
}
