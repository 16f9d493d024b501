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
	// storesTimeout is how long stores that do not answer may keep the worker
	// from looking after the rest.
	storesTimeout = 10 * time.Second
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
	var starved hunger
	var refused refusals
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
			missing, regained := refused.look(ctx, w)
			var created []string
			var err error
			if !refused.mute { // else nothing would be answered
				created, err = w.ensureAll(ctx)
			}
			if hungry := starved.look(w.Status().Outcomes, time.Now()); hungry && err == nil {
				err = w.starved()
			}
			for _, object := range created {
				w.log.Warn("was missing and has been created again", "object", object)
			}
			if missing != nil {
				err = missing
			}
			if regained {
				w.chunks.hope()
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

// ensureAll creates what is missing on the server and of the stores: one may
// be in order while the other is not.
func (w *Worker) ensureAll(ctx context.Context) (created []string, err error) {
	created, err = w.ensure(ctx)
	if w.cfg.EnsureStores == nil {
		return created, err
	}
	limited, cancel := context.WithTimeout(ctx, storesTimeout)
	defer cancel()
	more, storeErr := w.cfg.EnsureStores(limited)
	switch {
	case storeErr == nil:
	case err == nil:
		err = fmt.Errorf("shared state: %w", storeErr)
	default:
		err = fmt.Errorf("%w; shared state: %w", err, storeErr)
	}
	return append(created, more...), err
}

// starvedError is a store that is there but does not do, such as one that is full.
type starvedError struct{ err error }

func (e *starvedError) Error() string {
	return "what chunks come to cannot be stored, and they are put back: " + e.err.Error()
}
func (e *starvedError) Unwrap() error { return e.err }

// hunger notices that store after store fails and nothing else happens.
type hunger struct {
	failed, others uint64 // deliveries at the last look
	looks          int    // that found failures, and nothing else since the first
	last           time.Time
}

// hungerLasts is for how long a failure is believed after which nothing happens at
// all: longer than a worker waits before it tries again, and than a try takes.
const hungerLasts = 3 * storeDelayMost

// look reports whether at two looks deliveries had been put back because of a store,
// and nothing else has become of any since.
func (h *hunger) look(outcomes map[string]uint64, now time.Time) bool {
	failed, others := outcomes[outcomeStoreUnavailable], uint64(0)
	for _, n := range outcomes {
		others += n
	}
	others -= failed
	if others != h.others || now.Sub(h.last) > hungerLasts {
		h.looks = 0
	}
	if failed > h.failed && others == h.others {
		h.looks, h.last = h.looks+1, now
	}
	h.failed, h.others = failed, others
	return h.looks >= 2
}

func (w *Worker) starved() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return &starvedError{w.unstored}
}

// ensure creates what is missing, but for lanes, which are made when somebody
// pulls from them, and points the puller of documents at its consumer.
func (w *Worker) ensure(ctx context.Context) (created []string, err error) {
	names := w.names
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
