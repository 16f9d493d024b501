package overview

import (
	"context"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Worker is what a worker says of itself every few seconds.
type Worker = wire.WorkerState

// Disagreement is a setting with which not all workers were started.
type Disagreement = alive.Disagreement

// lookAtWorkers reads who is alive.
func (r *Reader) lookAtWorkers(ctx context.Context) error {
	reading, err := r.workersBucket.Look(ctx)
	if err != nil {
		return &ReadError{"bucket " + r.names.WorkersBucket(), err}
	}
	if !reading.Fresh {
		return nil
	}
	r.workers, r.strangers = alive.States(reading.Entries)
	return nil
}

// base are the limits of tenants that have none of their own: those of the worker
// that was started last.
func (r *Reader) base() resilience.Limits {
	var newest Worker
	for _, w := range r.workers {
		if w.RPM+w.WindowMS+w.TPM > 0 && w.StartedAt.After(newest.StartedAt) {
			newest = w
		}
	}
	return resilience.Limits{Requests: newest.RPM, Window: time.Duration(newest.WindowMS) * time.Millisecond, Tokens: newest.TPM}
}
