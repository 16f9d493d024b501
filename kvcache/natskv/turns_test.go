package natskv_test

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// turns spreads operations over the caches of two processes.
type turns struct {
	caches [2]*natskv.Cache
	n      atomic.Uint64
}

func (t *turns) next() *natskv.Cache { return t.caches[t.n.Add(1)%2] }

func (t *turns) Get(ctx context.Context, key string) (string, bool, error) {
	return t.next().Get(ctx, key)
}
func (t *turns) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	return t.next().Set(ctx, key, value, ttl)
}
func (t *turns) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	return t.next().Increment(ctx, key, ttl)
}
func (t *turns) Delete(ctx context.Context, key string) error { return t.next().Delete(ctx, key) }
func (t *turns) RecordHit(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
	return t.next().RecordHit(ctx, key, at, ttl)
}
func (t *turns) CountHits(ctx context.Context, key string, since time.Time) (int, error) {
	return t.next().CountHits(ctx, key, since)
}
func (t *turns) OldestHit(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
	return t.next().OldestHit(ctx, key, since)
}
func (t *turns) Load(ctx context.Context, entries []kvcache.Entry) error {
	return t.next().Load(ctx, entries)
}
func (t *turns) Swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	return t.next().Swap(ctx, changes)
}
func (t *turns) Watch(ctx context.Context, keys []string, changed func(kvcache.Entry)) error {
	return t.next().Watch(ctx, keys, changed)
}
func (t *turns) Close() error { return errors.Join(t.caches[0].Close(), t.caches[1].Close()) }
