package natskv

import (
	"context"
	"time"
)

const (
	// How long an entry that the server has stored may take to be sent on before
	// the log is read instead: it usually arrives before the acknowledgement. Less
	// where nothing has arrived yet, as the server may not know that we listen.
	feedPatience  = 200 * time.Millisecond
	firstPatience = 20 * time.Millisecond

	// How soon a replica is asked again that does not have an entry yet.
	replicaPatience = 2 * time.Millisecond
)

// receive takes an entry that the server has sent on.
func (t *tail) receive(seq uint64, stamp int64, predecessor uint64, body []byte) {
	t.b.clock.received(stamp)
	t.mu.Lock()
	defer t.mu.Unlock()
	t.heard = true
	switch {
	case seq <= t.seen:
	case predecessor > t.seen:
		t.behind = true
		t.wake()
	default:
		t.advance(seq, stamp, body)
	}
}

// advance adds the entry that follows on seen. Called with the lock held.
func (t *tail) advance(seq uint64, stamp int64, body []byte) {
	e := decodeEntry(body)
	e.apply(&t.window, seq, stamp)
	for _, n := range t.backs { // given back before the log was read again
		if n.id>>takeBits == seq {
			t.window.Refund(n.id)
		}
	}
	t.lineUp(e, stamp)
	t.seen = seq
	t.wake()
}

func (t *tail) wake() {
	if t.grown != nil {
		close(t.grown)
		t.grown = nil
	}
}

// catchUp waits until the tail has seen the entry with that sequence, which
// exists, and reads the log if it has not come by itself.
func (t *tail) catchUp(ctx context.Context, seq uint64) error {
	for {
		t.mu.Lock()
		if t.seen >= seq {
			t.mu.Unlock()
			return nil
		}
		wait := firstPatience
		if t.heard {
			wait = feedPatience
		}
		behind, from := t.behind, t.seen+1
		t.behind = false
		if t.grown == nil {
			t.grown = make(chan struct{})
		}
		grown := t.grown
		t.mu.Unlock()
		if behind {
			if err := t.b.log.read(ctx, t.name, from, t.filler(from)); err != nil {
				t.missed()
				return err
			}
			wait = replicaPatience
		}
		timer := time.NewTimer(wait)
		select {
		case <-grown:
		case <-timer.C:
			t.missed()
		case <-ctx.Done():
			timer.Stop()
			return ended(ctx)
		}
		timer.Stop()
	}
}

// filler returns what adds the entries that are read from a sequence on. Those
// that came meanwhile are left out; if the log was begun anew meanwhile, all
// are, as those before them are missing.
func (t *tail) filler(from uint64) func(seq uint64, stamp int64, body []byte) {
	before := from - 1
	return func(seq uint64, stamp int64, body []byte) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.seen >= before && t.seen < seq {
			t.advance(seq, stamp, body)
		}
		before = seq
	}
}

func (t *tail) missed() {
	t.mu.Lock()
	t.behind = true
	t.mu.Unlock()
}

// refresh makes sure that the tail holds all of a span that was in the log at
// some moment no longer than age ago, and that the server's time is known.
func (t *tail) refresh(ctx context.Context, span, age time.Duration) error {
	now := t.b.clock.elapsed()
	t.mu.Lock()
	t.widen(span)
	current := t.synced >= 0 && now-t.synced < int64(age)
	t.behind = t.behind || !t.heard // what is there already is not sent on again
	t.mu.Unlock()
	if current {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(t.b.ctx, cancel)()
	if !t.b.clock.fresh(time.Minute) {
		before := t.b.clock.elapsed()
		stamp, err := t.b.log.now(ctx)
		if err != nil {
			return t.b.closing(err)
		}
		t.b.clock.sent(stamp, before)
	}
	last, err := t.b.log.last(ctx, t.name)
	if err == nil {
		err = t.catchUp(ctx, last)
	}
	if err != nil {
		return t.b.closing(err)
	}
	t.mu.Lock()
	t.synced = now
	t.mu.Unlock()
	return nil
}
