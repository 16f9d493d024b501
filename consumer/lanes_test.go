package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// rules is a gate that is told what to say; the zero value refuses nothing.
type rules struct {
	mu      sync.Mutex
	server  *consumer.Allowance
	tenants map[string]consumer.Allowance
	err     error
}

func (r *rules) set(change func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	change()
}

func (r *rules) Server(context.Context) (consumer.Allowance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.server != nil {
		return *r.server, r.err
	}
	return consumer.Allowance{Calls: consumer.Unlimited}, r.err
}

func (r *rules) Tenant(_ context.Context, tenant string) (consumer.Allowance, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a, ok := r.tenants[tenant]; ok {
		return a, r.err
	}
	return consumer.Allowance{Calls: consumer.Unlimited}, r.err
}

// delivered is how many deliveries the lane of a tenant has made.
func (w *world) delivered(tenant string) int {
	w.t.Helper()
	c, err := w.js.Consumer(w.t.Context(), w.names.ChunkStream(), w.names.Lane(tenant))
	if errors.Is(err, jetstream.ErrConsumerNotFound) {
		return 0
	}
	require.NoError(w.t, err)
	return int(c.CachedInfo().Delivered.Consumer)
}

func (w *world) sendTo20(tenant string) {
	for i := range 20 {
		w.send(tenant, chunkJSON("d", i, fmt.Sprint("chunk ", i, " of ", tenant)))
	}
}

// Promise 2: what the gate refuses is not pulled, and costs others nothing.
func TestWhatWouldBeRefusedIsNotPulled(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := &rules{tenants: map[string]consumer.Allowance{"throttled": {Wait: time.Hour}}}
	r := w.start(failing(), func(c *consumer.Config) { c.Gate = gate })
	w.sendTo20("throttled")
	w.sendTo20("other")
	require.Eventually(t, func() bool { return len(w.results()) == 20 }, patience, tick)
	for _, result := range w.results() {
		require.Equal(t, "other", result.TenantID)
	}
	require.Zero(t, w.delivered("throttled"))

	gate.set(func() { gate.tenants = nil })
	r.Recheck()
	w.settled()
	require.Len(t, w.results(), 40)
	require.Equal(t, 20, w.delivered("throttled"))
}

// A tenant with an allowance of n never has more than n pulled that nobody has
// admitted yet.
func TestPullsNoMoreThanTheAllowance(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := &rules{tenants: map[string]consumer.Allowance{"acme": {Calls: 2}}}
	g := newGate()
	r := w.start(g, func(c *consumer.Config) { c.Gate, c.Concurrency = gate, 8 })
	w.sendMany(10)
	g.waitFor(t, 2)
	require.Never(t, func() bool { return r.Status().ChunksInHand > 2 }, 300*time.Millisecond, tick)
	close(g.open)
	w.settled()
}

// Word that a chunk was admitted makes room for the next.
func TestAdmittedMakesRoom(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := &rules{tenants: map[string]consumer.Allowance{"acme": {Calls: 1}}}
	g := newGate()
	w.start(scripted(func(ctx context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		consumer.Admitted(ctx)
		consumer.Admitted(ctx) // harmless
		return g.Extract(ctx, "", c)
	}), func(c *consumer.Config) { c.Gate, c.Concurrency = gate, 4 })
	w.sendMany(4)
	g.waitFor(t, 4)
	close(g.open)
	w.settled()
	require.Equal(t, 4, w.delivered("acme"))
}

// Promise 3: while a circuit is open nothing is pulled, whoever's it is; while it is
// probed, one chunk of all tenants' is.
func TestNothingButProbesWhileTheCircuitIsOpen(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := &rules{server: &consumer.Allowance{Wait: 50 * time.Millisecond}}
	g := newGate()
	r := w.start(g, func(c *consumer.Config) { c.Gate = gate })
	for i := range 10 {
		w.sendTo20(fmt.Sprint("tenant", i))
	}
	require.Never(t, func() bool { return g.started.Load() > 0 }, 300*time.Millisecond, tick)
	gate.set(func() { gate.server = &consumer.Allowance{Calls: 1} })
	g.waitFor(t, 1)
	require.Never(t, func() bool { return g.started.Load() > 1 }, 300*time.Millisecond, tick)
	require.Equal(t, 1, r.Status().ChunksInHand)
	gate.set(func() { gate.server = nil })
	close(g.open)
	w.settled()
	require.Len(t, w.results(), 200)
	require.EqualValues(t, 200, g.started.Load())
}

// A gate that cannot answer is asked again; meanwhile nothing is pulled.
func TestAGateThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := &rules{err: errors.New("store is gone")}
	x := failing()
	w.start(x, func(c *consumer.Config) { c.Gate = gate })
	w.sendMany(3)
	require.Never(t, func() bool { return len(x.made()) > 0 }, 300*time.Millisecond, tick)
	gate.set(func() { gate.err = nil })
	w.settled()
	require.Len(t, x.made(), 3)
}

// Tenants take turns, however much one of them has waiting.
func TestTenantsTakeTurns(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i := range 100 {
		w.send("deep", chunkJSON("d", i, fmt.Sprint("chunk ", i)))
	}
	w.send("late", chunkJSON("d", 0, "one"))
	w.send("late", chunkJSON("d", 1, "two"))
	x := failing()
	w.start(x, func(c *consumer.Config) { c.Concurrency = 1 })
	w.settled()
	calls := x.made()
	require.Len(t, calls, 102)
	last := 0
	for i, c := range calls {
		if c.tenant == "late" {
			last = i
		}
	}
	require.LessOrEqual(t, last, 6, "two chunks of the one take two turns")
}

