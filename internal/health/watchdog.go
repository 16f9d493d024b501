package health

import (
	"fmt"
	"sync"
	"time"
)

// Watchdog notices work that does not end: something is in hand and nothing has
// been settled for longer than one piece of work may take. It has no goroutine;
// it learns by being asked, and is safe for concurrent use.
type Watchdog struct {
	patience time.Duration
	now      func() time.Time

	mu    sync.Mutex
	since time.Time // when it last was idle or settled something
	last  time.Time // the last settlement that it knows of
}

// NewWatchdog returns a watchdog that complains after patience. now is the
// clock; nil means time.Now.
func NewWatchdog(patience time.Duration, now func() time.Time) *Watchdog {
	if now == nil {
		now = time.Now
	}
	return &Watchdog{patience: patience, now: now, since: now()}
}

// Look takes how much is in hand and when something was settled last, and
// returns the complaint, "" if there is none.
func (w *Watchdog) Look(inHand int, settled time.Time) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	if inHand == 0 || !settled.Equal(w.last) {
		w.since, w.last = now, settled
	}
	if stuck := now.Sub(w.since); stuck > w.patience {
		return fmt.Sprintf("%d in hand and nothing settled for %s", inHand, stuck.Round(time.Second))
	}
	return ""
}
