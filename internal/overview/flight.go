package overview

import (
	"context"
	"errors"
	"sync"

	"github.com/nats-io/nats.go/jetstream"
)

// atOnce is how many requests are on their way at a time.
const atOnce = 16

// countFlight asks the lanes of the listed tenants what is out.
func (r *Reader) countFlight(ctx context.Context, tenants []*row) error {
	if r.chunks.consumers == 0 {
		return nil // no lane: nobody has been given anything
	}
	var waiting []*row
	for _, t := range tenants {
		if t.Waiting > 0 {
			waiting = append(waiting, t)
		}
	}
	return inParallel(ctx, waiting, func(ctx context.Context, t *row) error {
		lane, err := r.js.Consumer(ctx, r.names.ChunkStream(), r.names.Lane(t.token))
		if errors.Is(err, jetstream.ErrConsumerNotFound) {
			return nil // made when somebody pulls
		}
		if err != nil {
			return &ReadError{"consumer " + r.names.Lane(t.token), err}
		}
		t.InFlight = lane.CachedInfo().NumAckPending
		return nil
	})
}

// inParallel does something for every item, some at a time, until one fails.
func inParallel(ctx context.Context, items []*row, do func(context.Context, *row) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan *row)
	var workers sync.WaitGroup
	for range min(atOnce, len(items)) {
		workers.Go(func() {
			for t := range next {
				if err := do(ctx, t); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
feeding:
	for _, t := range items {
		select {
		case next <- t:
		case <-ctx.Done():
			break feeding
		}
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}