// A stream that its owner has made without republishing: new chunks are found by
// looking.
func TestAStreamWithoutSignals(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	silent := w.names.Streams()[0]
	silent.RePublish = nil
	require.NoError(t, w.js.DeleteStream(t.Context(), silent.Name))
	_, err := w.js.CreateStream(t.Context(), silent)
	require.NoError(t, err)
	r := w.start(failing())
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	w.send("acme", `{"text":"Ada"}`)
	w.onlyResult()
}

// A lane that is lost, with its counts of deliveries, does not make the worker
// forget failed attempts.
func TestAttemptsOutliveTheLane(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	failed := make(chan struct{})
	w.start(scripted(func(_ context.Context, n int, _ extraction.Chunk) (extraction.Extraction, error) {
		if n == 0 {
			defer close(failed)
			return extraction.Extraction{}, &extraction.ProviderError{Kind: extraction.KindUnavailable, RetryAfter: time.Second}
		}
		return found(), nil
	}))
	w.send("acme", `{"text":"Ada"}`)
	<-failed
	require.Eventually(t, func() bool { return strings.Contains(w.log.String(), "put back") }, patience, tick)
	require.NoError(t, w.js.DeleteConsumer(t.Context(), w.names.ChunkStream(), w.names.Lane("acme")))
	require.Equal(t, 2, w.onlyResult().Attempts)
}

// The consumer that workers of earlier versions shared goes when they have gone,
// and not before.
func TestTheSharedConsumerOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.names.DocumentConsumerConfig(time.Second)
	old.Durable, old.FilterSubject = w.names.ChunkConsumer(), w.names.ChunkFilter()
	shared, err := w.js.CreateConsumer(t.Context(), w.names.ChunkStream(), old)
	require.NoError(t, err)
	w.send("acme", `{"text":"Ada"}`)
	pulls, err := shared.Messages()
	require.NoError(t, err)
	held, err := pulls.Next() // its worker holds a message, and pulls for more
	require.NoError(t, err)

	r := w.start(failing())
	require.Eventually(t, func() bool {
		return strings.Contains(r.Status().Problem, "weir_chunks of an earlier version is in use")
	}, patience, tick)
	require.False(t, r.Status().Ready())
	pulls.Stop()
	require.NoError(t, held.DoubleAck(t.Context()))
	w.send("acme", `{"text":"Grace"}`)
	w.onlyResult()
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	_, err = w.js.Consumer(t.Context(), w.names.ChunkStream(), w.names.ChunkConsumer())
	require.ErrorIs(t, err, jetstream.ErrConsumerNotFound)
}

// Anybody else's consumer is named and not touched.
func TestAForeignConsumerIsNamed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"theirs", "weir_chunks"} {
		w := newWorld(t)
		_, err := w.js.CreateConsumer(t.Context(), w.names.ChunkStream(), jetstream.ConsumerConfig{Durable: name, AckPolicy: jetstream.AckExplicitPolicy})
		require.NoError(t, err)
		worker, err := consumer.New(w.js, failing(), w.counts, w.config())
		require.NoError(t, err)
		err = worker.Run(t.Context())
		var mismatch *wire.MismatchError
		require.ErrorAs(t, err, &mismatch)
		require.Contains(t, mismatch.Object, "consumer "+name)
		require.Equal(t, "filter_subject", mismatch.Field)
		_, err = w.js.Consumer(t.Context(), w.names.ChunkStream(), name)
		require.NoError(t, err)
	}
}

// Tokens that are no tenant's still end as dead letters, each in a lane.
func TestTokensThatAreNobodys(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing(), func(c *consumer.Config) { c.Gate = &rules{server: &consumer.Allowance{Wait: time.Hour}} })
	tokens := []string{"=YWNtZQ", "==", "a=b", strings.Repeat("x", 300), "ü", `a\b`}
	for _, token := range tokens {
		w.sendTo("weir.chunks."+token, `{"text":"Ada"}`, nil)
	}
	w.settled()
	var origins []string
	for _, d := range w.dead() {
		origins = append(origins, strings.TrimPrefix(d.OriginSubject, "weir.chunks."))
	}
	slices.Sort(origins)
	slices.Sort(tokens)
	require.Equal(t, tokens, origins)
}

// What a signal promises may not be there yet for whoever is first to ask: the lane is
// tried once more, without another signal and without waiting for the next look.
func TestALaneThatHadNothingIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	worker := w.start(failing())
	require.Eventually(t, func() bool { return worker.Status().Ready() }, patience, tick)
	pulls := make(chan *nats.Msg, 100)
	sub, err := w.js.Conn().ChanSubscribe("$JS.API.CONSUMER.MSG.NEXT."+w.names.ChunkStream()+"."+w.names.Lane("acme"), pulls)
	require.NoError(t, err)
	defer func() { require.NoError(t, sub.Unsubscribe()) }()
	require.NoError(t, w.js.Conn().Publish(w.names.Arrived("acme"), nil)) // and nothing comes
	for n := range 2 {
		select {
		case <-pulls:
		case <-time.After(patience):
			require.FailNow(t, "no pull", "after %d", n)
		}
	}
}
