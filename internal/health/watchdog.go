package health

import (
	"fmt"
	"sync"
	"time"
)

// Watchdog notices a process that makes no progress although nothing outside
// keeps it from that. It has no goroutine; it learns by being asked, and is safe
// for concurrent use.
type Watchdog struct {
	patience time.Duration
	now      func() time.Time

	mu    sync.Mutex
	since time.Time // when it was last excused or made progress
	last  time.Time // the last progress that is known
}

// NewWatchdog returns a watchdog that complains after patience. now is the
// clock; nil means time.Now.
func NewWatchdog(patience time.Duration, now func() time.Time) *Watchdog {
	if now == nil {
		now = time.Now
	}
	return &Watchdog{patience: patience, now: now, since: now()}
}

// Look takes when progress was made last, and whether there is an excuse for
// none, such as a server that is gone, which no restart would bring back. It
// returns the complaint, "" if there is none.
func (w *Watchdog) Look(progress time.Time, excused bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if excused || !progress.Equal(w.last) {
		w.since, w.last = now, progress
	}
	if stuck := now.Sub(w.since); stuck > w.patience {
		return fmt.Sprintf("no progress for %s", stuck.Round(time.Second))
	}
	return ""
}
