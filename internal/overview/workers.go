package overview

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// Worker is what a worker says of itself, every 20 seconds; counts are since its
// start.
type Worker struct {
	Worker    string    `json:"worker"`
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	At        time.Time `json:"at"`
	State     string    `json:"state"` // consuming, waiting, paused, draining or stopped
	Slots     int       `json:"slots"`
	InFlight  int       `json:"in_flight"`
	Lanes     int       `json:"lanes"`
	Circuit   string    `json:"circuit"`
	Calls     uint64    `json:"calls"`
	Results   uint64    `json:"results"`
	Dead      uint64    `json:"dead"`
	Nak       uint64    `json:"nak"`

	// The limits of tenants that have none of their own, as its flags have them; 0 is
	// no limit, or not told.
	RPM      int64 `json:"rpm,omitempty"`
	WindowMS int64 `json:"window_ms,omitempty"`
	TPM      int64 `json:"tpm,omitempty"`
}

// lookAtWorkers reads who is alive. An entry that makes no sense is left out.
func (r *Reader) lookAtWorkers(ctx context.Context) error {
	reading, err := r.workersBucket.Look(ctx)
	if err != nil {
		return &ReadError{"bucket of the workers", err}
	}
	if !reading.Fresh {
		return nil
	}
	r.workers = r.workers[:0:0]
	for _, got := range reading.Entries {
		var w Worker
		if json.Unmarshal(got.Value, &w) == nil && w.Worker != "" {
			r.workers = append(r.workers, w)
		}
	}
	slices.SortFunc(r.workers, func(a, b Worker) int { return strings.Compare(a.Worker, b.Worker) })
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
