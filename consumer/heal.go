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

// wait returns after d or a poke, and reports whether ctx is still there.
func (h healer) wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-h.wake:
	}
	return ctx.Err() == nil
}

// keepHealthy recreates streams, buckets and consumers that somebody deleted
// while the worker runs.
func (w *Worker) keepHealthy(ctx context.Context) {
	complained := ""
	var starved hunger
	var refused refusals
	for w.heal.wait(ctx, time.Duration(float64(healEvery)*(0.8+0.4*w.cfg.Rand()))) {
		if w.js.Conn().IsConnected() {
			err := w.mend(ctx, &refused, &starved)
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

// mend creates what is missing, and returns what keeps the worker from working none the
// less.
func (w *Worker) mend(ctx context.Context, refused *refusals, starved *hunger) (err error) {
	missing, regained := refused.look(ctx, w)
	var created []string
	if !refused.mute { // else nothing would be answered
		created, err = w.ensureAll(ctx)
	}
	for _, object := range created {
		w.log.Warn("was missing and has been created again", "object", object)
	}
	if regained {
		w.chunks.hope()
	}
	hungry := starved.look(w.Status().Outcomes, time.Now())
	switch {
	case missing != nil:
		return missing
	case err == nil && hungry:
		return w.starved()
	}
	return err
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
