package history

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

const (
	// tellAfter is how many samples after a result at most its worker has told of it.
	tellAfter = 2
	// timedShare bounds what is read of a large fleet, of which every worker keeps a
	// history: of n workers what they tell is read every n/timedShare samples at most.
	timedShare = 20
)

// timings knows how long chunks took that were done between two readings, from what the
// workers tell of all that they have done.
type timings struct {
	bucket *follow.Bucket
	told   map[string]told // by key, nil before the first reading
	rounds uint64          // samples since the last reading
	due    int             // samples within which there is something to read
}

// told is what a worker has told last.
type told struct {
	took, age wire.Durations
	at        time.Time // when it was read
}

// sample adds to s what was done since the last reading, if it is time to read.
func (t *timings) sample(ctx context.Context, s *Sample, workers uint64) error {
	t.rounds++
	if s.Results != nil && *s.Results > 0 {
		t.due = tellAfter
	}
	if t.told != nil && (t.due == 0 || t.rounds < workers/timedShare) {
		return nil
	}
	reading, err := t.bucket.Look(ctx)
	if err != nil {
		return fmt.Errorf("what the workers tell: %w", err)
	}
	t.rounds, t.due = 0, max(0, t.due-1)
	if !reading.Fresh {
		return nil
	}
	took, age := t.since(reading.Entries, s.At)
	s.Took, s.Age = quantiles(took), quantiles(age)
	return nil
}

// since adds up what is new. Of a worker that was not there before everything is, unless
// nothing was read before.
func (t *timings) since(entries []follow.Entry, at time.Time) (took, age wire.Durations) {
	took, age = wire.Durations{}, wire.Durations{}
	first := t.told == nil
	if first {
		t.told = map[string]told{}
	}
	for _, entry := range entries {
		w, err := wire.DecodeWorkerState(entry.Value)
		if err != nil {
			continue
		}
		before, known := t.told[entry.Key]
		t.told[entry.Key] = told{w.Took, w.Age, at}
		newTook, ok := w.Took.Since(before.took)
		newAge, okAge := w.Age.Since(before.age)
		if ok && okAge && (known || !first) {
			took.Merge(newTook)
			age.Merge(newAge)
		}
	}
	maps.DeleteFunc(t.told, func(_ string, w told) bool { return at.Sub(w.at) > Kept })
	return took, age
}

// quantiles are nil of nothing.
func quantiles(d wire.Durations) *Quantiles {
	median, ok := d.Quantile(0.5)
	if !ok {
		return nil
	}
	p95, _ := d.Quantile(0.95)
	q := &Quantiles{P50MS: median.Milliseconds(), P95MS: p95.Milliseconds()}
	for _, n := range d {
		q.Results += n
	}
	return q
}
