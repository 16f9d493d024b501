package consumer_test

import (
	"context"
	"encoding/json"
	"flag"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestMain(m *testing.M) {
	// These tests mostly wait: for redeliveries, restarts, drains.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// patience is far above what anything takes, for machines with other work to do.
const patience = time.Minute

const tick = 10 * time.Millisecond

// quick is a backoff that tests can wait for.
var quick = resilience.RetryPolicy{InitialDelay: 20 * time.Millisecond, Multiplier: 1, MaxDelay: 20 * time.Millisecond}

// world is a NATS server with streams, and what tests ask of it.
type world struct {
	t      *testing.T
	server *natsconn.Embedded
	names  wire.Names
	js     jetstream.JetStream
	counts kvcache.KeyValue
	log    *process.Log
}

func newWorld(t *testing.T) *world { return newWorldOn(t, natsconn.EmbeddedOptions{InProcess: true}) }

func newWorldOn(t *testing.T, o natsconn.EmbeddedOptions) *world {
	t.Helper()
	o.StoreDir = t.TempDir()
	server, err := natsconn.StartEmbedded(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	names, err := wire.NewNames("")
	require.NoError(t, err)
	w := &world{t: t, server: server, names: names, counts: kvcache.NewMemory(), log: &process.Log{}}
	w.js = w.connect()
	require.NoError(t, wire.Ensure(t.Context(), w.js, names))
	return w
}

func (w *world) connect() jetstream.JetStream {
	w.t.Helper()
	nc, err := w.server.Connect(natsconn.Options{})
	require.NoError(w.t, err)
	w.t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(w.t, err)
	return js
}

func (w *world) config() consumer.Config {
	return consumer.Config{
		Namespace: w.names.Namespace(), Concurrency: 4, AckWait: 2 * time.Second, MaxAttempts: 3, Backoff: quick, WorkerName: "test",
		DrainTimeout: 5 * time.Second,
		Logger:       slog.New(slog.NewTextHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	}
}

// running is a worker at work.
type running struct {
	*consumer.Worker
	cancel context.CancelFunc
	done   chan struct{}
	err    error
}

// stop tells the worker to stop and waits for it.
func (r *running) stop(t *testing.T) {
	t.Helper()
	r.cancel()
	select {
	case <-r.done:
		require.NoError(t, r.err)
	case <-time.After(patience):
		t.Fatal("worker does not stop")
	}
}

func (w *world) start(x consumer.Extractor, change ...func(*consumer.Config)) *running {
	w.t.Helper()
	return w.startOn(w.connect(), w.counts, x, change...)
}

func (w *world) startOn(js jetstream.JetStream, counts kvcache.KeyValue, x consumer.Extractor, change ...func(*consumer.Config)) *running {
	w.t.Helper()
	cfg := w.config()
	for _, c := range change {
		c(&cfg)
	}
	worker, err := consumer.New(js, x, counts, cfg)
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(context.Background())
	r := &running{Worker: worker, cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(r.done)
		r.err = worker.Run(ctx)
	}()
	w.t.Cleanup(func() {
		cancel()
		<-r.done
	})
	return r
}

// send publishes a body on a chunk subject as any client would.
func (w *world) send(tenant, body string) {
	w.t.Helper()
	w.sendTo(w.names.ChunkSubject(tenant), body, nil)
}

func (w *world) sendTo(subject, body string, h nats.Header) uint64 {
	w.t.Helper()
	ack, err := w.js.PublishMsg(w.t.Context(), &nats.Msg{Subject: subject, Data: []byte(body), Header: h})
	require.NoError(w.t, err)
	return ack.Sequence
}

func chunkJSON(document string, index int, text string) string {
	body, err := json.Marshal(map[string]any{"document_id": document, "index": index, "text": text})
	if err != nil {
		panic(err)
	}
	return string(body)
}

// waiting returns how many messages a stream holds, or -1 if it does not answer.
func (w *world) waiting(stream string) int {
	s, err := w.js.Stream(context.Background(), stream)
	if err != nil {
		return -1
	}
	return int(s.CachedInfo().State.Msgs)
}

// settled waits until nothing is left in the queues. Documents are looked at first: one
// that is gone has all its chunks in their queue.
func (w *world) settled() {
	w.t.Helper()
	require.Eventually(w.t, func() bool {
		return w.waiting(w.names.DocumentStream()) == 0 && w.waiting(w.names.ChunkStream()) == 0
	}, patience, 10*time.Millisecond, "the queues do not empty")
}

func (w *world) messages(stream string) []*jetstream.RawStreamMsg {
	w.t.Helper()
	s, err := w.js.Stream(w.t.Context(), stream)
	require.NoError(w.t, err)
	var out []*jetstream.RawStreamMsg
	state := s.CachedInfo().State
	for seq := max(state.FirstSeq, 1); seq <= state.LastSeq; seq++ {
		msg, err := s.GetMsg(w.t.Context(), seq)
		if err != nil {
			require.ErrorIs(w.t, err, jetstream.ErrMsgNotFound)
			continue
		}
		out = append(out, msg)
	}
	return out
}

func (w *world) results() []wire.Result {
	w.t.Helper()
	var out []wire.Result
	for _, msg := range w.messages(w.names.ResultStream()) {
		r, err := wire.DecodeResult(msg.Data)
		require.NoError(w.t, err)
		out = append(out, r)
	}
	return out
}

type deadLetter struct {
	wire.DeadLetter
	msg *jetstream.RawStreamMsg
}

func (w *world) dead() []deadLetter {
	w.t.Helper()
	var out []deadLetter
	for _, msg := range w.messages(w.names.DeadStream()) {
		d, err := wire.ParseDeadLetter(msg.Header)
		require.NoError(w.t, err)
		out = append(out, deadLetter{d, msg})
	}
	return out
}

// onlyDead waits until the queues are empty and returns the one dead letter.
func (w *world) onlyDead() deadLetter {
	w.t.Helper()
	w.settled()
	require.Empty(w.t, w.results())
	dead := w.dead()
	require.Len(w.t, dead, 1)
	return dead[0]
}

func (w *world) onlyResult() wire.Result {
	w.t.Helper()
	w.settled()
	require.Empty(w.t, w.dead())
	results := w.results()
	require.Len(w.t, results, 1)
	return results[0]
}

// pending is the state of acme's lane.
func (w *world) pending() *jetstream.ConsumerInfo {
	w.t.Helper()
	c, err := w.js.Consumer(w.t.Context(), w.names.ChunkStream(), w.names.Lane("acme"))
	require.NoError(w.t, err)
	return c.CachedInfo()
}

// script is an extractor that does the same for every chunk, or what it is told
// for the n-th call (from 0).
type script struct {
	mu    sync.Mutex
	calls []call
	do    func(ctx context.Context, n int, c extraction.Chunk) (extraction.Extraction, error)
}

type call struct {
	at     time.Time
	tenant string
	chunk  extraction.Chunk
}

func scripted(do func(ctx context.Context, n int, c extraction.Chunk) (extraction.Extraction, error)) *script {
	return &script{do: do}
}

// failing returns the errors one after another, then succeeds.
func failing(errs ...error) *script {
	return scripted(func(_ context.Context, n int, _ extraction.Chunk) (extraction.Extraction, error) {
		if n < len(errs) && errs[n] != nil {
			return extraction.Extraction{}, errs[n]
		}
		return found(), nil
	})
}

// always returns the same error.
func always(err error) *script {
	return scripted(func(context.Context, int, extraction.Chunk) (extraction.Extraction, error) {
		return extraction.Extraction{}, err
	})
}

func found() extraction.Extraction {
	return extraction.Extraction{
		Status: extraction.StatusOK, Model: "test/model", PromptVersion: "1", OutputMode: "json_schema", FinishReason: "stop",
		Usage:    extraction.Usage{PromptTokens: 10, CompletionTokens: 5},
		Entities: []extraction.Entity{{ID: "e1", Name: "Ada", Type: "person"}},
	}
}

func (s *script) Extract(ctx context.Context, tenant string, c extraction.Chunk) (extraction.Extraction, error) {
	s.mu.Lock()
	n := len(s.calls)
	s.calls = append(s.calls, call{time.Now(), tenant, c})
	s.mu.Unlock()
	return s.do(ctx, n, c)
}

func (s *script) made() []call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]call(nil), s.calls...)
}

// dyingStore calls die right after the decision to set a message aside was
// written down.
type dyingStore struct {
	kvcache.KeyValue
	once sync.Once
	died chan struct{}
	die  func()
}

func (s *dyingStore) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	err := s.KeyValue.Set(ctx, key, value, ttl)
	if !strings.HasSuffix(key, "/dead") {
		return err
	}
	s.once.Do(func() {
		s.die()
		close(s.died)
	})
	return err
}

// extractorFunc is an extractor that does not look at the chunk.
type extractorFunc func() (extraction.Extraction, error)

func (f extractorFunc) Extract(context.Context, string, extraction.Chunk) (extraction.Extraction, error) {
	return f()
}
