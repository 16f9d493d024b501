package overview

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Worker is what a worker says of itself every few seconds.
type Worker = wire.WorkerState

// lookAtWorkers reads who is alive. An entry that makes no sense is left out.
func (r *Reader) lookAtWorkers(ctx context.Context) error {
	reading, err := r.workersBucket.Look(ctx)
	if err != nil {
		return &ReadError{"bucket " + r.names.WorkersBucket(), err}
	}
	if !reading.Fresh {
		return nil
	}
	r.workers = r.workers[:0:0]
	for _, got := range reading.Entries {
		if w, err := wire.DecodeWorkerState(got.Value); err == nil && w.Worker != "" {
			r.workers = append(r.workers, w)
		}
	}
	slices.SortFunc(r.workers, func(a, b Worker) int {
		return cmp.Or(strings.Compare(a.Worker, b.Worker), a.StartedAt.Compare(b.StartedAt))
	})
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

// DifferentLimits are the limits that workers were started with, each with a worker
// that has them: more than one if the workers of a fleet do not agree. Workers that
// have stopped do not count.
func DifferentLimits(workers []Worker) []string {
	type limits struct{ rpm, window, tpm int64 }
	seen := map[limits]bool{}
	var all []string
	for _, w := range workers {
		own := limits{w.RPM, w.WindowMS, w.TPM}
		if w.State == "stopped" || seen[own] {
			continue
		}
		seen[own] = true
		var parts []string
		if w.RPM > 0 {
			parts = append(parts, fmt.Sprintf("%d calls", w.RPM))
		}
		if w.TPM > 0 {
			parts = append(parts, fmt.Sprintf("%d tokens", w.TPM))
		}
		text := w.Worker + " without limits"
		if len(parts) > 0 {
			text = fmt.Sprintf("%s %s per %s", w.Worker, strings.Join(parts, " and "), time.Duration(w.WindowMS)*time.Millisecond)
		}
		all = append(all, text)
	}
	return all
}
