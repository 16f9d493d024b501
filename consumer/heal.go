package consumer

import (
	"context"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

const (
	// healEvery is how often the worker looks whether everything that it needs
	// still exists.
	healEvery = 5 * time.Second
	// healAtMost bounds how often it looks when something went wrong.
	healAtMost = 500 * time.Millisecond
)

// healer wakes the loop that recreates what was deleted.
type healer struct{ wake chan struct{} }

func newHealer() healer { return healer{make(chan struct{}, 1)} }

// poke asks for a look soon. It never blocks.
func (h healer) poke() {
	select {
	case h.wake <- struct{}{}:
	default:
	}
}

// keepHealthy recreates streams, buckets and consumers that somebody deleted
// while the worker runs.
func (w *Worker) keepHealthy(ctx context.Context) {
	complained := ""
	for {
		timer := time.NewTimer(time.Duration(float64(healEvery) * (0.8 + 0.4*w.cfg.Rand())))
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-w.heal.wake:
		}
		timer.Stop()
		if ctx.Err() != nil {
			return
		}
		if w.js.Conn().IsConnected() {
			created, err := w.ensure(ctx)
			for _, object := range created {
				w.log.Warn("was missing and has been created again", "object", object)
			}
			w.setProblem(err)
			switch {
			case ctx.Err() != nil:
			case err == nil:
				complained = ""
			case err.Error() != complained:
				complained = err.Error()
				w.log.Error("cannot work as things are", "error", complained)
			}
		}
		if !sleep(ctx, healAtMost) {
			return
		}
	}
}

// ensure creates what is missing and points the pullers at their consumers.
func (w *Worker) ensure(ctx context.Context) (created []string, err error) {
	names := w.cfg.Names
	if created, err = wire.EnsureCreated(ctx, w.js, names); err != nil {
		return created, err
	}
	for _, c := range []struct {
		puller *puller
		stream string
		config func(time.Duration) jetstream.ConsumerConfig
	}{
		{w.chunks, names.ChunkStream(), names.ChunkConsumerConfig},
		{w.documents, names.DocumentStream(), names.DocumentConsumerConfig},
	} {
		config := c.config(w.cfg.AckWait)
		consumer, missing, err := wire.EnsureConsumer(ctx, w.js, c.stream, config)
		if err != nil {
			return created, err
		}
		if missing {
			created = append(created, fmt.Sprintf("consumer %s", config.Durable))
		}
		c.puller.use(consumer)
	}
	return created, nil
}
