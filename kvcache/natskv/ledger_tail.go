package natskv

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// tail is one key's log as far as this process knows it, and the callers that
// wait for an entry to be appended. At most one entry is on its way at a time;
// whoever comes meanwhile goes into the next.
type tail struct {
	b    *logbook
	name string
	stop func() // following

	mu     sync.Mutex
	window ledger.Window
	line   ledger.Line
	keep   time.Duration // the widest window that was asked about
	used   int64         // when, by the local clock

	seen   uint64        // window holds every entry up to this sequence
	behind bool          // an entry after seen was missed: read the log
	heard  bool          // entries are sent on to us
	synced int64         // when the log was last known to end at seen
	grown  chan struct{} // closed when seen or behind changes; nil if nobody waits

	spares spares

	queue   []*call
	backs   []note  // takes to give back, in the next entry
	owed    []*call // to be refused when that is in the log
	working bool    // a goroutine is emptying queue and backs
}

// call is a caller that waits for its line of an entry.
type call struct {
	ask  kvcache.Ask // unless there is a note
	note note
	done chan answer // of capacity 1
	left bool        // the caller is gone; guarded by tail.mu
	owed bool        // its take did not fit; guarded by tail.mu
}

type answer struct {
	kvcache.Admission
	err error
}

func newTail(b *logbook, name string) *tail { return &tail{b: b, name: name, synced: -1} }

// now is the guess of the server's time that is sure not to lie before what the
// server has stamped already. Called with the lock held.
func (t *tail) now() int64 { return max(t.b.clock.now(), t.window.Latest()) }

// admit answers from the log if that proves a refusal, else by an entry.
func (t *tail) admit(ctx context.Context, ask kvcache.Ask) (kvcache.Admission, error) {
	q := padded(ask.Quota)
	t.mu.Lock()
	t.widen(q.Window)
	if a, ok := t.spare(ask); ok {
		t.mu.Unlock()
		return a, nil
	}
	if !t.window.Fits(t.now(), q, ask.Tokens) {
		if a, ok := t.refusal(ask); ok {
			t.mu.Unlock()
			return a, nil
		}
	}
	t.mu.Unlock()
	if q.Unlimited() {
		return kvcache.Admission{Admitted: true}, nil
	}
	return t.submit(ctx, &call{ask: ask})
}

// widen makes the tail remember span. What it has forgotten of it, it reads
// again. Called with the lock held.
func (t *tail) widen(span time.Duration) {
	if span > t.keep {
		t.keep = span
		t.restart()
	}
}

// restart forgets the log, to read it from its beginning. Called with the lock
// held.
func (t *tail) restart() {
	t.behind = t.seen > 0
	t.seen, t.synced, t.window = 0, -1, ledger.Window{}
	t.window.Keep(t.keep + entryGrace) // as long as the log does
}

