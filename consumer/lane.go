package consumer

import (
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/greed"
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

	held      int // messages in hand
	entering  int // of these, not known to be admitted
	greed     greed.Greed
	turns     uint64    // had so far
	punished  uint64    // the turn whose refusals have been counted
	refused   bool      // the gate let nothing of it through when it was asked last
	blocked   time.Time // until when refusals say that asking is of no use
	storing   storing
	oversized oversized
	misses    int       // turns in a row that found nothing
	quiet     time.Time // until when the look at the stream leaves it alone
	used      time.Time
	entered   time.Time // the rotation

	// Of the turn, of which a lane has one at a time.
	consumer *jetstream.ConsumerInfo // nil if not known to exist
	ackWait  time.Duration
	lifetime time.Duration // without a pull, and nothing out
	pulled   time.Time     // last
	created  time.Time     // when the server made the consumer
	history  bool          // attempts of this tenant's messages may have been counted before that
	trusted  trusted       // the tenant is not limited
}

// wasRefused counts once per turn.
func (l *lane) wasRefused(turn uint64) {
	if turn > l.punished {
		l.punished = l.turns
		l.greed.Refused()
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
