package consumer

import (
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// A chunk that needs more tokens than a whole window of its tenant waits in the
// queue: the limit may be a slip of an operator, and dead letters are not put right
// by correcting it. It comes back after a window, but soon enough for who has just
// corrected the limit.
const (
	oversizedLeast = 10 * time.Second
	oversizedMost  = time.Minute
)

// oversizedBy reports whether a call was refused because it needs more tokens than
// a whole window has. The window is 0 if it is not known.
func oversizedBy(err error) (tokens, limit int64, window time.Duration, ok bool) {
	if e, is := errors.AsType[*resilience.RequestExceedsWindow](err); is {
		return e.Tokens, e.Limit, e.Window, true
	}
	if e, is := errors.AsType[*admission.RequestExceedsTokenWindow](err); is {
		return e.Tokens, e.Limit, 0, true
	}
	return 0, 0, 0, false
}

// oversized remembers, of a lane, that its chunks were too large for a window.
type oversized struct {
	turns int    // with such chunks, and nothing stored since
	last  uint64 // of these turns
	told  int64  // the limit that was last complained of
}

// wait is for how long to leave the lane alone after such a chunk. It doubles with
// every turn in which nothing else comes: others of the tenant may fit, and are
// behind it; if none does, the queue is not to be passed through the workers for
// nothing.
func (o *oversized) wait(turn uint64, delay time.Duration) time.Duration {
	if turn > o.last {
		o.last = turn
		o.turns++
	}
	return min(minDelay<<min(max(o.turns-1, 0), 20), delay)
}

// tellOversized says once per tenant and limit what to do: all chunks of a tenant may
// be meant.
func (w *Worker) tellOversized(d delivery, delay time.Duration, cause error) {
	tokens, limit, window, ok := oversizedBy(cause)
	if !ok || d.lane == nil || !w.chunks.complains(d.lane, limit) {
		return
	}
	w.log.Warn("a chunk needs more tokens than a whole window of its tenant has, and waits in the queue like all of this size; raise --tpm (worker limits set TENANT --tpm N), or publish with a smaller --chunk-size",
		"tenant", d.lane.tenant, "tokens", tokens, "tpm", limit, "window", window, "delay", delay)
}

// complains reports whether nothing was said of this limit yet.
func (s *lanes) complains(l *lane, limit int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := l.oversized.told
	l.oversized.told = limit
	return before != limit
}
