package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Counts are what has happened to the chunks of a publication so far.
type Counts struct {
	Chunks    int `json:"chunks"`    // in all
	Existing  int `json:"existing"`  // had a result already and were not sent
	Sent      int `json:"sent"`      // stored by the stream
	Duplicate int `json:"duplicate"` // sent, but waiting in the stream already
	Done      int `json:"done"`      // have a result, Existing included
	Dead      int `json:"dead"`      // were dead-lettered
}

// Publisher sends a [Plan] and follows it.
type Publisher struct {
	js     jetstream.JetStream
	reader *Reader
	plan   *Plan
	tell   func(Counts)

	observer Observer

	counts  Counts
	resume  position
	pending map[chunkKey]pendingChunk
	// overtaken are pending chunks whose place holds another version's result, or
	// maybe that of an earlier copy.
	overtaken map[chunkKey]bool
}

// chunkKey is a chunk's place, which a result or dead letter names.
type chunkKey struct {
	document string
	index    int
}

// content tells the versions of a chunk apart. A document that has grown may
// have the same chunk as before, of more.
type content struct {
	id    string
	total int
}

// pendingChunk is a chunk that was sent and has not come back.
type pendingChunk struct {
	id       string
	sequence uint64 // in the chunk stream
	gone     bool   // has left the chunk stream
	copied   bool   // came after a copy that may have a result, too
}

// position is up to where results and dead letters have been read.
type position struct {
	results uint64
	dead    uint64
}

const (
	// maxInFlight bounds the chunks that are sent and not yet acknowledged.
	maxInFlight = 256
	// resendFor is how long a chunk is sent again when the server does not
	// answer: it may be restarting.
	resendFor  = 30 * time.Second
	resendWait = 500 * time.Millisecond
)

// New returns a publisher for plan. js stays the caller's. A Publisher is for
// one goroutine.
func New(js jetstream.JetStream, plan *Plan) (*Publisher, error) {
	if plan == nil {
		return nil, &ConfigError{"plan", "is required"}
	}
	reader, err := NewReader(js, plan.config.Names, plan.config.Tenant)
	if err != nil {
		return nil, err
	}
	return &Publisher{
		js: js, reader: reader, plan: plan, tell: func(Counts) {}, observer: unobserved{},
		counts:  Counts{Chunks: plan.Chunks},
		pending: map[chunkKey]pendingChunk{}, overtaken: map[chunkKey]bool{},
	}, nil
}

// Plan is what the publisher sends.
func (p *Publisher) Plan() *Plan { return p.plan }

// OnChange has tell called after every change of the counts, by the goroutine
// that called Send or Follow.
func (p *Publisher) OnChange(tell func(Counts)) { p.tell = tell }

// Counts says how far the publication is.
func (p *Publisher) Counts() Counts { return p.counts }

// Send sends every chunk of the plan that has no result yet and returns when
// the stream has stored them all. An error leaves the rest unsent; see
// [SendError].
func (p *Publisher) Send(ctx context.Context) error {
	existing, err := p.begin(ctx)
	if err != nil {
		return err
	}
	window := newWindow(p)
	defer window.abandon()
	sent := map[string]bool{}
	for _, source := range p.plan.sources {
		for item, err := range source.Documents() {
			if err != nil {
				return err
			}
			messages, planned, err := p.plan.prepare(item)
			if err != nil {
				return err
			}
			if sent[planned.ID] {
				continue
			}
			sent[planned.ID] = true
			if !p.plan.holds(planned) {
				return &InputError{Source: item.Source, Line: item.Line, Offset: -1, Reason: "has changed since it was checked: run the same command again"}
			}
			if err := p.sendDocument(ctx, window, planned, messages, existing); err != nil {
				return err
			}
		}
	}
	return window.drain(ctx)
}

// sendDocument hands over the chunks of one document that have no result yet.
func (p *Publisher) sendDocument(ctx context.Context, window *window, planned PlannedDocument, messages []message, existing map[chunkKey]content) error {
	inner, handed := p.observer.Document(ctx, planned)
	for _, m := range messages {
		if existing[chunkKey{m.chunk.DocumentID, m.chunk.Index}] == (content{m.chunk.ChunkID, m.chunk.Total}) {
			p.counts.Existing++
			p.counts.Done++
			p.tell(p.counts)
			continue
		}
		if err := window.send(inner, m); err != nil {
			handed(err)
			return err
		}
	}
	handed(nil)
	return nil
}

// holds reports whether planned is in the plan as it was checked.
func (p *Plan) holds(planned PlannedDocument) bool {
	checked, ok := p.byID[planned.ID]
	return ok && checked.sha256 == planned.sha256 && checked.Chunks == planned.Chunks
}

