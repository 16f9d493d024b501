package consumer

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/greed"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// lanes gives the tenants that have chunks waiting their turns, one after
// another. A turn pulls what there are free slots and allowance for, and waits
// for nothing. What cannot be started stays in the stream: how deep that is
// makes no difference, and a worker knows of a tenant only that something
// waits.
type lanes struct {
	js       jetstream.JetStream
	names    wire.Names
	ackWait  time.Duration // of lanes that are made here
	gate     Gate
	attempts *attempts
	handle   func(context.Context, delivery, time.Duration)
	rand     func() float64
	log      *slog.Logger
	failed   func(error)
	pulls    *pulls // set by Run

	slots   slots
	working *crew
	inHand  atomic.Int64
	alive   atomic.Bool  // the stream answers
	pace    atomic.Int64 // how long chunks are in hand, in nanoseconds
	fleet   atomic.Int64 // how many workers there are, this one included
	server  trusted      // no circuit is in the way

	lifetime atomic.Int64 // of lanes that are made now and not used, in nanoseconds

	mu       sync.Mutex
	all      map[string]*lane // by token
	ready    []*lane          // in the order of their turns: the rotation
	waiting  circle           // to enter the rotation
	rotating int              // in ready, and having a turn
	parked   parkedLanes
	entering int       // of all lanes
	closed   time.Time // until when nobody has a turn
	storing  storing
	changed  chan struct{} // has an element when ready, parked or closed changed
}

// newLanes returns those of a worker.
func newLanes(w *Worker, handle func(context.Context, delivery, time.Duration)) *lanes {
	s := &lanes{
		js: w.js, names: w.names, ackWait: w.cfg.AckWait, gate: w.cfg.Gate, attempts: w.attempts, handle: handle,
		rand: w.cfg.Rand, log: w.log, failed: w.pullFailed,
		slots: newSlots(w.cfg.Concurrency), working: newCrew(), all: map[string]*lane{}, changed: make(chan struct{}, 1),
	}
	s.pace.Store(int64(time.Second)) // until it is known
	s.fleet.Store(fewWorkers)
	s.lifetime.Store(int64(wire.LaneIdle)) // before the first look
	return s
}

const (
	// gateRetry is for a gate that does not answer.
	gateRetry = time.Second
	// gatePoll is for allowance that has gone to chunks in hand which are just
	// about to take it.
	gatePoll = 5 * time.Millisecond
	// manyLanes is from when on lanes are made to go early.
	manyLanes = 2 * rotationSize
	// quick is how short chunks must be in hand to be pulled in batches.
	quick = 100 * time.Millisecond
	// closedMost bounds how long nobody looks at a circuit that is open.
	closedMost = time.Second
)

// lane returns the lane of a token. Called with the lock held.
func (s *lanes) lane(token string) *lane {
	l := s.all[token]
	if l == nil {
		l = &lane{token: token, greed: greed.New()}
		tenant, err := s.names.Tenant(s.names.LaneSubject(token))
		l.tenant, l.nobodys = tenant, err != nil
		s.all[token] = l
	}
	l.used = time.Now()
	return l
}

// arrived is told that something can be had for a token.
func (s *lanes) arrived(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lane(token)
	l.misses, l.quiet = 0, time.Time{}
	s.wake(l)
}

// wake gives the lane a turn, unless its allowance has to be waited for. Called
// with the lock held.
func (s *lanes) wake(l *lane) {
	switch l.state {
	case idle:
		s.enqueue(l)
	case parked:
		if !l.throttled {
			s.unpark(l)
		}
	case pulling:
		l.again = true
	}
}

// enqueue gives the lane a place in the rotation, or behind those who wait for
// one. Called with the lock held.
func (s *lanes) enqueue(l *lane) {
	l.state = queued
	s.waiting.add(l)
	s.admit()
	s.signal()
}

// another gives a lane that had a turn another one, in the rotation if it has not
// been there for long or nobody else waits. Called with the lock held.
func (s *lanes) another(l *lane, now time.Time) {
	if s.waiting.n > 0 && now.Sub(l.entered) > rotationTime {
		s.enqueue(l)
		return
	}
	l.state = queued
	s.rotating++
	s.ready = append(s.ready, l)
	s.signal()
}

// leaveTurn makes room in the rotation after a turn.
func (s *lanes) leaveTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rotating--
	s.admit()
	s.signal()
}

// admit fills the rotation. Called with the lock held.
func (s *lanes) admit() {
	for now := time.Now(); s.rotating < rotationSize && s.waiting.n > 0; s.rotating++ {
		l := s.waiting.take(now)
		l.entered = now
		s.ready = append(s.ready, l)
	}
}

func (s *lanes) park(l *lane, d time.Duration, throttled bool) {
	l.state, l.throttled, l.due = parked, throttled, time.Now().Add(d)
	heap.Push(&s.parked, l)
	s.signal()
}

func (s *lanes) unpark(l *lane) {
	heap.Remove(&s.parked, l.heap)
	s.enqueue(l)
}

func (s *lanes) signal() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// recheck asks the gate again about everything that it has refused.
func (s *lanes) recheck() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = time.Time{}
	s.server.doubt()
	for _, l := range s.all {
		l.blocked, l.oversized.turns = time.Time{}, 0
		l.trusted.doubt()
		if l.state == parked {
			s.unpark(l)
		}
	}
	s.signal()
}

// run gives turns until ctx ends. Messages are worked on under work, which
// outlives ctx while the worker drains.
func (s *lanes) run(ctx, work context.Context) {
	var turns sync.WaitGroup
	defer turns.Wait()
	for s.slots.wait(ctx) {
		l, others := s.next(ctx)
		if l == nil {
			s.slots.give(1)
			return
		}
		n := 1 + s.slots.take(s.fair(s.slots.free(), others))
		turns.Go(func() { s.turn(ctx, work, l, n) })
	}
}

// fair is how many of the free slots a lane may take while others wait. Where
// chunks take no time slots are free again before it matters, and pulling one by
// one would cost more than the work.
func (s *lanes) fair(free, others int) int {
	if time.Duration(s.pace.Load()) < quick {
		return free
	}
	return free / (others + 1)
}

// worked hears how long a chunk was in hand.
func (s *lanes) worked(d time.Duration) {
	pace := s.pace.Load()
	s.pace.Store(pace + (int64(d)-pace)/8) // a lost update does no harm
}

// next waits for a lane whose turn it is, and tells how many others wait. It
// returns nil when ctx ends.
func (s *lanes) next(ctx context.Context) (l *lane, others int) {
	for ctx.Err() == nil {
		l, others, wait := s.pop(time.Now())
		if l != nil {
			return l, others
		}
		timer := time.NewTimer(wait)
		select {
		case <-s.changed:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
	return nil, 0
}

// pop returns the next lane, or how long there will be none unless something
// changes.
func (s *lanes) pop(now time.Time) (l *lane, others int, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.parked) > 0 && !s.parked[0].due.After(now) {
		s.unpark(s.parked[0])
	}
	switch {
	case now.Before(s.closed):
		return nil, 0, s.closed.Sub(now)
	case len(s.ready) > 0:
		l, s.ready[0], s.ready = s.ready[0], nil, s.ready[1:]
		l.state, l.again = pulling, false
		l.turns++
		return l, len(s.ready), 0
	case len(s.parked) > 0:
		return nil, 0, s.parked[0].due.Sub(now)
	}
	return nil, 0, time.Hour // nothing is known; a change will say so
}
