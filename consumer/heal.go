package consumer

import (
	"context"
	"fmt"
	"time"

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

// ensure creates what is missing, but for lanes, which are made when somebody
// pulls from them, and points the puller of documents at its consumer.
func (w *Worker) ensure(ctx context.Context) (created []string, err error) {
	names := w.cfg.Names
	if created, err = wire.EnsureCreated(ctx, w.js, names); err != nil {
		return created, err
	}
	config := names.DocumentConsumerConfig(w.cfg.AckWait)
	documents, missing, err := wire.EnsureConsumer(ctx, w.js, names.DocumentStream(), config)
	if err != nil {
		return created, err
	}
	if missing {
		created = append(created, fmt.Sprintf("consumer %s", config.Durable))
	}
	w.documents.use(documents)
	retired, err := wire.RetireShared(ctx, w.js, names, &w.shared, time.Now())
	if retired {
		w.log.Warn("removed the consumer that an earlier version shared", "consumer", names.ChunkConsumer())
	}
	return created, err
}
