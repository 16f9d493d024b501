package consumer_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
)

// What a chunk costs beside the model: the worker against a bare loop that
// fetches, publishes and acknowledges, with the same number of goroutines.
const benchSlots = 8

func benchStreams(b *testing.B, tenants int) (jetstream.JetStream, wire.Names) {
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: b.TempDir()})
	require.NoError(b, err)
	nc, err := natsconn.Connect(b.Context(), natsconn.Options{URL: server.URL()})
	require.NoError(b, err)
	b.Cleanup(func() {
		nc.Close()
		_ = server.Close()
	})
	js, err := jetstream.New(nc)
	require.NoError(b, err)
	names, err := wire.NewNames("")
	require.NoError(b, err)
	require.NoError(b, wire.Ensure(b.Context(), js, names))
	for i := range b.N {
		_, err := js.PublishAsync(names.ChunkSubject(benchTenant(i%tenants)), []byte(chunkJSON("d", i, fmt.Sprint("chunk ", i))), jetstream.WithStallWait(patience))
		require.NoError(b, err)
	}
	<-js.PublishAsyncComplete()
	return js, names
}

func benchTenant(n int) string { return fmt.Sprint("tenant", n) }

// BenchmarkWorker is one tenant, BenchmarkManyTenants the same number of chunks
// over a thousand lanes: their making is in it.
func BenchmarkWorker(b *testing.B)      { benchmarkWorker(b, 1) }
func BenchmarkManyTenants(b *testing.B) { benchmarkWorker(b, 1000) }

func benchmarkWorker(b *testing.B, tenants int) {
	js, names := benchStreams(b, tenants)
	done := make(chan struct{}, b.N)
	x := extractorFunc(func() (extraction.Extraction, error) {
		done <- struct{}{}
		return found(), nil
	})
	w, err := consumer.New(js, x, kvcache.NewMemory(), consumer.Config{Namespace: names.Namespace(), Concurrency: benchSlots})
	require.NoError(b, err)
	ctx, cancel := context.WithCancel(b.Context())
	var running sync.WaitGroup
	b.ResetTimer()
	running.Go(func() { _ = w.Run(ctx) })
	for range b.N {
		<-done
	}
	b.StopTimer()
	cancel()
	running.Wait()
}

func BenchmarkBareLoop(b *testing.B) {
	js, names := benchStreams(b, 1)
	c, err := wire.EnsureLane(b.Context(), js, names, benchTenant(0), 30*time.Second, wire.LaneIdle)
	require.NoError(b, err)
	var next sync.Mutex
	left := b.N
	take := func() bool {
		next.Lock()
		defer next.Unlock()
		left--
		return left >= 0
	}
	var loops sync.WaitGroup
	b.ResetTimer()
	for range benchSlots {
		loops.Go(func() {
			for take() {
				msg, err := c.Next(jetstream.FetchMaxWait(5 * time.Second))
				if err != nil {
					b.Error(err)
					return
				}
				chunk, err := wire.DecodeChunk(msg.Data())
				if err != nil {
					b.Error(err)
					return
				}
				body, err := wire.EncodeResult(wire.Result{ChunkID: chunk.ChunkID, Extraction: found()})
				if err != nil {
					b.Error(err)
					return
				}
				if _, err := js.Publish(b.Context(), names.ResultSubject(benchTenant(0), chunk.DocumentID, chunk.Index), body); err != nil {
					b.Error(err)
				}
				if err := msg.DoubleAck(b.Context()); err != nil {
					b.Error(err)
				}
			}
		})
	}
	loops.Wait()
}
