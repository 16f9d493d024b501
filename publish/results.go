package publish

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Reader reads what the fleet has done for one tenant. It leaves out what is no
// result, see [Reader.Strays]. It is safe for concurrent use.
type Reader struct {
	js     jetstream.JetStream
	names  wire.Names
	tenant string
	strays strays
}

// NewReader returns a reader; js stays the caller's.
func NewReader(js jetstream.JetStream, names wire.Names, tenant string) (*Reader, error) {
	switch {
	case js == nil:
		return nil, &ConfigError{"jetstream", "is required"}
	case tenant == "":
		return nil, &ConfigError{"tenant", "must not be empty"}
	}
	return &Reader{js: js, names: names, tenant: tenant}, nil
}

// stored is one message and its place in its stream.
type stored[T any] struct {
	value    T
	sequence uint64
	// accepted is when the fleet was given the chunk: of two versions of a
	// document the later one counts.
	accepted time.Time
}

// results yields the results of documents (all for none) from a sequence on.
func (r *Reader) results(ctx context.Context, documents []string, from uint64) iter.Seq2[stored[wire.Result], error] {
	return func(yield func(stored[wire.Result], error) bool) {
		for filters := range r.filters(documents) {
			for msg, err := range readStream(ctx, r.js, r.names.ResultStream(), filters, from) {
				if err != nil {
					yield(stored[wire.Result]{}, fmt.Errorf("read results: %w", err))
					return
				}
				result, err := decodeResult(msg)
				if stray, ok := errors.AsType[*strayError](err); ok {
					r.strays.add(msg, stray.sequence, stray.err)
					continue
				}
				if !yield(result, err) || err != nil {
					return
				}
			}
		}
	}
}

// filters selects the results of documents, all for none, in groups that one
// consumer can take.
func (r *Reader) filters(documents []string) iter.Seq[[]string] {
	return func(yield func([]string) bool) {
		if len(documents) == 0 {
			yield([]string{r.names.ResultFilter(r.tenant, "")})
			return
		}
		for group := range slices.Chunk(documents, maxFilters) {
			filters := make([]string, 0, len(group))
			for _, document := range group {
				filters = append(filters, r.names.ResultFilter(r.tenant, document))
			}
			if !yield(filters) {
				return
			}
		}
	}
}

func decodeResult(msg jetstream.Msg) (stored[wire.Result], error) {
	meta, err := msg.Metadata()
	if err != nil {
		return stored[wire.Result]{}, err
	}
	result, err := wire.DecodeResult(msg.Data())
	if err != nil {
		return stored[wire.Result]{}, &strayError{meta.Sequence.Stream, err}
	}
	accepted, err := time.Parse(time.RFC3339Nano, msg.Headers().Get(wire.HeaderOriginTime))
	if err != nil {
		accepted = result.StartedAt // written by another client, without the header
	}
	return stored[wire.Result]{result, meta.Sequence.Stream, accepted}, nil
}

// Dead is one dead letter, with what is known of the chunk in it.
type Dead struct {
	wire.DeadLetter
	DocumentID string `json:"document_id,omitempty"` // empty if the message is not a chunk
	ChunkID    string `json:"chunk_id,omitempty"`
	Index      int    `json:"index"`
	Total      int    `json:"total,omitempty"`
}

// deadLetters yields the tenant's dead letters from a sequence on.
func (r *Reader) deadLetters(ctx context.Context, from uint64) iter.Seq2[stored[Dead], error] {
	return func(yield func(stored[Dead], error) bool) {
		filter := []string{r.names.DeadSubject(r.tenant)}
		for msg, err := range readStream(ctx, r.js, r.names.DeadStream(), filter, from) {
			if err != nil {
				yield(stored[Dead]{}, fmt.Errorf("read dead letters: %w", err))
				return
			}
			meta, err := msg.Metadata()
			if err != nil {
				yield(stored[Dead]{}, err)
				return
			}
			letter, err := wire.ParseDeadLetter(msg.Headers())
			if err != nil {
				continue // somebody else's message: not a dead letter of the fleet
			}
			if !yield(stored[Dead]{identify(r.names, r.tenant, letter, &nats.Msg{Header: msg.Headers(), Data: msg.Data()}), meta.Sequence.Stream, letter.FailedAt}, nil) {
				return
			}
		}
	}
}

// identify adds whose chunk it was, as far as the body tells.
func identify(names wire.Names, tenant string, letter wire.DeadLetter, msg *nats.Msg) Dead {
	dead := Dead{DeadLetter: letter}
	document := letter.OriginSubject == names.DocumentSubject(tenant)
	body, cut, err := wire.DeadLetterBody(msg, wire.MaxUnpackedBytes)
	if document { // one that cannot be read has a name, too
		dead.DocumentID = wire.GivenDocumentID(msg.Header, body)
	}
	if err != nil || cut {
		return dead
	}
	var chunk extraction.Chunk
	if document {
		doc, err := wire.DecodeDocument(msg.Header, body)
		if err != nil {
			return dead
		}
		chunk.DocumentID = doc.ID
	} else if chunk, err = wire.DecodeChunk(body); err != nil {
		return dead
	}
	dead.DocumentID, dead.ChunkID, dead.Index, dead.Total = chunk.DocumentID, chunk.ChunkID, chunk.Index, chunk.Total
	return dead
}
