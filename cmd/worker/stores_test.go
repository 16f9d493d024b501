package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction/offline"
	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// docs/wire.md: what somebody deletes while workers run is back within 10 seconds,
// the stores of the fleet too, and work goes on.
func TestDeletedStoresComeBack(t *testing.T) {
	js := natstest.JetStream(t)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	shared, err := natsStores(t.Context(), js, names, nil)
	require.NoError(t, err)
	defer shared.close()
	provider, err := offline.New()
	require.NoError(t, err)
	flags := engineFlags{
		modelFlags:   modelFlags{Provider: "offline"},
		domainFlags:  domainFlags{schemaFlags: schemaFlags{ClassifyConfidence: 0.6}, Classify: classifyOff, ClassifyTimeout: time.Second},
		limitFlags:   limitFlags{RPM: requests{1000, true}, Window: time.Minute},
		retryFlags:   retryFlags{Multiplier: 1, MaxDelay: time.Second},
		circuitFlags: circuitFlags{Circuit: "default", FailureThreshold: 5, RecoveryTimeout: time.Minute, HalfOpenMaxCalls: 1},
		workFlags:    workFlags{Concurrency: 2, QueueCapacity: 10, MaxAttempts: 5, ChunkDeadline: time.Minute},
	}
	require.NoError(t, flags.check())
	log := &process.Log{}
	config := consumer.Config{Namespace: names.Namespace(), WorkerName: "test", Logger: slog.New(slog.NewTextHandler(log, nil))}
	e, err := newEngine(js, names, shared, provider, flags, config, func(resilience.Change) {}, nil)
	require.NoError(t, err)
	defer e.close()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.worker.Run(ctx) }()
	defer func() {
		cancel()
		require.NoError(t, <-done)
	}()

	const patience = time.Minute // for a machine with other work to do
	results := func() int {
		stream, err := js.Stream(t.Context(), names.ResultStream())
		if err != nil {
			return -1
		}
		return int(stream.CachedInfo().State.Msgs)
	}
	finish := func(n int, text string) {
		t.Helper()
		_, err := js.Publish(t.Context(), names.DocumentSubject("acme"), []byte(text))
		require.NoError(t, err)
		require.Eventually(t, func() bool { return results() == n }, patience, 10*time.Millisecond, "%s\n%s", text, log)
	}
	require.Eventually(t, func() bool { return e.worker.Status().Ready() }, patience, 10*time.Millisecond)
	finish(1, "Ada met Charles.")

	streams := []string{"LEDGER_" + names.RateLimitBucket()}
	for _, bucket := range sharedBuckets(names) {
		streams = append(streams, "KV_"+bucket)
	}
	for _, name := range streams {
		require.NoError(t, js.DeleteStream(t.Context(), name))
	}
	finish(2, "Charles met Ada.")
	for _, name := range streams {
		require.Eventually(t, func() bool {
			_, err := js.Stream(t.Context(), name)
			return err == nil && strings.Contains(log.String(), strings.TrimPrefix(name, "KV_")) // once it is made it is told of
		}, patience, 10*time.Millisecond, name)
	}
	require.Eventually(t, func() bool { return e.worker.Status().Ready() }, patience, 10*time.Millisecond)

	// One that somebody makes unfit is a reason not to be ready.
	require.NoError(t, js.DeleteStream(t.Context(), "KV_"+names.CircuitBucket()))
	_, err = js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: names.CircuitBucket(), TTL: time.Hour})
	if err == nil { // else the worker was faster
		ready := (&monitor{worker: e.worker}).ready
		require.Eventually(t, func() bool { return strings.Contains(strings.Join(ready(), " "), "max_age") }, patience, 10*time.Millisecond)
	}
}

// What a check could not tidy up is removed by one that comes long after.
func TestCheckRemovesWhatOthersHaveLeft(t *testing.T) {
	js := natstest.JetStream(t)
	cache, err := natskv.Open(t.Context(), js, "weir_circuit")
	require.NoError(t, err)
	defer func() { require.NoError(t, cache.Close()) }()
	for _, name := range []string{wire.NewProbe(), "default", "check-in"} {
		require.NoError(t, cache.Set(t.Context(), name+".state", "open", 0))
	}
	names, err := wire.NewNames("")
	require.NoError(t, err)
	u := &checkup{js: js, names: names}
	require.NoError(t, u.eraseStale(t.Context(), "weir_circuit", cache, staleAfter))
	keys, err := cache.Keys(t.Context())
	require.NoError(t, err)
	require.Len(t, keys, 3, "another check may be at work")
	require.NoError(t, u.eraseStale(t.Context(), "weir_circuit", cache, 0))
	keys, err = cache.Keys(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"check-in.state", "default.state"}, keys)
}
