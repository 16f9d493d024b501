package consumer

import (
	"maps"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
)

// Status is how a worker is doing at one moment.
type Status struct {
	Connected bool   `json:"connected"`         // to a NATS server
	Consuming bool   `json:"consuming"`         // both queues answer
	Draining  bool   `json:"draining"`          // told to stop
	Problem   string `json:"problem,omitempty"` // what keeps it from working

	Concurrency     int `json:"concurrency"`
	ChunksInHand    int `json:"chunks_in_hand"`
	DocumentsInHand int `json:"documents_in_hand"`

	// TenantsReady are tenants that this worker knows to have chunks which it
	// would start if it had free slots: more workers would help them.
	TenantsReady int `json:"tenants_ready"`
	// TenantsWaiting are tenants that it knows to have chunks which would be
	// refused now or are due later: their allowance is used up, the circuit is
	// open, they are paused, or a try failed. More workers would not help them.
	TenantsWaiting int `json:"tenants_waiting"`
	// Workers is how many the fleet has, this one included. One that was killed is
	// counted for some seconds more.
	Workers int `json:"workers"`

	// Disagreements are settings that the fleet shares and with which not all workers
	// were started, as of a minute ago at most; in a fleet of more than 60 later.
	Disagreements []alive.Disagreement `json:"disagreements,omitempty"`

	// Outcomes counts deliveries by what they came to, since the start.
	Outcomes map[string]uint64 `json:"outcomes"`
	// LastProgress is when a delivery was last settled or a pull answered. It
	// may lie as far back as the chunk deadline while all slots are in use.
	LastProgress time.Time `json:"last_progress"`
}

// Ready reports whether the worker does what it is there for.
func (s Status) Ready() bool { return s.Connected && s.Consuming && !s.Draining && s.Problem == "" }

// Status says how the worker is doing. A worker with all slots in use counts as
// consuming.
func (w *Worker) Status() Status {
	demand := w.chunks.demand(time.Now())
	w.mu.Lock()
	defer w.mu.Unlock()
	return Status{
		Connected:       w.js.Conn().IsConnected(),
		Consuming:       w.ready.Load() && w.chunks.alive.Load() && w.documents.alive.Load(),
		Draining:        w.draining.Load(),
		Problem:         w.problem,
		Concurrency:     w.cfg.Concurrency,
		ChunksInHand:    int(w.chunks.inHand.Load()),
		DocumentsInHand: int(w.documents.inHand.Load()),
		TenantsReady:    demand.ready,
		TenantsWaiting:  demand.waiting,
		Workers:         int(w.chunks.fleet.Load()),
		Disagreements:   w.presence.agreed.disagreements(),
		Outcomes:        maps.Clone(w.outcomes),
		LastProgress:    w.progress,
	}
}

func (w *Worker) inHand() int64 { return w.chunks.inHand.Load() + w.documents.inHand.Load() }

func (w *Worker) count(outcome string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.outcomes[outcome]++
	w.progress = w.cfg.Clock()
}

// timed counts how long a chunk took.
func (w *Worker) timed(took, age time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.took.Add(took)
	w.age.Add(max(took, age)) // the clocks of two machines may be apart
}

func (w *Worker) progressed() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.progress = w.cfg.Clock()
}

// notStored remembers why a store failed.
func (w *Worker) notStored(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unstored = err
}

func (w *Worker) setProblem(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problem = ""
	if err != nil {
		w.problem = err.Error()
	}
}
