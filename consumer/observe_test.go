package consumer_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// recorder keeps what an observer is told, per message.
type recorder struct {
	mu      sync.Mutex
	entries []*entry
}

type entry struct {
	message consumer.Message
	chunk   extraction.Chunk
	steps   []consumer.Step
	open    int // steps that have not ended
	settled []consumer.Settlement
}

type entryKey struct{}

func (r *recorder) of(ctx context.Context) *entry { return ctx.Value(entryKey{}).(*entry) }

func (r *recorder) Took(ctx context.Context, m consumer.Message) context.Context {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := &entry{message: m}
	r.entries = append(r.entries, e)
	return context.WithValue(ctx, entryKey{}, e)
}

func (r *recorder) Reads(ctx context.Context, c extraction.Chunk) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.of(ctx).chunk = c
}

func (r *recorder) Step(ctx context.Context, s consumer.Step) (context.Context, func(error)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(ctx)
	e.steps = append(e.steps, s)
	e.open++
	return ctx, func(error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		e.open--
	}
}

func (r *recorder) Sends(ctx context.Context, header map[string][]string) {
	header["came-of"] = []string{r.of(ctx).message.Subject}
}

func (r *recorder) Settled(ctx context.Context, s consumer.Settlement) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e := r.of(ctx)
	e.settled = append(e.settled, s)
}

// one returns what was told of a message that was settled, once.
func (r *recorder) one(t *testing.T, n int) entry {
	t.Helper()
	var e entry
	require.Eventually(t, func() bool {
		r.mu.Lock()
		defer r.mu.Unlock()
		if len(r.entries) <= n || len(r.entries[n].settled) == 0 {
			return false
		}
		e = *r.entries[n]
		return true
	}, patience, tick)
	require.Len(t, e.settled, 1)
	require.Zero(t, e.open, "a step has not ended")
	return e
}

func TestAnObserverHearsOfEveryDelivery(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := &recorder{}
	refused := &resilience.RateLimitExceeded{Tenant: "acme", RetryAfter: 5 * tick}
	failed := errors.New("no such luck")
	w.start(failing(refused, failed), func(c *consumer.Config) { c.Observer = told })
	w.sendTo(w.names.ChunkSubject("acme"), `{"document_id":"d","text":"Ada"}`, nats.Header{"traceparent": {"x"}})
	w.onlyResult()

	e := told.one(t, 0)
	require.Equal(t, "chunks", e.message.Queue)
	require.Equal(t, "acme", e.message.Tenant)
	require.Equal(t, "weir.chunks.acme", e.message.Subject)
	require.Equal(t, 1, e.message.Delivery)
	require.Equal(t, []string{"x"}, e.message.Header["traceparent"])
	require.False(t, e.message.StoredAt.IsZero())
	require.Equal(t, "d", e.chunk.DocumentID)
	require.Equal(t, []consumer.Step{consumer.StepFind, consumer.StepPutBack}, e.steps)
	s := e.settled[0]
	require.True(t, s.PutBack)
	require.Equal(t, "rate_limit_refused", s.Outcome)
	require.Equal(t, 5*tick, s.Delay)
	require.False(t, s.Attempt)
	require.Same(t, refused, s.Err)

	e = told.one(t, 1)
	require.Equal(t, 2, e.message.Delivery)
	require.Equal(t, told.one(t, 0).message.ID(), e.message.ID())
	s = e.settled[0]
	require.Equal(t, "failed", s.Outcome)
	require.True(t, s.Attempt)
	require.Equal(t, 1, s.Attempts)

	e = told.one(t, 2)
	require.Equal(t, []consumer.Step{consumer.StepFind, consumer.StepStore, consumer.StepAck}, e.steps)
	require.Equal(t, consumer.Settlement{Outcome: "extracted", Done: true}, e.settled[0])
	require.Equal(t, []string{"weir.chunks.acme"}, []string(w.messages(w.names.ResultStream())[0].Header["came-of"]))
}

func TestAnObserverHearsOfDocumentsAndDeadLetters(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := &recorder{}
	w.start(always(extraction.ErrRefused), func(c *consumer.Config) { c.Observer = told })
	w.sendTo(w.names.DocumentSubject("acme"), "Ada met Charles.", nil)
	d := w.onlyDead()

	e := told.one(t, 0)
	require.Equal(t, "documents", e.message.Queue)
	require.Equal(t, []consumer.Step{consumer.StepSplit, consumer.StepSend, consumer.StepAck}, e.steps)
	require.Equal(t, "split", e.settled[0].Outcome)
	e = told.one(t, 1)
	require.Equal(t, []string{"weir.documents.acme"}, e.message.Header["came-of"])
	require.Equal(t, []consumer.Step{consumer.StepFind, consumer.StepSetAside, consumer.StepAck}, e.steps)
	s := e.settled[0]
	require.True(t, s.Done)
	require.Equal(t, "dead_refused", s.Outcome)
	require.Equal(t, "refused", s.Dead)
	require.True(t, s.Attempt)
	require.Equal(t, []string{"weir.chunks.acme"}, []string(d.msg.Header["came-of"]))
}

// Whoever reads the log can follow one chunk, and reads nothing of its text.
func TestLogsNameTheChunk(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing(errors.New("no such luck")), func(c *consumer.Config) {
		c.Logger = slog.New(slog.NewJSONHandler(w.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	w.send("acme", chunkJSON("d", 7, "Ada met Charles."))
	w.settled()
	lines := map[string]map[string]any{}
	require.Eventually(t, func() bool {
		dec := json.NewDecoder(strings.NewReader(w.log.String()))
		for {
			var line map[string]any
			if dec.Decode(&line) != nil {
				break
			}
			lines[line["msg"].(string)] = line
		}
		return lines["put back"] != nil && lines["done"] != nil
	}, patience, tick)
	for _, msg := range []string{"put back", "done"} {
		line := lines[msg]
		require.Equal(t, "acme", line["tenant"])
		require.Equal(t, "d", line["document"])
		require.EqualValues(t, 7, line["index"])
		require.Equal(t, extraction.ChunkID("d", 7, "Ada met Charles."), line["chunk_id"])
		require.Equal(t, "test", line["worker"])
		require.NotZero(t, line["sequence"])
	}
	require.EqualValues(t, 1, lines["put back"]["delivery"])
	require.EqualValues(t, 2, lines["done"]["delivery"])
	require.NotContains(t, w.log.String(), "Charles")
}