// begin notes where the streams end and returns what is in the places of
// results.
func (p *Publisher) begin(ctx context.Context) (map[chunkKey]content, error) {
	names := p.plan.config.Names
	for stream, last := range map[string]*uint64{names.ResultStream(): &p.resume.results, names.DeadStream(): &p.resume.dead} {
		sequence, err := lastSequence(ctx, p.js, stream)
		if err != nil {
			return nil, fmt.Errorf("stream %s: %w", stream, err)
		}
		*last = sequence
	}
	documents := make([]string, 0, len(p.plan.Documents))
	for _, d := range p.plan.Documents {
		documents = append(documents, d.ID)
	}
	existing := map[chunkKey]content{}
	for result, err := range p.reader.results(ctx, documents, 0) {
		if err != nil {
			return nil, err
		}
		existing[chunkKey{result.value.DocumentID, result.value.Index}] = content{result.value.ChunkID, result.value.Total}
	}
	return existing, nil
}

// window keeps a bounded number of chunks on their way.
type window struct {
	publisher *Publisher
	queue     *wire.ChunkQueue
	flying    []flight
}

type flight struct {
	message
	ack    jetstream.PubAckFuture
	stored func(duplicate bool, err error) // tells the observer
}

func newWindow(p *Publisher) *window {
	return &window{publisher: p, queue: p.plan.config.Names.NewChunkQueue(p.js, rand.Text())}
}

func (w *window) send(ctx context.Context, m message) error {
	if len(w.flying) >= maxInFlight {
		if err := w.land(ctx); err != nil {
			return err
		}
	}
	stored := w.publisher.observer.Chunk(ctx, m.chunk, len(m.msg.Data), m.msg.Header)
	ack, err := w.publisher.js.PublishMsgAsync(m.msg)
	if err != nil {
		ack = nil // landing sends it again
	}
	w.flying = append(w.flying, flight{m, ack, stored})
	return nil
}

func (w *window) drain(ctx context.Context) error {
	for len(w.flying) > 0 {
		if err := w.land(ctx); err != nil {
			return err
		}
	}
	return nil
}

// abandon tells the observer of chunks of which nobody will know whether they are
// stored, because an earlier one could not be sent.
func (w *window) abandon() {
	for _, f := range w.flying {
		f.stored(false, context.Canceled)
	}
	w.flying = nil
}

// land waits until the oldest chunk is stored.
func (w *window) land(ctx context.Context) error {
	f := w.flying[0]
	w.flying = w.flying[1:]
	stored, err := f.wait(ctx)
	if err != nil {
		stored, err = w.retry(ctx, err, func(ctx context.Context) (*jetstream.PubAck, error) {
			return w.publisher.js.PublishMsg(ctx, f.msg)
		})
	}
	copied := err == nil && stored.Duplicate
	if copied {
		stored, err = w.confirm(ctx, f.message, stored)
	}
	f.stored(err == nil && stored.Duplicate, err)
	if err != nil {
		return &SendError{DocumentID: f.chunk.DocumentID, Index: f.chunk.Index, Err: err}
	}
	w.publisher.landed(f.message, stored, copied && !stored.Duplicate)
	return nil
}

var errNotSent = errors.New("not sent")

func (f flight) wait(ctx context.Context) (*jetstream.PubAck, error) {
	if f.ack == nil {
		return nil, errNotSent
	}
	timeout := time.NewTimer(resendFor)
	defer timeout.Stop()
	select {
	case stored := <-f.ack.Ok():
		return stored, nil
	case err := <-f.ack.Err():
		return nil, err
	case <-timeout.C:
		return nil, nats.ErrTimeout
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// confirm sees to a chunk that the stream took for a copy of an earlier one.
func (w *window) confirm(ctx context.Context, m message, stored *jetstream.PubAck) (*jetstream.PubAck, error) {
	confirm := func(ctx context.Context) (*jetstream.PubAck, error) { return w.queue.Confirm(ctx, m.msg, stored) }
	confirmed, err := confirm(ctx)
	if err != nil {
		return w.retry(ctx, err, confirm)
	}
	return confirmed, nil
}

// retry does again what failed with first until it succeeds, the stream refuses
// or the patience is over. The message id makes a second copy harmless.
func (w *window) retry(ctx context.Context, first error, do func(context.Context) (*jetstream.PubAck, error)) (*jetstream.PubAck, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, resendFor, first)
	defer cancel()
	for last := first; ; {
		if _, refused := errors.AsType[*jetstream.APIError](last); refused {
			return nil, last
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(resendWait):
		}
		stored, err := do(ctx)
		if err == nil {
			return stored, nil
		}
		if ctx.Err() == nil {
			last = err
		}
	}
}

// landed counts a chunk that waits in the stream.
func (p *Publisher) landed(m message, stored *jetstream.PubAck, copied bool) {
	p.counts.Sent++
	if stored.Duplicate {
		p.counts.Duplicate++
		p.resume.dead = 0 // its dead letter may have been written before this began
	}
	p.pending[chunkKey{m.chunk.DocumentID, m.chunk.Index}] = pendingChunk{id: m.chunk.ChunkID, sequence: stored.Sequence, copied: copied}
	p.tell(p.counts)
}
