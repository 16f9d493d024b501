package publish

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"
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
