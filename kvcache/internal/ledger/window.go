package ledger

import (
	"sort"
	"time"
)

// Quota says how much one window may hold; 0 is unlimited.
type Quota struct {
	Window           time.Duration
	Requests, Tokens int64
}

// Unlimited reports whether q limits nothing.
func (q Quota) Unlimited() bool { return q.Requests == 0 && q.Tokens == 0 }

// Room reports whether one more request fits beside those that are there.
func (q Quota) Room(requests, tokens, more int64) bool {
	return (q.Requests == 0 || requests < q.Requests) &&
		(q.Tokens == 0 || more <= q.Tokens-tokens)
}

// item is one admission.
type item struct {
	id     uint64
	at     int64
	tokens int64
}

// Window holds the admissions of one key, in the order in which they were made.
// The zero value is empty. Not safe for concurrent use.
//
// Answers cost amortised constant time: the sums over the window are kept, and
// its edge moves over each item once as time goes by.
type Window struct {
	items []item // ascending by at and by id, the end of room
	room  []item // empty, with all the capacity there is
	keep  int64  // how far back from the latest item they are remembered
	gone  int64  // the instant of the latest item that was forgotten, if some were
	some  bool   // some were
	cool  int64  // nothing is admitted before this instant

	// Sums over items[from:], which are those after the instant that the last
	// question put the edge at.
	from             int
	requests, tokens int64
}

// Keep makes the window remember admissions for at least span from now on: the
// widest that is asked about, and as long as judgements may take.
func (w *Window) Keep(span time.Duration) { w.keep = max(w.keep, int64(span)) }

// Add records an admission. An instant before the latest one counts as the
// latest: a store whose clock steps back must not make room twice. Items
// that have left the widest window are forgotten, and only here: no question,
// however wrong its clock, makes the window forget.
func (w *Window) Add(id uint64, at, tokens int64) {
	at = max(at, w.Latest())
	if len(w.items) == cap(w.items) {
		w.makeRoom()
	}
	w.items = append(w.items, item{id: id, at: at, tokens: tokens})
	w.requests++
	w.tokens += tokens

	n := 0
	for w.items[n].at <= at-w.keep && n < len(w.items)-1 {
		w.gone, w.some = w.items[n].at, true
		n++
	}
	w.slide(at - w.keep) // so that what is forgotten is in no sum
	w.items, w.from = w.items[n:], w.from-n
}

// makeRoom makes items end before their capacity does: in the room of those that
// were forgotten, unless that is too little to be worth moving the others, or so
// much that it is to be given back; else in twice what there is.
func (w *Window) makeRoom() {
	n := len(w.items)
	if forgotten := cap(w.room) - cap(w.items); forgotten < max(1, n/2) || forgotten > 8*n+64 {
		w.room = make([]item, 0, 2*n+8)
	}
	w.items = append(w.room, w.items...)
}

// Latest is the instant of the last admission, or 0 before the first.
func (w *Window) Latest() int64 {
	if len(w.items) == 0 {
		return 0
	}
	return w.items[len(w.items)-1].at
}

// Settle replaces the tokens of the admission id, if it is still there.
func (w *Window) Settle(id uint64, tokens int64) {
	if i, ok := w.find(id); ok {
		if i >= w.from {
			w.tokens += tokens - w.items[i].tokens
		}
		w.items[i].tokens = tokens
	}
}

// Refund takes the admission id back, as if it had never been.
func (w *Window) Refund(id uint64) {
	if i, ok := w.find(id); ok {
		if i >= w.from {
			w.requests--
			w.tokens -= w.items[i].tokens
		} else {
			w.from--
		}
		w.items = append(w.items[:i], w.items[i+1:]...)
	}
}

func (w *Window) find(id uint64) (int, bool) {
	i := sort.Search(len(w.items), func(i int) bool { return w.items[i].id >= id })
	return i, i < len(w.items) && w.items[i].id == id
}

// Cool refuses everything before until; it is only ever extended.
func (w *Window) Cool(until int64) { w.cool = max(w.cool, until) }

// Cooling reports whether w refuses everything at now.
func (w *Window) Cooling(now int64) bool { return now < w.cool }

// Empty reports whether nothing in w can matter to a question asked at now.
func (w *Window) Empty(now int64) bool {
	return w.cool <= now && (len(w.items) == 0 || w.Latest() <= now-w.keep)
}

// Held returns what the window that ends at now holds.
func (w *Window) Held(now int64, span time.Duration) (requests, tokens int64) {
	w.slide(now - int64(span))
	return w.requests, w.tokens
}

// Fits reports whether a request of tokens is within q at now.
func (w *Window) Fits(now int64, q Quota, tokens int64) bool {
	w.slide(now - int64(q.Window))
	return now >= w.cool && q.Room(w.requests, w.tokens, tokens)
}

// Judge reports whether the admission id, which was added before anybody asked,
// was within q at its own instant, given what was added before it and has not been
// taken back. That what was added later is there as well does no harm. If
// something in its window has been forgotten already, it was not.
func (w *Window) Judge(id uint64, q Quota) bool {
	i, ok := w.find(id)
	if !ok {
		return false
	}
	edge := w.items[i].at - int64(q.Window)
	if w.some && edge < w.gone {
		return false
	}
	w.slide(edge)
	held, tokens := w.requests, w.tokens
	for _, it := range w.items[i:] {
		held, tokens = held-1, tokens-it.tokens
	}
	return w.items[i].at >= w.cool && q.Room(held, tokens, w.items[i].tokens)
}

// At returns the instant of the admission id, if it is still there.
func (w *Window) At(id uint64) (int64, bool) {
	if i, ok := w.find(id); ok {
		return w.items[i].at, true
	}
	return 0, false
}

// Opens returns the earliest instant, not before now, at which a request of
// tokens is within q if nobody else is admitted until then. The request must
// fit an empty window.
func (w *Window) Opens(now int64, q Quota, tokens int64) int64 {
	return w.opensBehind(nil, 0, now, q, tokens)
}

// opensBehind is Opens for a request that lets the holders of slots go first.
// They are ascending and ask for slotTokens together.
func (w *Window) opensBehind(slots []slot, slotTokens, now int64, q Quota, tokens int64) int64 {
	span := int64(q.Window)
	w.slide(now - span)
	opens := max(now, w.cool)
	if len(slots) > 0 {
		opens = max(opens, slots[len(slots)-1].at)
	}
	held, heldTokens := w.requests+int64(len(slots)), w.tokens+slotTokens
	for _, it := range w.items[w.from:] {
		if q.Room(held, heldTokens, tokens) {
			return opens
		}
		held, heldTokens = held-1, heldTokens-it.tokens
		opens = max(opens, it.at+span)
	}
	for _, s := range slots {
		if q.Room(held, heldTokens, tokens) {
			return opens
		}
		held, heldTokens = held-1, heldTokens-s.tokens
		opens = max(opens, s.at+span)
	}
	return opens
}

// slide moves the edge of the sums, either way.
func (w *Window) slide(edge int64) {
	for w.from < len(w.items) && w.items[w.from].at <= edge {
		w.requests--
		w.tokens -= w.items[w.from].tokens
		w.from++
	}
	for w.from > 0 && w.items[w.from-1].at > edge {
		w.from--
		w.requests++
		w.tokens += w.items[w.from].tokens
	}
}
