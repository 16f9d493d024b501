package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// results stores each chunk's result exactly once. The place of a result is its
// subject, one per tenant, document and index; whoever writes there says what
// he believes to be there, and the stream refuses him if he is wrong.
type results struct {
	js       jetstream.JetStream
	names    wire.Names
	stream   jetstream.Stream // a handle by name: stays good when the stream is made anew
	observer Observer

	seen *sights
}

func openResults(ctx context.Context, js jetstream.JetStream, names wire.Names, observer Observer) (results, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, names.ResultStream())
	if err != nil {
		return results{}, fmt.Errorf("stream %s: %w", names.ResultStream(), err)
	}
	return results{js, names, stream, observer, &sights{}}, nil
}

// stored is what is at a chunk's place.
type stored struct {
	revision uint64 // 0 if nothing is there
	chunkID  string
	total    int
	body     []byte
	origin   time.Time // when the chunk it came from was accepted; zero if unknown
}

// answers reports whether c needs no extraction: its own result is there, or
// that of a later version of the document.
func (s stored) answers(c extraction.Chunk, origin time.Time) bool {
	return s.revision != 0 && (s.chunkID == c.ChunkID || s.origin.After(origin))
}

// find looks at the chunk's place.
func (r results) find(ctx context.Context, tenant string, c extraction.Chunk) (stored, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	msg, err := r.stream.GetLastMsgForSubject(ctx, r.names.ResultSubject(tenant, c.DocumentID, c.Index))
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return stored{}, nil
	}
	if err != nil {
		return stored{}, &storeError{"look for result", err}
	}
	found := stored{revision: msg.Sequence}
	if result, err := wire.DecodeResult(msg.Data); err == nil { // anything else is replaced
		found.chunkID, found.total, found.body = result.ChunkID, result.Total, msg.Data
		found.origin, _ = time.Parse(time.RFC3339Nano, msg.Header.Get(wire.HeaderOriginTime))
	}
	return found, nil
}

// answered looks whether c needs no extraction. A result of c that came from an
// earlier copy is marked as that of the later one: otherwise another version of
// the document that was accepted in between, and is still being worked on, would
// replace it, although it was put back since. The document may also have grown.
func (r results) answered(ctx context.Context, tenant string, c extraction.Chunk, origin time.Time) (stored, bool, error) {
	var last error
	for range storeTries {
		found, err := r.find(ctx, tenant, c)
		if err != nil {
			return stored{}, false, err
		}
		if !found.answers(c, origin) {
			return found, false, nil
		}
		if !origin.After(found.origin) {
			return found, true, nil
		}
		body := found.body
		if found.total != c.Total {
			if body, err = withTotal(body, c.Total); err != nil {
				return stored{}, false, err
			}
		}
		if last = r.put(ctx, r.names.ResultSubject(tenant, c.DocumentID, c.Index), body, origin, found.revision); last == nil {
			return found, true, nil
		}
	}
	return stored{}, false, &storeError{"mark result", last}
}

func withTotal(body []byte, total int) ([]byte, error) {
	result, err := wire.DecodeResult(body)
	if err != nil {
		return nil, err
	}
	result.Total = total
	return wire.EncodeResult(result)
}

// put writes a result if the revision of its place is what it should be.
func (r results) put(ctx context.Context, subject string, body []byte, origin time.Time, revision uint64) error {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	msg := &nats.Msg{Subject: subject, Header: nats.Header{wire.HeaderOriginTime: {origin.UTC().Format(time.RFC3339Nano)}}, Data: body}
	r.observer.Sends(ctx, msg.Header)
	_, err := r.js.PublishMsg(ctx, msg, jetstream.WithExpectStream(r.names.ResultStream()), jetstream.WithExpectLastSequencePerSubject(revision))
	return err
}

// storeTries bounds both lost races and a server that does not answer. Trying
// again here is cheaper than asking the model again.
const storeTries = 4

// store writes the result where before was found. It returns without writing if
// somebody else stored a result that answers the chunk.
func (r results) store(ctx context.Context, before stored, c extraction.Chunk, result wire.Result, origin time.Time) error {
	body, err := wire.EncodeResult(result)
	if err != nil {
		return fmt.Errorf("encode result: %w", err)
	}
	subject := r.names.ResultSubject(result.TenantID, result.DocumentID, result.Index)
	var last error
	for range storeTries {
		err := r.put(ctx, subject, body, origin, before.revision)
		switch {
		case err == nil:
			return nil
		case tooLarge(err) && len(result.Excerpts) > 0:
			// The context of evidence may be missing; a fact may not.
			result.Excerpts = nil
			if body, err = wire.EncodeResult(result); err != nil {
				return fmt.Errorf("encode result: %w", err)
			}
			last = nats.ErrMaxPayload
			continue
		case tooLarge(err):
			return &extraction.ProviderError{Kind: extraction.KindMalformed,
				Detail: fmt.Sprintf("the result of %d bytes is larger than max_payload of the NATS server (%d) or max_msg_size of stream %s", len(body), r.js.Conn().MaxPayload(), r.names.ResultStream())}
		}
		last = err
		// Whether the server refused or only its answer got lost: look again.
		now, answered, err := r.answered(ctx, result.TenantID, c, origin)
		switch {
		case err != nil:
			last = err
		case answered:
			return nil
		default:
			before = now
		}
	}
	return &storeError{"store result", last}
}

// tooLarge reports whether a message is larger than the server or the stream takes.
func tooLarge(err error) bool {
	const maxMsgSize = 10054 // error code of JetStream
	refused, ok := errors.AsType[*jetstream.APIError](err)
	return errors.Is(err, nats.ErrMaxPayload) || ok && refused.ErrorCode == maxMsgSize
}
