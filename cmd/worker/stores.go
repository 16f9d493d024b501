package main

import (
	"context"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// storeFlags choose the stores.
type storeFlags struct {
	Cache string `group:"nats" default:"nats" enum:"nats,memory" help:"Where limits, circuit and attempts are kept: nats (shared by the fleet) or memory (this process alone)."`
}

func (f storeFlags) inMemory() bool { return f.Cache == "memory" }

// stores is where limits, circuit and attempts are kept.
type stores struct {
	circuit  kvcache.KeyValue
	limits   kvcache.HitWindow
	attempts kvcache.KeyValue
	// ensure makes again what somebody has deleted; nil if nobody can.
	ensure func(context.Context) (created []string, err error)
	close  func()
}

// memoryStores serve one process.
func memoryStores() stores {
	cache := kvcache.NewMemory()
	return stores{circuit: cache, limits: cache, attempts: cache, close: func() { _ = cache.Close() }}
}

// natsStores are shared by the fleet. They have a bucket each, so that one who
// watches the circuit sees nothing else. watch times what they do; it may be nil.
func natsStores(ctx context.Context, js jetstream.JetStream, names wire.Names, watch *work.Observer) (stores, error) {
	var opened []*natskv.Cache
	closeAll := func() {
		for _, cache := range opened {
			_ = cache.Close()
		}
	}
	for _, bucket := range sharedBuckets(names) {
		cache, err := natskv.Open(ctx, js, bucket, natskv.WithReplicas(names.Replicas()))
		if err != nil {
			closeAll()
			return stores{}, unfit(err)
		}
		opened = append(opened, cache)
	}
	ensure := func(ctx context.Context) (created []string, err error) { return ensureAll(ctx, opened) }
	timed := func(i int, name string) kvcache.Cache {
		if watch == nil {
			return opened[i]
		}
		return watch.Store(name, opened[i])
	}
	return stores{circuit: timed(0, "circuit"), limits: timed(1, "limits"), attempts: timed(2, "attempts"), ensure: ensure, close: closeAll}, nil
}

// ensureAll also makes the others when one cannot be had. The error is that of
// the first.
func ensureAll(ctx context.Context, caches []*natskv.Cache) (created []string, problem error) {
	for _, cache := range caches {
		more, err := cache.Ensure(ctx)
		created = append(created, more...)
		if problem == nil {
			problem = err
		}
	}
	return created, problem
}

// sharedBuckets are those of natsStores, in the order of its fields.
func sharedBuckets(names wire.Names) []string {
	return []string{names.CircuitBucket(), names.RateLimitBucket(), names.AttemptsBucket()}
}