// submit puts c into the next entry and waits for what becomes of it.
func (t *tail) submit(ctx context.Context, c *call) (kvcache.Admission, error) {
	c.done = make(chan answer, 1)
	t.mu.Lock()
	t.queue = append(t.queue, c)
	t.start()
	t.mu.Unlock()
	select {
	case a := <-c.done:
		return a.Admission, a.err
	case <-ctx.Done():
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	c.left = true
	select {
	case a := <-c.done: // admitted in the same moment: nobody will use it
		if a.Admitted {
			t.giveBack(a.ID)
			t.start()
		}
	default:
	}
	return kvcache.Admission{}, t.b.closing(ended(ctx))
}

// start sets a goroutine to work if none is at it. Called with the lock held.
func (t *tail) start() {
	if !t.working {
		t.working = true
		t.b.work.Go(t.work)
	}
}

// giveBack makes room again, here at once and for everybody with the next entry.
// Called with the lock held.
func (t *tail) giveBack(id uint64) {
	t.window.Refund(id)
	t.backs = append(t.backs, note{kind: back, id: id})
}

// work appends entries until there is nothing left to say.
func (t *tail) work() {
	failed := false
	for {
		t.mu.Lock()
		calls, e, ttl := t.next(failed)
		before := t.seen
		t.mu.Unlock()
		if len(e.takes)+len(e.notes) == 0 {
			return
		}
		began, sent := t.b.clock.elapsed(), time.Now()
		ctx, cancel := context.WithTimeoutCause(t.b.ctx, t.b.timeout, errNoAnswer)
		seq, err := t.b.log.append(ctx, t.name, e.encode(), ttl)
		if err == nil {
			if seq <= before { // the stream has been made anew
				t.mu.Lock()
				t.restart()
				t.mu.Unlock()
			}
			err = t.catchUp(ctx, seq)
		}
		cancel()
		if err == nil && t.b.clock.elapsed()-began > int64(t.b.timeout) {
			// Entries that counted may have left the log before they were read.
			err = unavailable(errNoAnswer)
		}
		err = t.b.closing(err)
		t.mu.Lock()
		own := t.settle(calls, e, seq, began, err)
		t.keepSpares(e, own, seq, sent, err)
		t.mu.Unlock()
		failed = err != nil
	}
}

// next takes from the queue what goes into the next entry. Who does not fit
// for certain is refused; who fits only if another does not stays for the
// entry after it. After a failure nothing is said that nobody waits for: it
// keeps until somebody comes. Called with the lock held.
func (t *tail) next(failed bool) (calls []*call, e entry, ttl time.Duration) {
	now := t.now()
	var tokens int64 // of e.takes
	rest := t.queue[:0]
	for _, c := range t.queue {
		q := padded(c.ask.Quota)
		if c.left {
			continue
		}
		switch {
		case len(e.takes) == maxTakes || len(e.notes) == maxTakes:
			rest = append(rest, c)
			continue
		case c.note.kind != "":
			calls, e.notes = append(calls, c), append(e.notes, c.note)
			ttl = max(ttl, t.keep, c.note.span)
			continue
		}
		if a, ok := t.spare(c.ask); ok {
			c.done <- answer{Admission: a}
			continue
		}
		if !t.window.Fits(now, q, c.ask.Tokens) {
			if a, ok := t.refusal(c.ask); ok {
				c.done <- answer{Admission: a}
				continue
			}
			c.note = waiting(c.ask)
			calls, e.notes = append(calls, c), append(e.notes, c.note)
			ttl = max(ttl, q.Window)
			continue
		}
		held, heldTokens := t.window.Held(now, q.Window)
		if !q.Room(held+int64(len(e.takes)), heldTokens+tokens, c.ask.Tokens) {
			rest = append(rest, c)
			continue
		}
		calls, e.takes = append(calls, c), append(e.takes, c.ask.Tokens)
		tokens += c.ask.Tokens
		ttl = max(ttl, q.Window)
	}
	clear(t.queue[len(rest):])
	t.queue = rest
	e.takes = t.claim(calls, e.takes, now)
	if len(t.backs) > 0 && (!failed || len(calls) > 0) {
		e.notes, t.backs = append(e.notes, t.backs...), nil
		for _, c := range t.owed {
			if _, ok := t.refusal(c.ask); !ok && !c.left {
				e.notes = append(e.notes, waiting(c.ask))
			}
		}
		calls, t.owed = append(calls, t.owed...), nil
		ttl = max(ttl, t.keep)
	}
	t.working = len(e.takes)+len(e.notes) > 0
	return calls, e, ttl + entryGrace
}

// settle answers the calls of an entry that has been appended with that
// sequence, or not, and returns how many takes were theirs. Called with the lock
// held.
func (t *tail) settle(calls []*call, e entry, seq uint64, began int64, err error) (takes int) {
	if err == nil && t.seen < seq {
		err = unavailable(errors.New("the log began anew"))
	}
	if seq == 0 { // not appended, as far as we know: say it again later
		for _, n := range e.notes {
			if n.kind == back {
				t.giveBack(n.id)
			}
		}
	}
	for _, c := range calls {
		switch {
		case c.owed, c.note.kind == wait:
			c.done <- answer{Admission: t.placed(c.ask)}
			continue
		case c.note.kind != "" && seq > 0: // it is in the log
			c.done <- answer{}
			continue
		case c.note.kind != "":
			c.done <- answer{err: err}
			continue
		case err != nil:
			if seq > 0 { // it is in the log, but who knows whether it fits
				t.giveBack(takeID(seq, takes))
			}
			c.done <- answer{err: err}
		default:
			t.judge(c, takeID(seq, takes), began)
		}
		takes++
	}
	return takes
}

// judge answers one call whose take is in the window. A refusal waits until the
// take has been given back, so that who has been refused has recorded nothing.
// Called with the lock held.
func (t *tail) judge(c *call, id uint64, began int64) {
	if stamp, ok := t.window.At(id); ok {
		t.b.clock.sent(stamp, began)
	}
	if c.left || !t.window.Judge(id, padded(c.ask.Quota)) {
		t.giveBack(id)
		c.owed = true
		t.owed = append(t.owed, c)
		return
	}
	t.leaveLine(c.ask.Waiter)
	c.done <- answer{Admission: kvcache.Admission{Admitted: true, ID: id}}
}

// standing is what the log says now.
func (t *tail) standing(q kvcache.Quota) kvcache.Standing {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.now()
	requests, tokens := t.window.Held(now, padded(q).Window)
	s := kvcache.Standing{Requests: requests, Tokens: tokens}
	if opens := t.window.Opens(now, padded(q), 0); opens > now {
		s.RetryAfter = time.Duration(opens - now)
	}
	return s
}

// touch notes that somebody asks about the key.
func (t *tail) touch(now int64) {
	t.mu.Lock()
	t.used = now
	t.mu.Unlock()
}

// idle reports whether nobody has asked for a while.
func (t *tail) idle(now int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.working && now-t.used > int64(max(idleTail, 2*t.keep))
}
