package natskv

import (
	"hash/fnv"
	"strconv"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/internal/ledger"
)

// Whoever is refused and will come back stands in a line that all processes share:
// the line is folded from the log like the window, in the order of the server. A
// waiter writes to it once, with whatever else is in the next entry, and is then told
// its instant without asking anybody. What is admitted does not depend on it.

// waiterName is how a waiter is called in the log, "" for nobody: short, and the same
// in every process. Two that are called the same share a slot.
func waiterName(waiter string) string {
	if waiter == "" {
		return ""
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(waiter)) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

// maxWaiterName is the length of the longest one.
const maxWaiterName = 13

// waiting is the note by which a refused waiter gets in line.
func waiting(ask kvcache.Ask) note {
	return note{kind: wait, waiter: waiterName(ask.Waiter), tokens: ask.Tokens, quota: ask.Quota}
}

// refusal tells when to ask again, if that is known: not for a waiter that has yet
// to get in line. Called with the lock held.
func (t *tail) refusal(ask kvcache.Ask) (kvcache.Admission, bool) {
	if ask.Waiter == "" || ledger.Quota(ask.Quota).Unlimited() || t.line.Full() {
		return t.placed(ask), true
	}
	now := t.now()
	at, ok := t.line.Kept(&t.window, now, padded(ask.Quota), ask.Tokens, waiterName(ask.Waiter))
	return retryAt(at, now), ok
}

// placed tells when to ask again, from this process's own knowledge of the line if
// the waiter could not get in it for all. Called with the lock held.
func (t *tail) placed(ask kvcache.Ask) kvcache.Admission {
	now := t.now()
	return retryAt(t.line.Slot(&t.window, now, padded(ask.Quota), ask.Tokens, waiterName(ask.Waiter)), now)
}

// leaveLine gives up the slot of a waiter that was admitted. Other processes keep it
// until its instant. Called with the lock held.
func (t *tail) leaveLine(waiter string) {
	if waiter != "" {
		t.line.Leave(waiterName(waiter))
	}
}

func retryAt(at, now int64) kvcache.Admission {
	return kvcache.Admission{RetryAfter: time.Duration(max(1, at-now))}
}

// lineUp adds the waiters of an entry to the line. Called with the lock held.
func (t *tail) lineUp(e entry, stamp int64) {
	for _, n := range e.notes {
		if n.kind == cool {
			t.line.Clear()
		}
	}
	now := max(stamp, t.window.Latest())
	for _, n := range e.notes {
		if n.kind == wait {
			t.line.Slot(&t.window, now, padded(n.quota), n.tokens, n.waiter)
		}
	}
}
