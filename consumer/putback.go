package consumer

import (
	"container/heap"
	"time"
)

// putBack is told that a message goes back to the queue, and why. contended says that
// a store was not to blame, but the many who use it.
func (s *lanes) putBack(d delivery, outcome string, delay time.Duration, contended bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l, now := d.lane, time.Now()
	switch outcome {
	case outcomeRateLimited:
		l.wasRefused(d.turn)
		l.trusted.doubt()
		l.block(now, delay)
	case outcomeExceedsWindow:
		l.trusted.doubt()
		l.block(now, l.oversized.wait(d.turn, delay))
	case outcomeServerRateLimited:
		l.trusted.doubt()
		l.block(now, delay)
	case outcomePaused:
		l.trusted.doubt()
		s.server.doubt()
	case outcomeStoreUnavailable:
		s.server.doubt()
		if !contended {
			s.cannotStore(l, now)
		}
	case outcomeCircuitOpen:
		s.closed = now.Add(min(delay, closedMost))
		fallthrough
	default: // this failure may have opened the circuit
		s.server.doubt()
	}
	if due := now.Add(delay); l.next.Before(now) || due.Before(l.next) {
		l.next = due
	}
	if l.state == parked && !l.throttled {
		heap.Remove(&s.parked, l.heap)
		l.state = idle
	}
	if l.state == idle {
		s.rest(l, now)
	}
}

// rest leaves a lane alone until something arrives, or until a message is due
// that this worker has put back. Called with the lock held.
func (s *lanes) rest(l *lane, now time.Time) {
	l.state = idle
	if l.next.After(now) {
		s.park(l, l.next.Sub(now), false)
	}
}

// block keeps the soonest instant that refusals have named.
func (l *lane) block(now time.Time, d time.Duration) {
	if until := now.Add(d); !l.blocked.After(now) || until.Before(l.blocked) {
		l.blocked = until
	}
}
