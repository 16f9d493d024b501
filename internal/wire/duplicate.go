package wire

import (
	"bytes"
	"context"
	"errors"
	"maps"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// NewChunkMessage is the message that carries a chunk, with its id as
// Nats-Msg-Id. It refuses, as an [*InvalidMessageError] or a [*TooLargeError],
// what could not be published.
func (n Names) NewChunkMessage(tenant, chunkID string, body []byte, maxPayload int64) (*nats.Msg, error) {
	msg := &nats.Msg{Subject: n.ChunkSubject(tenant), Data: body, Header: nats.Header{nats.MsgIdHdr: {chunkID}}}
	if err := CheckSize(msg, maxPayload); err != nil {
		return nil, err
	}
	return msg, nil
}

// ChunkQueue sees to it that chunks really are in their queue. It is for one
// goroutine.
type ChunkQueue struct {
	js      jetstream.JetStream
	names   Names
	attempt string
	stream  jetstream.Stream // once it was needed
}

// NewChunkQueue returns a queue for one attempt to publish. attempt is a string
// that no other attempt has; one that is repeated after a failure keeps it.
func (n Names) NewChunkQueue(js jetstream.JetStream, attempt string) *ChunkQueue {
	return &ChunkQueue{js: js, names: n, attempt: attempt}
}

// Confirm is called with the stream's answer to msg. If the stream dropped it,
// because a message with the same id came within the last minutes, that one may
// have been another tenant's, or may have been worked on already and been
// replaced by another version of the document since. Then msg is published
// again, under other ids. The answer that is returned says where the chunk
// waits; its Duplicate says that it waited there before.
//
// One copy too many is harmless: a chunk whose result is the newest is settled
// without a call of the model.
func (q *ChunkQueue) Confirm(ctx context.Context, msg *nats.Msg, ack *jetstream.PubAck) (*jetstream.PubAck, error) {
	shared := msg.Header.Get(nats.MsgIdHdr) + "@" + msg.Subject
	own := shared + "@" + q.attempt
	for _, id := range []string{shared, own} {
		if !ack.Duplicate {
			return ack, nil
		}
		waits, err := q.waits(ctx, msg, ack.Sequence)
		if err != nil || waits {
			return ack, err
		}
		again := &nats.Msg{Subject: msg.Subject, Data: msg.Data, Header: maps.Clone(msg.Header)}
		again.Header.Set(nats.MsgIdHdr, id)
		if ack, err = q.js.PublishMsg(ctx, again, jetstream.WithExpectStream(q.names.ChunkStream())); err != nil {
			return nil, err
		}
	}
	// Nobody else has the last id: a duplicate of it is this attempt's own, whose
	// answer was lost.
	return ack, nil
}

// waits reports whether the message stored under sequence is the same as msg,
// ids apart, and still there.
func (q *ChunkQueue) waits(ctx context.Context, msg *nats.Msg, sequence uint64) (bool, error) {
	if q.stream == nil {
		stream, err := q.js.Stream(ctx, q.names.ChunkStream())
		if err != nil {
			return false, err
		}
		q.stream = stream
	}
	stored, err := q.stream.GetMsg(ctx, sequence)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return stored.Subject == msg.Subject && bytes.Equal(stored.Data, msg.Data), nil
}
