package consumer

import "time"

const (
	// storeDelay is for a store that does not answer or refuses, and doubles with
	// every failure in a row up to storeDelayMost.
	storeDelay     = 2 * time.Second
	storeDelayMost = time.Minute
	// storeBehind is how much longer the tenant waits than the worker, so that others
	// come first: theirs may go well.
	storeBehind = time.Second
	// storePoll is how often a worker with a chunk in hand that shows whether it can
	// store again looks if it may go on.
	storePoll = 250 * time.Millisecond
)

// storing is how it goes to store what becomes of chunks: a result, a dead letter,
// the count of an attempt. What cannot be stored was paid for in vain, and its chunk
// will be asked about again. So nothing more is begun until the wait is over, and
// then one chunk at a time until something could be stored.
type storing struct {
	failed int       // in a row
	until  time.Time // nothing is begun before
}

// fails notes a failure. One of a chunk that was begun before the last says nothing
// new.
func (s *storing) fails(now time.Time) {
	if now.Before(s.until) {
		return
	}
	s.until = now.Add(min(storeDelay<<min(s.failed, 10), storeDelayMost))
	s.failed++
}

// cannotStore hears that what became of a chunk of the lane could not be stored.
// Called with the lock held.
func (s *lanes) cannotStore(l *lane, now time.Time) {
	s.storing.fails(now)
	s.closed = s.storing.until
	l.storing.fails(now.Add(storeBehind))
}

// stored hears that what became of a chunk of the lane is stored. The lane counts for
// itself, too: the rights of a worker may not reach as far as all tenants.
func (s *lanes) stored(l *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l.storing, l.oversized.turns = storing{}, 0
	if s.storing.failed > 0 {
		s.storing, s.closed = storing{}, time.Time{}
		s.signal()
	}
}

// hope forgets all failures: their reason is gone.
func (s *lanes) hope() {
	s.mu.Lock()
	s.storing = storing{}
	for _, l := range s.all {
		l.storing = storing{}
	}
	s.mu.Unlock()
	s.recheck()
}

// storable is a step of allowed: how many of n chunks of the lane may be begun as far as
// storing them goes. Called with the lock held.
func (s *lanes) storable(l *lane, n int, now time.Time) int {
	switch {
	case now.Before(s.storing.until):
		return s.shut(l, s.storing.until)
	case s.storing.failed > 0 && (s.inHand.Load() > 0 || s.entering > 0):
		return s.shut(l, now.Add(storePoll))
	case now.Before(l.storing.until):
		return s.hold(l, l.storing.until.Sub(now))
	case l.storing.failed > 0 && (l.held > 0 || l.entering > 0):
		return s.hold(l, storePoll)
	case s.storing.failed > 0 || l.storing.failed > 0:
		return 1
	}
	return n
}
