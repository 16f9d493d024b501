package natskv

import (
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// A process whose callers ask for a key in quick succession takes a few requests
// more than it was asked for, and hands them out without asking anybody. Such a spare
// is used later than it was stamped, but by no more than half the slack of its
// window; who is asked for a window counts over the window and its slack. So the
// promise holds for when callers are told, not only for the stamps, and at least
// half the slack is left for what lies between that and the call's arrival at whom
// the limit protects.
//
// Spares are only taken while at most half of the window is used, and those that
// nobody wants are given back when their time is over.

const (
	slackPart = 100 // of a window
	mostSlack = 250 * time.Millisecond
	maxSpares = 64 // at once, and at most that part of the requests
)

func slack(window time.Duration) time.Duration { return min(window/slackPart, mostSlack) }

// spareLife is how much later than stamped a spare may be used.
func spareLife(window time.Duration) time.Duration { return slack(window) / 2 }

// padded is the quota over the window and its slack.
func padded(q kvcache.Quota) ledger.Quota {
	return ledger.Quota{Window: q.Window + slack(q.Window), Requests: q.Requests, Tokens: q.Tokens}
}

// spares are admissions that nobody has asked for yet. They are guarded by the
// lock of their tail.
type spares struct {
	ask   kvcache.Ask // what they are good for; the waiter is empty
	ids   []uint64
	until time.Time // by the monotonic clock, which nobody sets
	timer *time.Timer
	size  int       // how many to take next
	last  time.Time // when requests were last taken
}

// spare hands one out if it is what is asked for. Called with the lock held.
func (t *tail) spare(ask kvcache.Ask) (kvcache.Admission, bool) {
	s := &t.spares
	waiter := ask.Waiter
	ask.Waiter = ""
	if len(s.ids) == 0 || ask != s.ask || !time.Now().Before(s.until) || t.window.Cooling(t.now()) {
		return kvcache.Admission{}, false
	}
	id := s.ids[0]
	s.ids = s.ids[1:]
	t.leaveLine(waiter)
	return kvcache.Admission{Admitted: true, ID: id}, true
}

// claim returns the takes of the entry with spares behind them. Their number doubles
// while all are used. Called with the lock held.
func (t *tail) claim(b batch, now int64) []int64 {
	s, takes := &t.spares, b.takes
	if len(takes) == 0 {
		return takes
	}
	var ask kvcache.Ask
	for _, c := range b.calls {
		if c.note.kind != "" || c.owed {
			continue
		}
		first := c.ask
		first.Waiter = ""
		if ask.Quota.Window > 0 && ask != first {
			return takes // what would be asked for next?
		}
		ask = first
	}
	hot := time.Since(s.last) < spareLife(ask.Quota.Window)
	s.last = time.Now()
	if !hot || len(s.ids) > 0 {
		s.size = 0
		return takes
	}
	s.ask, s.size = ask, min(max(1, 2*s.size), maxSpares)
	q := padded(ask.Quota)
	n := int64(min(s.size, maxTakes-len(takes)))
	held, tokens := t.window.Held(now, q.Window)
	if q.Requests > 0 {
		n = min(n, q.Requests/maxSpares, q.Requests/2-held-int64(len(takes)))
	}
	if q.Tokens > 0 && ask.Tokens > 0 {
		n = min(n, (q.Tokens/2-tokens)/ask.Tokens-int64(len(takes)))
	}
	for range n {
		takes = append(takes, ask.Tokens)
	}
	return takes
}

// keepSpares keeps those of an entry that are within the quota. Called with the lock
// held.
func (t *tail) keepSpares(b batch, seq uint64, sent time.Time, err error) {
	s := &t.spares
	if seq == 0 || b.own == len(b.takes) {
		return
	}
	s.until = sent.Add(spareLife(s.ask.Quota.Window))
	for number := b.own; number < len(b.takes); number++ {
		id := takeID(seq, number)
		if err == nil && t.window.Judge(id, padded(s.ask.Quota)) {
			s.ids = append(s.ids, id)
		} else {
			t.giveBack(id)
		}
	}
	if s.timer != nil {
		s.timer.Stop()
	}
	if len(s.ids) > 0 {
		s.timer = time.AfterFunc(time.Until(s.until), t.expireSpares)
	}
}

// expireSpares gives back what nobody wanted.
func (t *tail) expireSpares() {
	if !t.b.begin() {
		return
	}
	defer t.b.work.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	s := &t.spares
	if len(s.ids) == 0 || time.Now().Before(s.until) {
		return
	}
	for _, id := range s.ids {
		t.giveBack(id)
	}
	s.ids, s.size = nil, 0
	t.start()
}
