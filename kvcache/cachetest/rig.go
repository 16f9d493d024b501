package cachetest

import (
	"context"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// rig is a cache on the test bench: the port's operations with every unexpected
// error turned into a failure, and a clock that fits the cache.
type rig struct {
	T
	cache kvcache.Cache
	ctx   context.Context

	advance func(time.Duration) // nil: the cache lives in real time
	passed  time.Duration       // by advance
}

func newRig(t T, cache kvcache.Cache) *rig {
	r := &rig{T: t, cache: cache, ctx: t.Context()}
	if a, ok := cache.(Advancer); ok {
		r.advance = a.Advance
	}
	return r
}

func (r *rig) must(err error, doing string) {
	r.Helper()
	if err != nil {
		r.Fatalf("%s: %v", doing, err)
	}
}

func (r *rig) set(key, value string, ttl time.Duration) {
	r.Helper()
	r.must(r.cache.Set(r.ctx, key, value, ttl), "set "+quote(key))
}

func (r *rig) get(key string) (string, bool) {
	r.Helper()
	value, ok, err := r.cache.Get(r.ctx, key)
	r.must(err, "get "+quote(key))
	if !ok && value != "" {
		r.Errorf("get %s: absent, yet the value is %s", quote(key), quote(value))
	}
	return value, ok
}

func (r *rig) present(key string) bool {
	r.Helper()
	_, ok := r.get(key)
	return ok
}

func (r *rig) increment(key string, ttl time.Duration) int64 {
	r.Helper()
	n, err := r.cache.Increment(r.ctx, key, ttl)
	r.must(err, "increment "+quote(key))
	return n
}

func (r *rig) delete(key string) {
	r.Helper()
	r.must(r.cache.Delete(r.ctx, key), "delete "+quote(key))
}

// hit records instants that no test expects to be forgotten.
func (r *rig) hit(key string, instants ...time.Time) {
	r.Helper()
	for _, at := range instants {
		r.must(r.cache.RecordHit(r.ctx, key, at, time.Hour), "record a hit of "+quote(key))
	}
}

func (r *rig) count(key string, since time.Time) int {
	r.Helper()
	n, err := r.cache.CountHits(r.ctx, key, since)
	r.must(err, "count the hits of "+quote(key))
	return n
}

func (r *rig) wantValue(key, want string) {
	r.Helper()
	if got, ok := r.get(key); !ok || got != want {
		r.Fatalf("get %s: got %s (present: %v), want %s", quote(key), quote(got), ok, quote(want))
	}
}

func (r *rig) wantAbsent(key string) {
	r.Helper()
	if got, ok := r.get(key); ok {
		r.Fatalf("get %s: got %s, want nothing", quote(key), quote(got))
	}
}

func (r *rig) wantIncrement(key string, ttl time.Duration, want int64) {
	r.Helper()
	if got := r.increment(key, ttl); got != want {
		r.Fatalf("increment %s: got %d, want %d", quote(key), got, want)
	}
}

func (r *rig) wantCount(key string, since time.Time, want int) {
	r.Helper()
	if got := r.count(key, since); got != want {
		r.Fatalf("hits of %s since %v: got %d, want %d", quote(key), since, got, want)
	}
}

// wantOldest checks the oldest hit; a zero want means that there is none.
func (r *rig) wantOldest(key string, since, want time.Time) {
	r.Helper()
	at, ok, err := r.cache.OldestHit(r.ctx, key, since)
	r.must(err, "oldest hit of "+quote(key))
	if ok == want.IsZero() || ok && !at.Equal(want) {
		r.Fatalf("oldest hit of %s since %v: got %v (found: %v), want %v", quote(key), since, at, ok, want)
	}
}

// inParallel runs fn in n goroutines and waits for all. Failures are reported
// with Errorf only, as fn runs outside of the test's goroutine.
func inParallel(n int, fn func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { fn(i) })
	}
	wg.Wait()
}
