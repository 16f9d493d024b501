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
	js     jetstream.JetStream
	names  wire.Names
	stream jetstream.Stream // a handle by name: stays good when the stream is made anew
}

func openResults(ctx context.Context, js jetstream.JetStream, names wire.Names) (results, error) {
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	stream, err := js.Stream(ctx, names.ResultStream())
	if err != nil {
		return results{}, fmt.Errorf("stream %s: %w", names.ResultStream(), err)
	}
	return results{js, names, stream}, nil
}

// stored is what is at a chunk's place.
type stored struct {
	revision uint64 // 0 if nothing is there
	chunkID  string
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
		found.chunkID = result.ChunkID
		found.origin, _ = time.Parse(time.RFC3339Nano, msg.Header.Get(wire.HeaderOriginTime))
	}
	return found, nil
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
	msg := &nats.Msg{
		Subject: r.names.ResultSubject(result.TenantID, result.DocumentID, result.Index),
		Header:  nats.Header{wire.HeaderOriginTime: {origin.UTC().Format(time.RFC3339Nano)}},
		Data:    body,
	}
	var last error
	for range storeTries {
		octx, cancel := context.WithTimeout(ctx, opTimeout)
		_, err := r.js.PublishMsg(octx, msg, jetstream.WithExpectStream(r.names.ResultStream()),
			jetstream.WithExpectLastSequencePerSubject(before.revision))
		cancel()
		switch {
		case err == nil:
			return nil
		case errors.Is(err, nats.ErrMaxPayload):
			return &extraction.ProviderError{Kind: extraction.KindMalformed,
				Detail: fmt.Sprintf("the result of %d bytes does not pass the NATS server's max_payload of %d", len(body), r.js.Conn().MaxPayload())}
		}
		last = err
		// Whether the server refused or only its answer got lost: look again.
		before, err = r.find(ctx, result.TenantID, c)
		switch {
		case err == nil && before.answers(c, origin):
			return nil
		case err != nil:
			last = err
		}
	}
	return &storeError{"store result", last}
}
