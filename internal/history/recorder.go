package history

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// sampleTimeout bounds one sample.
const sampleTimeout = 5 * time.Second

// Config is what a recorder needs.
type Config struct {
	JetStream jetstream.JetStream // stays the caller's
	Names     wire.Names
	Clock     func() time.Time // nil means time.Now
	Logger    *slog.Logger     // nil is silent
}

// Recorder samples a fleet. Its methods are safe for concurrent use, but for
// [Recorder.Sample], which one goroutine at a time may call.
type Recorder struct {
	source source
	clock  func() time.Time
	log    *slog.Logger
	began  time.Time

	// Of Sample only.
	counted counts // the streams as they were counted last
	timings timings
	bucket  *follow.Bucket // of circuits

	mu       sync.Mutex
	samples  []Sample
	circuits map[string][]Change
}

// New returns a recorder that remembers nothing. What is wrong is a
// [*ConfigError].
func New(c Config) (*Recorder, error) {
	switch {
	case c.JetStream == nil:
		return nil, &ConfigError{"JetStream", "is required"}
	case c.Names.Namespace() == "":
		return nil, &ConfigError{"Names", "is required"}
	}
	if c.Clock == nil {
		c.Clock = time.Now
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return &Recorder{
		source: source{js: c.JetStream, names: c.Names}, clock: c.Clock, log: c.Logger,
		began: c.Clock(), circuits: map[string][]Change{},
		timings: timings{bucket: follow.NewBucket(c.JetStream, c.Names.WorkersBucket())},
		bucket:  follow.NewBucket(c.JetStream, c.Names.CircuitBucket()),
	}, nil
}

// Run samples at once and then every ten seconds until ctx ends. That the server
// does not answer leaves a gap, and is logged once until it does again.
func (r *Recorder) Run(ctx context.Context) {
	ticker := time.NewTicker(Every)
	defer ticker.Stop()
	complained := false
	for {
		err := r.Sample(ctx)
		if err != nil && ctx.Err() == nil && !complained {
			r.log.Warn("cannot sample the fleet, so the status page's charts have a gap", "error", err.Error())
		}
		complained = err != nil
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// Sample asks the fleet once and remembers the answer, or that there was none.
func (r *Recorder) Sample(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, sampleTimeout)
	defer cancel()
	at := r.clock()
	now, err := r.source.count(ctx)
	if err != nil {
		r.keep(Sample{At: at})
		return err
	}
	sample := Sample{At: at, Waiting: &now.waiting, Workers: &now.workers, Results: since(r.counted.results, now.results), Dead: since(r.counted.dead, now.dead)}
	err = errors.Join(r.timings.sample(ctx, &sample, now.workers), r.sampleCircuits(ctx, at))
	r.counted = now
	r.keep(sample)
	return err
}

// sampleCircuits notes how the first circuits are, if any has changed.
func (r *Recorder) sampleCircuits(ctx context.Context, at time.Time) error {
	reading, err := r.bucket.Look(ctx)
	if err != nil {
		return fmt.Errorf("circuits: %w", err)
	}
	if !reading.Fresh {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	all := overview.Circuits(reading.Entries)
	stored := map[string]bool{}
	for _, c := range all {
		stored[c.Name] = true
	}
	for name := range r.circuits { // of one that nothing is stored of none has failed
		if !stored[name] {
			all = append(all, overview.Circuit{Name: name, State: string(resilience.Closed)})
		}
	}
	for _, c := range all {
		// What was read before something newer was noted does not count.
		if known := r.circuits[c.Name]; len(known) > 0 && !known[len(known)-1].At.Before(at) {
			continue
		}
		change := Change{At: at, State: c.State}
		if c.State == string(resilience.Open) {
			change.Reason = c.Reason
		}
		r.note(c.Name, change)
	}
	return nil
}

// since is how many messages a stream was given between two counts; nil if there
// was no earlier one, or the stream was made anew.
func since(before, now stream) *uint64 {
	if before.known && before.created.IsZero() { // it did not exist
		return &now.last
	}
	if !before.known || before.created != now.created || now.last < before.last {
		return nil
	}
	n := now.last - before.last
	return &n
}

func (r *Recorder) keep(s Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.samples) == maxSamples {
		r.samples = slices.Delete(r.samples, 0, 1)
	}
	r.samples = append(r.samples, s)
}

// Note remembers that a circuit is in a state, as somebody knows who watches it
// more closely than the samples do.
func (r *Recorder) Note(circuit string, change Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.note(circuit, change)
}

func (r *Recorder) note(circuit string, change Change) {
	known, ok := r.circuits[circuit]
	if !ok && len(r.circuits) == maxCircuits {
		return
	}
	if len(known) > 0 && known[len(known)-1].State == change.State {
		return
	}
	if len(known) == maxChanges {
		known = slices.Delete(known, 0, 1)
	}
	change.Reason = wire.CleanError(change.Reason)
	r.circuits[circuit] = append(known, change)
}

// History returns what is remembered of the last hour.
func (r *Recorder) History() History {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.clock()
	oldest := now.Add(-Kept)
	h := History{At: now.UTC(), Since: r.began.UTC(), EveryMS: Every.Milliseconds(), KeptMS: Kept.Milliseconds(), Samples: []Sample{}, Circuits: []Circuit{}}
	if oldest.After(r.began) {
		h.Since = oldest.UTC()
	}
	for _, s := range r.samples {
		if !s.At.Before(oldest) {
			s.At = s.At.UTC()
			h.Samples = append(h.Samples, s)
		}
	}
	for name, changes := range r.circuits {
		c := Circuit{Name: name, Changes: []Change{}}
		for i, change := range changes {
			// The last one before the hour says how the hour began.
			if change.At.Before(oldest) && i+1 < len(changes) && !changes[i+1].At.After(oldest) {
				continue
			}
			change.At = change.At.UTC()
			c.Changes = append(c.Changes, change)
		}
		h.Circuits = append(h.Circuits, c)
	}
	slices.SortFunc(h.Circuits, func(a, b Circuit) int { return cmp.Compare(a.Name, b.Name) })
	return h
}
