package consumer

import (
	"context"
	"fmt"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// handleDocument splits one raw document. A nil error means that every one of
// its chunks is in the queue.
func (w *Worker) handleDocument(ctx context.Context, d delivery) (outcome string, err error) {
	tenant, err := w.names.Tenant(d.msg.Subject)
	if err != nil {
		return "", err
	}
	_, cut := w.observer.Step(ctx, StepSplit)
	chunks, err := w.split(d, tenant)
	cut(err)
	if err != nil {
		return "", err
	}
	sending, sent := w.observer.Step(ctx, StepSend)
	err = w.sendChunks(sending, d, chunks)
	sent(err)
	if err != nil {
		return "", err
	}
	return outcomeSplit, nil
}

// sendChunks returns when the stream has them all.
func (w *Worker) sendChunks(ctx context.Context, d delivery, chunks []*nats.Msg) error {
	queue := w.names.NewChunkQueue(w.js, d.id())
	for len(chunks) > 0 {
		n := min(len(chunks), publishWindow)
		if err := w.publishChunks(ctx, queue, chunks[:n]); err != nil {
			return err
		}
		chunks = chunks[n:]
	}
	return nil
}

// publishWindow bounds what is published and not yet acknowledged.
const publishWindow = 128

// split makes all messages before the first is sent: a document with a chunk
// that cannot be sent is refused as a whole.
func (w *Worker) split(d delivery, tenant string) (messages []*nats.Msg, err error) {
	defer recovered(&err)
	doc, err := wire.DecodeDocument(d.msg.Header, d.msg.Data)
	if err != nil {
		return nil, err
	}
	chunks, err := w.cfg.Splitter.Split(doc)
	if err != nil {
		return nil, err
	}
	maxPayload := w.js.Conn().MaxPayload()
	for _, c := range chunks {
		body, err := wire.EncodeChunk(c)
		if err != nil {
			return nil, err
		}
		msg, err := w.names.NewChunkMessage(tenant, c.ChunkID, body, maxPayload)
		if err != nil {
			return nil, fmt.Errorf("chunk %d of %d: %w", c.Index, c.Total, err)
		}
		messages = append(messages, msg)
	}
	return messages, nil
}

// publishChunks returns when the stream has every message. A document that is
// delivered again publishes them again, under the same ids.
func (w *Worker) publishChunks(ctx context.Context, queue *wire.ChunkQueue, messages []*nats.Msg) error {
	acks := make([]jetstream.PubAckFuture, len(messages))
	for i, msg := range messages {
		w.observer.Sends(ctx, msg.Header)
		ack, err := w.js.PublishMsgAsync(msg, jetstream.WithExpectStream(w.names.ChunkStream()))
		if err != nil {
			return &storeError{"publish chunk", err}
		}
		acks[i] = ack
	}
	for i, ack := range acks {
		if err := confirm(ctx, queue, messages[i], ack); err != nil {
			return &storeError{"publish chunk", err}
		}
	}
	return nil
}

// confirm returns when the stream has msg. Each message has time of its own: those of a
// document that comes again take several requests each, one after another, and a limit for
// all of them would be met again each time it comes.
func confirm(ctx context.Context, queue *wire.ChunkQueue, msg *nats.Msg, ack jetstream.PubAckFuture) error {
	ctx, cancel := context.WithTimeout(ctx, 2*opTimeout)
	defer cancel()
	select {
	case stored := <-ack.Ok():
		_, err := queue.Confirm(ctx, msg, stored)
		return err
	case err := <-ack.Err():
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
