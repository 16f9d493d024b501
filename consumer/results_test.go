package consumer_test

import (
	"context"
	"encoding/json"
	"fmt"
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

// A chunk whose result exists is settled without a model call.
func TestResultExists(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := failing()
	w.start(x)
	w.send("acme", `{"document_id":"d","text":"Ada"}`)
	first := w.onlyResult()
	w.send("acme", `{"document_id":"d","text":"Ada"}`)
	w.settled()
	require.Equal(t, []any{first}, []any{w.onlyResult()})
	require.Len(t, x.made(), 1)

	// The same text in another place is another chunk.
	w.send("acme", `{"document_id":"e","text":"Ada"}`)
	w.send("globex", `{"document_id":"d","text":"Ada"}`)
	w.settled()
	require.Len(t, w.results(), 3)
}

// A new version of a document replaces the results of the old one, and an old
// version that comes late does not.
func TestChangedDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	release := make(chan struct{})
	oldStarted := make(chan struct{})
	x := scripted(func(ctx context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		if c.Text == "slow old version" {
			close(oldStarted)
			<-release
		}
		return found(), nil
	})
	w.start(x)
	text := func() string {
		for _, r := range w.results() {
			for _, c := range x.made() {
				if c.chunk.ChunkID == r.ChunkID {
					return c.chunk.Text
				}
			}
		}
		return ""
	}
	w.send("acme", chunkJSON("d", 0, "first version"))
	w.settled()
	w.send("acme", chunkJSON("d", 0, "slow old version"))
	<-oldStarted
	w.send("acme", chunkJSON("d", 0, "new version"))
	require.Eventually(t, func() bool { return text() == "new version" }, patience, 10*time.Millisecond)
	close(release)
	w.settled()
	require.Equal(t, "new version", text())
	require.Len(t, w.results(), 1)
	require.Empty(t, w.dead())
}

// A document that was put back to an earlier version keeps that version, also if
// the version in between takes longest.
func TestPutBackWhileAnotherVersionIsInWork(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	started, release := make(chan struct{}), make(chan struct{})
	x := scripted(func(_ context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		if c.Text == "two" {
			close(started)
			<-release
		}
		return found(), nil
	})
	w.start(x)
	body := func(text string, total int) string {
		return fmt.Sprintf(`{"document_id":"d","text":%q,"total":%d}`, text, total)
	}
	w.send("acme", body("one", 1))
	w.settled()
	w.send("acme", body("two", 1))
	<-started
	w.send("acme", body("one", 3)) // and it has grown
	require.Eventually(t, func() bool { return w.waiting(w.names.ChunkStream()) == 1 }, patience, tick)
	close(release)
	r := w.onlyResult()
	require.Equal(t, extraction.ChunkID("d", 0, "one"), r.ChunkID)
	require.Equal(t, 3, r.Total)
	require.Len(t, x.made(), 2, "putting back costs no call of the model")
}

// Somebody else's message in a result's place is no reason to stop.
func TestRubbishInTheResultsPlace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.sendTo(w.names.ResultSubject("acme", "d", 0), "rubbish", nil)
	w.start(failing())
	w.send("acme", chunkJSON("d", 0, "Ada"))
	require.Equal(t, "d", w.onlyResult().DocumentID)
}

