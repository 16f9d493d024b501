package consumer

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
)

const (
	// reviewEvery is after how many announcements at most a worker reads what the
	// others were started with: a minute.
	reviewEvery = 12
	// reviewShare bounds what a large fleet reads: each of n workers reads n entries, after
	// its first time no sooner than after n/reviewShare announcements, whatever has changed.
	// That is one entry a second for each.
	reviewShare = 5
)

// agreement notices that workers of the fleet were started with other settings than
// the rest, and tells of it once for every change.
type agreement struct {
	bucket *follow.Bucket
	log    *slog.Logger

	reviewed  int64 // how many entries there were, 0 before the first time
	since     int64 // announcements since
	strangers int64 // entries that no worker has written
	told      map[string]string
	now       atomic.Pointer[[]alive.Disagreement]
}

// review takes how many entries there are, after each announcement. What it cannot read
// keeps nobody from working, and it asks less often then.
func (a *agreement) review(ctx context.Context, entries int64) {
	a.since++
	if a.reviewed > 0 && (a.since < entries/reviewShare || a.since < reviewEvery && entries == a.reviewed) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, opTimeout)
	defer cancel()
	reading, err := a.bucket.Look(ctx)
	a.since, a.reviewed = 0, entries
	switch {
	case err != nil:
		a.since = -9 * reviewEvery
		a.log.Debug("cannot read what the other workers were started with", "error", wire.CleanError(err.Error()))
	case reading.Fresh:
		states, strangers := alive.States(reading.Entries)
		a.strangers = int64(strangers)
		all := alive.Disagreements(states)
		a.tell(all)
		a.now.Store(&all)
	}
}

// tell logs what has changed: who has a value is no change.
func (a *agreement) tell(all []alive.Disagreement) {
	told := map[string]string{}
	for _, d := range all {
		var values []string
		for _, v := range d.Values {
			values = append(values, v.Value)
		}
		slices.Sort(values)
		told[d.About()] = strings.Join(values, ", ")
		if a.told[d.About()] != told[d.About()] {
			a.log.Warn("workers were started with different settings, and each keeps to its own: start them with the same",
				"setting", d.About(), "values", d.Held())
		}
	}
	for about := range a.told {
		if _, still := told[about]; !still {
			a.log.Info("all workers have the same setting again", "setting", about)
		}
	}
	a.told = told
}

// disagreements are those of the last review.
func (a *agreement) disagreements() []alive.Disagreement {
	if all := a.now.Load(); all != nil {
		return *all
	}
	return nil
}
