package publish

import (
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

const (
	// maxInFlight bounds the chunks that are sent and not yet acknowledged.
	maxInFlight = 256
	// resendFor is how long a chunk is sent again when the server does not
	// answer: it may be restarting.
	resendFor  = 30 * time.Second
	resendWait = 500 * time.Millisecond
)

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
