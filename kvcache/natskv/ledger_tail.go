package natskv

import (
	"context"
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
