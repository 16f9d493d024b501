package consumer_test

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
)

// gate is an extractor that holds every chunk until it is opened.
type gate struct {
	open    chan struct{}
	started atomic.Int64
}

func newGate() *gate { return &gate{open: make(chan struct{})} }

func (g *gate) Extract(ctx context.Context, _ string, _ extraction.Chunk) (extraction.Extraction, error) {
	g.started.Add(1)
	select {
	case <-g.open:
		return found(), nil
	case <-ctx.Done():
		return extraction.Extraction{}, ctx.Err()
	}
}

func (g *gate) waitFor(t *testing.T, n int64) {
	t.Helper()
	require.Eventually(t, func() bool { return g.started.Load() >= n }, patience, tick)
}

func (w *world) sendMany(n int) {
	for i := range n {
		w.send("acme", chunkJSON("d", i, fmt.Sprint("chunk ", i)))
	}
}

// A worker never holds a message that it cannot start.
func TestPullsNoMoreThanFreeSlots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	r := w.start(g, func(c *consumer.Config) { c.Concurrency = 3 })
	w.sendMany(20)
	g.waitFor(t, 3)
	for range 20 { // the server's view, over some pulls' time
		info := w.pending()
		require.LessOrEqual(t, info.NumAckPending, 3)
		require.EqualValues(t, 3, g.started.Load())
		require.LessOrEqual(t, r.Status().ChunksInHand, 3)
		select {
		case <-time.After(60 * time.Millisecond):
		case <-t.Context().Done():
		}
	}
	close(g.open)
	w.settled()
	require.Len(t, w.results(), 20)
	require.EqualValues(t, 20, g.started.Load(), "nothing was delivered twice")
}

// Work may take much longer than AckWait.
func TestSlowWorkIsNotDeliveredTwice(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	for range 2 {
		w.start(g, func(c *consumer.Config) { c.AckWait = time.Second })
	}
	w.send("acme", `{"text":"Ada"}`)
	g.waitFor(t, 1)
	time.AfterFunc(3*time.Second, func() { close(g.open) })
	w.onlyResult()
	require.EqualValues(t, 1, g.started.Load())
}

// Row "worker stops": nothing new is pulled and what is in hand is finished.
func TestDrainFinishesWhatIsInHand(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	r := w.start(g, func(c *consumer.Config) { c.Concurrency = 2 })
	w.sendMany(5)
	g.waitFor(t, 2)
	r.cancel()
	require.Eventually(t, func() bool { return r.Status().Draining }, patience, tick)
	require.False(t, r.Status().Ready())
	close(g.open)
	r.stop(t)
	require.Len(t, w.results(), 2)
	require.EqualValues(t, 3, w.waiting(w.names.ChunkStream()))
	require.EqualValues(t, 2, g.started.Load())
}

// Row "worker stops", the rest: back at once, no attempt.
func TestDrainGivesBackTheRest(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	r := w.start(g, func(c *consumer.Config) {
		c.AckWait, c.DrainTimeout, c.MaxAttempts = 30*time.Second, 50*time.Millisecond, 1
	})
	w.sendMany(3)
	g.waitFor(t, 3)
	r.stop(t)
	require.Empty(t, w.results())

	begin := time.Now()
	w.start(failing())
	w.settled()
	require.Less(t, time.Since(begin), 10*time.Second, "far below AckWait")
	require.Empty(t, w.dead())
	results := w.results()
	require.Len(t, results, 3)
	for _, result := range results {
		require.Equal(t, 1, result.Attempts)
	}
}

// Row "worker crashes": another takes over after AckWait, no attempt burnt.
func TestCrashedWorkersChunksGoToAnother(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	js := w.connect()
	crashed := w.startOn(js, w.counts, g, func(c *consumer.Config) { c.AckWait, c.MaxAttempts, c.DrainTimeout = time.Second, 1, -1 })
	w.sendMany(4)
	g.waitFor(t, 4)
	js.Conn().Close() // what the server sees of a kill -9
	w.start(failing())
	w.settled()
	crashed.cancel()
	require.Empty(t, w.dead())
	results := w.results()
	require.Len(t, results, 4)
	for _, r := range results {
		require.Equal(t, 1, r.Attempts)
	}
}

