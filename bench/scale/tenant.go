package main

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/greed"
)

// The simulation of one throttled tenant: as many workers as asked for, each with
// the consumer's own arithmetic (internal/greed), share one exact window. Nobody
// sees what another did before the server's message about it has arrived.
const (
	seen     = time.Millisecond       // until everybody knows of an admission
	pull     = 500 * time.Microsecond // from the decision to pull to the chunk in hand
	admit    = time.Millisecond       // from the chunk in hand to the server's decision
	poll     = 5 * time.Millisecond   // the consumer's wait when its share came to nothing
	slots    = 8
	callTime = 200 * time.Millisecond
)

// simulated is what came of it.
type simulated struct {
	admitted, deliveries, looks int
	used                        float64 // part of what the limit allows
}

func (s simulated) String() string {
	return fmt.Sprintf("%.2f (%.1f %%)", float64(s.deliveries)/float64(s.admitted), 100*s.used)
}

type simulation struct {
	now     time.Duration
	events  events
	workers int
	limit   int
	window  time.Duration
	granted []time.Duration // instants of admissions, oldest first
	out     simulated
}

// throttled runs a tenant with an endless backlog for a number of windows. Those
// before are not counted.
func throttled(workers, limit int, window time.Duration, before, windows int, seed uint64) simulated {
	s := &simulation{workers: workers, limit: limit, window: window}
	r := rand.New(rand.NewPCG(seed, uint64(workers)))
	for range workers {
		w := &simWorker{s: s, r: r, greed: greed.New(), free: slots}
		s.at(time.Duration(r.Float64()*float64(time.Second)), w.turn)
	}
	s.run(time.Duration(before) * window)
	s.out = simulated{}
	s.run(time.Duration(before+windows) * window)
	s.out.used = float64(s.out.admitted) / float64(limit*windows)
	return s.out
}

type event struct {
	at time.Duration
	do func()
}

type events []event

func (e events) Len() int           { return len(e) }
func (e events) Less(i, j int) bool { return e[i].at < e[j].at }
func (e events) Swap(i, j int)      { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)        { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := (*e)[len(*e)-1]
	*e = (*e)[:len(*e)-1]
	return last
}

func (s *simulation) at(t time.Duration, do func()) { heap.Push(&s.events, event{t, do}) }

func (s *simulation) run(until time.Duration) {
	for len(s.events) > 0 && s.events[0].at < until {
		e := heap.Pop(&s.events).(event)
		s.now = e.at
		e.do()
	}
}

// standing is what somebody knows who has heard of everything before an instant.
func (s *simulation) standing(heard time.Duration) (remaining int, wait time.Duration) {
	for len(s.granted) > 0 && s.granted[0] <= s.now-s.window-time.Second {
		s.granted = s.granted[1:]
	}
	n, oldest := 0, time.Duration(-1)
	for _, t := range s.granted {
		if t > s.now-s.window && t <= heard {
			if n++; oldest < 0 {
				oldest = t
			}
		}
	}
	if n < s.limit {
		return s.limit - n, 0
	}
	return 0, oldest + s.window - s.now
}

// decide is the server's word on one call.
func (s *simulation) decide() (admitted bool, wait time.Duration) {
	remaining, wait := s.standing(s.now)
	if remaining <= 0 {
		return false, wait
	}
	s.granted = append(s.granted, s.now)
	s.out.admitted++
	return true, 0
}

type simWorker struct {
	s        *simulation
	r        *rand.Rand
	greed    greed.Greed
	free     int // slots
	entering int
	punished bool // this turn's refusal has been counted
	blocked  time.Duration
}

func (w *simWorker) after(d time.Duration) { w.s.at(w.s.now+d, w.turn) }

func (w *simWorker) spread() time.Duration { return w.greed.Spread(w.s.workers, w.r.Float64()) }

// turn is the consumer's: ask, pull a share, start it.
func (w *simWorker) turn() {
	s := w.s
	if wait := w.blocked - s.now; wait > 0 {
		w.after(wait + w.spread())
		return
	}
	s.out.looks++
	remaining, wait := s.standing(s.now - seen)
	if remaining == 0 {
		w.after(max(wait, poll) + w.spread())
		return
	}
	n := min(w.free, w.greed.Share(remaining, s.workers, w.r.Float64()), remaining-w.entering)
	if n <= 0 {
		w.after(poll + w.spread())
		return
	}
	w.punished = false
	w.free -= n
	w.entering += n
	s.out.deliveries += n
	for range n {
		s.at(s.now+pull+admit, w.decided)
	}
	w.after(pull)
}

func (w *simWorker) decided() {
	w.entering--
	admitted, wait := w.s.decide()
	if admitted {
		w.greed.Admitted()
		w.s.at(w.s.now+callTime, func() { w.free++ })
		return
	}
	w.free++
	if !w.punished {
		w.greed.Refused()
		w.punished = true
	}
	w.blocked = w.s.now + wait
}