// Every chunk has exactly one result, however often it is published, delivered
// and worked on at the same time.
func TestExactlyOneResultUnderCopies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := scripted(func(ctx context.Context, n int, _ extraction.Chunk) (extraction.Extraction, error) {
		if n%7 == 0 {
			return extraction.Extraction{}, fmt.Errorf("fails now and then")
		}
		return found(), nil
	})
	const chunks, copies = 60, 4
	for range copies {
		for i := range chunks {
			w.send("acme", chunkJSON("d", i, fmt.Sprint("chunk ", i)))
		}
	}
	var mu sync.Mutex
	written := map[string]map[time.Time]bool{}
	follower, err := w.js.OrderedConsumer(t.Context(), w.names.ResultStream(), jetstream.OrderedConsumerConfig{})
	require.NoError(t, err)
	following, err := follower.Consume(func(msg jetstream.Msg) {
		r, err := wire.DecodeResult(msg.Data())
		if err != nil {
			return // the test finds it in the stream
		}
		mu.Lock()
		defer mu.Unlock()
		if written[msg.Subject()] == nil {
			written[msg.Subject()] = map[time.Time]bool{}
		}
		written[msg.Subject()][r.FinishedAt] = true
	})
	require.NoError(t, err)
	defer following.Stop()
	for range 3 {
		w.start(x, func(c *consumer.Config) { c.MaxAttempts = 100 })
	}
	w.settled()
	seen := map[int]int{}
	for _, r := range w.results() {
		seen[r.Index]++
	}
	require.Len(t, seen, chunks)
	for i, n := range seen {
		require.Equal(t, 1, n, i)
	}
	require.Empty(t, w.dead())
	require.Eventually(t, func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(written) == chunks
	}, patience, tick)
	following.Stop()
	<-following.Closed()
	mu.Lock()
	defer mu.Unlock()
	for place, results := range written {
		// A later copy only marks the result that is there as its own.
		require.Len(t, results, 1, "%s was overwritten", place)
	}
}

// What the worker writes down before a dead letter is completed by the next one
// if the first dies, without asking the model again.
func TestDeadLetterIsCompletedByTheNextWorker(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	js := w.connect()
	first := always(&extraction.ProviderError{Kind: extraction.KindTruncated})
	counts := &dyingStore{KeyValue: w.counts, died: make(chan struct{}), die: func() { js.Conn().Close() }}
	dying := w.startOn(js, counts, first, func(c *consumer.Config) { c.AckWait = time.Second })
	w.send("acme", `{"text":"Ada"}`)
	select {
	case <-counts.died:
	case <-time.After(patience):
		t.Fatal("never came so far")
	}
	require.Empty(t, w.dead(), "died before the dead letter was written")
	dying.cancel()

	second := failing()
	w.start(second)
	d := w.onlyDead()
	require.Equal(t, "truncated", d.Kind)
	require.Equal(t, 1, d.Attempts)
	require.Equal(t, 1, d.Deliveries)
	require.Empty(t, second.made())
}

// The same letter written by two workers is one letter.
func TestDeadLetterIsWrittenOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	js := w.connect()
	w.startOn(js, w.counts, always(&extraction.ProviderError{Kind: extraction.KindRefused}), func(c *consumer.Config) { c.AckWait = time.Second })
	// The connection dies as soon as the letter is stored: the original is
	// probably not settled yet, and delivered again.
	sub, err := w.js.Conn().Subscribe(w.names.DeadFilter(), func(*nats.Msg) { js.Conn().Close() })
	require.NoError(t, err)
	defer func() { _ = sub.Unsubscribe() }()
	w.send("acme", `{"text":"Ada"}`)
	require.Eventually(t, func() bool { return js.Conn().IsClosed() }, patience, time.Millisecond)
	second := failing()
	w.start(second)
	d := w.onlyDead()
	require.Equal(t, "refused", d.Kind)
	require.Empty(t, second.made())
}

func TestResultsAreTheContractsJSON(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing())
	w.send("acme", chunkJSON("d", 0, "Ada"))
	w.settled()
	var got map[string]any
	require.NoError(t, json.Unmarshal(w.messages(w.names.ResultStream())[0].Data, &got))
	for _, member := range []string{"schema_version", "tenant_id", "document_id", "chunk_id", "index", "total", "status", "model", "prompt_version",
		"output_mode", "finish_reason", "usage", "attempts", "started_at", "finished_at", "worker", "domain", "entities", "relationships", "counters"} {
		require.Contains(t, got, member)
	}
	require.Equal(t, []any{}, got["relationships"])
}
