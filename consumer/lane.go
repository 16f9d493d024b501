package consumer

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// laneState is where a lane stands in the scheduler.
type laneState int

const (
	idle    laneState = iota // nothing is known to wait there
	queued                   // waits for its turn
	parked                   // waits for an instant
	pulling                  // has its turn
)

// lane is one tenant's share of the queue, as this worker sees it. The
// scheduler's lock guards it, but for the fields of the turn.
type lane struct {
	token   string
	tenant  string
	nobodys bool // the token is no tenant's: nothing there reaches a model

	state     laneState
	again     bool      // something arrived during the turn
	due       time.Time // end of parked
	throttled bool      // parked because the gate says so, or after an error
	next      time.Time // when the first message that this worker put back is due
	heap      int       // place among the parked

	held     int       // messages in hand
	entering int       // of these, not known to be admitted
	greed    float64   // see below
	turns    uint64    // had so far
	punished uint64    // the turn whose refusals have been counted
	blocked  time.Time // until when refusals say that asking is of no use
	misses   int       // turns in a row that found nothing
	quiet    time.Time // until when the look at the stream leaves it alone
	used     time.Time
	entered  time.Time // the rotation

	// Of the turn, of which a lane has one at a time.
	consumer jetstream.Consumer // nil if not known to exist
	ackWait  time.Duration
	lifetime time.Duration // without a pull, and nothing out
	pulled   time.Time     // last
	created  time.Time     // when the server made the consumer
	history  bool          // attempts of this tenant's messages may have been counted before that
	trusted  trusted       // the tenant is not limited
}

// Several workers see the same allowance at the same moment. If each pulled all
// of it, most would be refused; if each waits for the same instant, all but one
// are. Greed is the part of the allowance that a worker takes at a time, and the
// more of it, the shorter the random time that it waits beyond the instant. It
// is halved by a turn that was refused something and grows slowly with every
// call that was admitted, so that it finds the worker's share whatever the number
// of workers.
const (
	greedFirst  = 0.25
	greedLeast  = 1.0 / 64
	greedGrowth = 1.02

	// spreadLeast is the random wait of the greediest; the least greedy waits
	// up to 64 times as long.
	spreadLeast = 10 * time.Millisecond
)

// share is how many of n allowed calls the lane takes in one turn. A part of a
// call is taken as a whole with that probability, u being uniform in [0,1).
func (l *lane) share(n int, u float64) int {
	return int(float64(n)*l.greed + u)
}

// spread is how much longer than until the given instant the lane waits.
func (l *lane) spread(u float64) time.Duration {
	return time.Duration(u * float64(spreadLeast) / l.greed)
}

func (l *lane) wasAdmitted() { l.greed = min(1, l.greed*greedGrowth) }

// wasRefused counts once per turn.
func (l *lane) wasRefused(turn uint64) {
	if turn > l.punished {
		l.punished = l.turns
		l.greed = max(greedLeast, l.greed/2)
	}
}

// parkedLanes is a heap by due.
type parkedLanes []*lane

func (p parkedLanes) Len() int           { return len(p) }
func (p parkedLanes) Less(i, j int) bool { return p[i].due.Before(p[j].due) }
func (p parkedLanes) Swap(i, j int) {
	p[i], p[j] = p[j], p[i]
	p[i].heap, p[j].heap = i, j
}
func (p *parkedLanes) Push(x any) {
	l := x.(*lane)
	l.heap = len(*p)
	*p = append(*p, l)
}
func (p *parkedLanes) Pop() any {
	last := len(*p) - 1
	l := (*p)[last]
	(*p)[last] = nil
	*p = (*p)[:last]
	return l
}
