package wire

import (
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

// ForeignDuplicate looks at a chunk that its stream did not store because a
// message with the same id came shortly before. The id of a chunk does not tell
// tenants apart, so that may have been the same chunk of another tenant. If so,
// or if it cannot be told any more, the answer is the message to publish
// instead; publishing one copy too many is harmless, because a chunk whose
// result exists is settled at once. nil means that the chunk is in its queue.
func (n Names) ForeignDuplicate(ctx context.Context, js jetstream.JetStream, msg *nats.Msg, ack *jetstream.PubAck) (*nats.Msg, error) {
	if !ack.Duplicate {
		return nil, nil
	}
	stream, err := js.Stream(ctx, n.ChunkStream())
	if err != nil {
		return nil, err
	}
	stored, err := stream.GetMsg(ctx, ack.Sequence)
	switch {
	case err == nil && stored.Subject == msg.Subject:
		return nil, nil
	case err != nil && !errors.Is(err, jetstream.ErrMsgNotFound):
		return nil, err
	}
	again := &nats.Msg{Subject: msg.Subject, Data: msg.Data, Header: maps.Clone(msg.Header)}
	again.Header.Set(nats.MsgIdHdr, msg.Header.Get(nats.MsgIdHdr)+"@"+msg.Subject)
	return again, nil
}