// The broker goes away and comes back: no crash, no hot loop, nothing lost.
func TestBrokerRestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	require.NoError(t, err)
	_, portText, err := net.SplitHostPort(strings.TrimPrefix(server.URL(), "nats://"))
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	nc, err := natsconn.Connect(t.Context(), natsconn.Options{URL: server.URL()})
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	w := &world{t: t, server: server, names: names, js: js, counts: kvcache.NewMemory(), log: &process.Log{}}

	g := newGate()
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	r := w.startOn(js, w.counts, g, func(c *consumer.Config) { c.AckWait = time.Second })
	w.sendMany(30)
	g.waitFor(t, 4)
	require.NoError(t, server.Close())
	require.Eventually(t, func() bool { return !r.Status().Connected }, patience, tick)
	close(g.open) // results are ready and cannot be stored
	before := strings.Count(w.log.String(), "\n")
	require.Never(t, func() bool { return strings.Count(w.log.String(), "\n") > before+60 }, 2*time.Second, 50*time.Millisecond, "a hot loop")

	again, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir, Port: port})
	require.NoError(t, err)
	t.Cleanup(func() { _ = again.Close() })
	require.Eventually(t, nc.IsConnected, patience, tick)
	w.settled()
	require.Len(t, w.results(), 30)
	require.Empty(t, w.dead())
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	r.stop(t) // before its server goes
}

// What somebody deletes while the worker runs is back within 10 seconds, with a
// word in the log, and work goes on.
func TestDeletedWhileRunning(t *testing.T) {
	for name, remove := range map[string]func(*world) error{
		"consumer of chunks": func(w *world) error {
			w.send("acme", chunkJSON("first", 0, "makes the lane"))
			require.Eventually(w.t, func() bool { return len(w.results()) == 1 }, patience, tick)
			require.NoError(w.t, w.js.DeleteConsumer(w.t.Context(), w.names.ChunkStream(), w.names.Lane("acme")))
			w.send("acme", chunkJSON("first", 0, "makes the lane")) // nobody misses a lane that is not needed
			return nil
		},
		"consumer of documents": func(w *world) error {
			return w.js.DeleteConsumer(w.t.Context(), w.names.DocumentStream(), w.names.DocumentConsumer())
		},
		"stream of chunks":    func(w *world) error { return w.js.DeleteStream(w.t.Context(), w.names.ChunkStream()) },
		"stream of documents": func(w *world) error { return w.js.DeleteStream(w.t.Context(), w.names.DocumentStream()) },
		"stream of results":   func(w *world) error { return w.js.DeleteStream(w.t.Context(), w.names.ResultStream()) },
		"stream of the dead":  func(w *world) error { return w.js.DeleteStream(w.t.Context(), w.names.DeadStream()) },
		"bucket of limits":    func(w *world) error { return w.js.DeleteKeyValue(w.t.Context(), w.names.LimitsBucket()) },
		"bucket of pauses":    func(w *world) error { return w.js.DeleteKeyValue(w.t.Context(), w.names.PauseBucket()) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			r := w.start(failing())
			require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
			require.NoError(t, remove(w))
			require.Eventually(t, func() bool { return strings.Contains(w.log.String(), "has been created again") }, 10*time.Second, tick)
			w.sendTo("weir.documents.acme", "Ada met Charles.", nil)
			w.send("acme", `nonsense`)
			require.Eventually(t, func() bool { return len(w.results()) >= 1 && len(w.dead()) == 1 }, patience, tick)
			w.settled()
			require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
		})
	}
}

// Deleting the results' stream in the middle of the work loses no chunk.
func TestResultStreamDeletedUnderTheWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	w.start(g)
	w.send("acme", `{"text":"Ada"}`)
	g.waitFor(t, 1)
	require.NoError(t, w.js.DeleteStream(t.Context(), w.names.ResultStream()))
	close(g.open)
	require.Eventually(t, func() bool {
		_, err := w.js.Stream(t.Context(), w.names.ResultStream())
		return err == nil
	}, patience, tick)
	require.Equal(t, 1, w.onlyResult().Attempts)
}

func TestStatus(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	g := newGate()
	r := w.start(g, func(c *consumer.Config) { c.Concurrency = 2 })
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	require.ErrorIs(t, r.Run(t.Context()), consumer.ErrRunning)
	w.sendMany(3)
	g.waitFor(t, 2)
	s := r.Status()
	require.True(t, s.Connected && s.Consuming)
	require.Equal(t, []int{2, 2, 0}, []int{s.Concurrency, s.ChunksInHand, s.DocumentsInHand})
	close(g.open)
	w.settled()
	require.Eventually(t, func() bool { return r.Status().Outcomes["extracted"] == 3 && r.Status().ChunksInHand == 0 }, patience, tick)
	require.WithinDuration(t, time.Now(), r.Status().LastProgress, 10*time.Second)
	r.stop(t)
	require.False(t, r.Status().Ready())
}
