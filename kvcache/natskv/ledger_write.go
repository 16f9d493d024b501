package natskv

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Why no span of a window ever holds more than its quota, by these rules and no clock
// but the server's:
//
//  1. Nobody is told yes without a take in the log, which has the place and the time
//     stamp that the server gave it.
//  2. Nobody is told yes before the log was read up to that take and the take judged by
//     all before it in its window, in the server's order: see judge. Only such are left
//     out as nobody was told yes to, nor will be.
//  3. All of these are still in the log then. An entry outlives its window by entryGrace,
//     and a judgement that would come later is not made: see write.
//
// So of all takes in a span that were answered with yes, the last has counted the others.
// A process that fails, is late or loses an answer leaves takes that nobody uses, and
// these only make room for less. What spares add to this is said with them.

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

// batch is one entry on its way to the log, with the calls that it is to answer.
type batch struct {
	entry
	calls  []*call
	own    int           // takes that are of calls, in their order; behind them are spares
	tokens int64         // of the takes
	ttl    time.Duration // that the entry is kept for at least
}

func (b *batch) empty() bool { return len(b.takes)+len(b.notes) == 0 }

func (b *batch) full() bool { return len(b.takes) == maxTakes || len(b.notes) == maxTakes }

// take asks for a request of the window for c.
func (b *batch) take(c *call, window time.Duration) {
	b.calls, b.takes = append(b.calls, c), append(b.takes, c.ask.Tokens)
	b.tokens += c.ask.Tokens
	b.own++
	b.ttl = max(b.ttl, window)
}

// say has c wait until its note is in the log.
func (b *batch) say(c *call, span time.Duration) {
	b.calls, b.notes = append(b.calls, c), append(b.notes, c.note)
	b.ttl = max(b.ttl, span)
}

// work appends entries until there is nothing left to say.
func (t *tail) work() {
	for failed := false; ; {
		t.mu.Lock()
		b := t.next(failed)
		seen := t.seen
		t.mu.Unlock()
		if b.empty() {
			return
		}
		began, sent := t.b.clock.elapsed(), time.Now()
		seq, err := t.write(b, seen, began)
		failed = err != nil
		t.mu.Lock()
		t.settle(b, seq, began, err)
		t.keepSpares(b, seq, sent, err)
		t.mu.Unlock()
	}
}

// write appends the entry and reads the log up to it. The sequence is 0 if the entry is
// not in the log, as far as is known; with a sequence and an error it is, and cannot be
// judged.
func (t *tail) write(b batch, seen uint64, began int64) (seq uint64, err error) {
	ctx, cancel := context.WithTimeoutCause(t.b.ctx, t.b.timeout, errNoAnswer)
	defer cancel()
	seq, err = t.b.log.append(ctx, t.name, b.encode(), b.ttl+entryGrace)
	if err == nil {
		if seq <= seen { // the stream has been made anew
			t.mu.Lock()
			t.restart()
			t.mu.Unlock()
		}
		err = t.catchUp(ctx, seq)
	}
	if err == nil && t.b.clock.elapsed()-began > int64(t.b.timeout) {
		// Entries that counted may have left the log before they were read.
		err = unavailable(errNoAnswer)
	}
	return seq, t.b.closing(err)
}

// next makes the next entry of what waits. After a failure nothing is said that nobody
// waits for: it keeps until somebody comes. Called with the lock held.
func (t *tail) next(failed bool) batch {
	var b batch
	now, later := t.now(), t.queue[:0]
	for _, c := range t.queue {
		if !c.left && !t.include(&b, c, now) {
			later = append(later, c)
		}
	}
	clear(t.queue[len(later):])
	t.queue = later
	b.takes = t.claim(b, now)
	if len(t.backs) > 0 && (!failed || len(b.calls) > 0) {
		t.includeBacks(&b)
	}
	t.working = !b.empty()
	return b
}

// include puts c into the entry, or answers it if that needs none. It returns false for
// one that has to stay for the entry after this, which is full, or has room for c only if
// another take does not fit. Called with the lock held.
func (t *tail) include(b *batch, c *call, now int64) bool {
	switch {
	case b.full():
		return false
	case c.note.kind != "":
		b.say(c, max(t.keep, c.note.span))
		return true
	}
	if a, ok := t.spare(c.ask); ok {
		c.done <- answer{Admission: a}
		return true
	}
	q := padded(c.ask.Quota)
	if !t.window.Fits(now, q, c.ask.Tokens) {
		if a, ok := t.refusal(c.ask); ok {
			c.done <- answer{Admission: a}
			return true
		}
		c.note = waiting(c.ask)
		b.say(c, q.Window)
		return true
	}
	requests, tokens := t.window.Held(now, q.Window)
	if !q.Room(requests+int64(len(b.takes)), tokens+b.tokens, c.ask.Tokens) {
		return false
	}
	b.take(c, q.Window)
	return true
}

// includeBacks gives back what is to be given back, and with it answers those whose takes
// these were. Called with the lock held.
func (t *tail) includeBacks(b *batch) {
	b.notes, t.backs = append(b.notes, t.backs...), nil
	for _, c := range t.owed {
		if _, ok := t.refusal(c.ask); !ok && !c.left {
			b.notes = append(b.notes, waiting(c.ask))
		}
	}
	b.calls, t.owed = append(b.calls, t.owed...), nil
	b.ttl = max(b.ttl, t.keep)
}

// settle answers the calls of an entry that has been appended with that sequence, or
// not. Called with the lock held.
func (t *tail) settle(b batch, seq uint64, began int64, err error) {
	if err == nil && t.seen < seq {
		err = unavailable(errors.New("the log began anew"))
	}
	if seq == 0 { // not appended, as far as we know: say it again later
		for _, n := range b.notes {
			if n.kind == back {
				t.giveBack(n.id)
			}
		}
	}
	take := 0
	for _, c := range b.calls {
		switch {
		case c.owed, c.note.kind == wait: // it was refused already, and may have a place in line now
			c.done <- answer{Admission: t.placed(c.ask)}
		case c.note.kind != "" && seq > 0: // it is in the log
			c.done <- answer{}
		case c.note.kind != "":
			c.done <- answer{err: err}
		default:
			t.resolve(c, takeID(seq, take), began, err)
			take++
		}
	}
}

// resolve answers one call by its take, which has that id if it is in the log. Called with
// the lock held.
func (t *tail) resolve(c *call, id uint64, began int64, err error) {
	if err == nil {
		t.judge(c, id, began)
		return
	}
	if id>>takeBits > 0 { // it is in the log, but who knows whether it fits
		t.giveBack(id)
	}
	c.done <- answer{err: err}
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
