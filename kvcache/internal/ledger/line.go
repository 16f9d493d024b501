package ledger

// maxSlots bounds the memory of a [Line]. Those who come when it is full are told
// the slot after the last one, all the same.
const maxSlots = 8192

// slot is the promise of a place in the window to one waiter.
type slot struct {
	waiter string
	at     int64
	tokens int64
}

// Line gives each of many refused waiters an instant of its own to come back
// at, in the order in which they first asked, so that they do not all return
// for the one place that frees first. A slot is advice: it takes nothing from the
// window, and whoever asks is admitted if there is room. It ends when its
// instant is reached or its waiter leaves.
//
// The zero value is empty. Not safe for concurrent use.
type Line struct {
	slots  []slot // ascending by at
	places map[string]int64
	tokens int64 // of all slots
}

// Slot returns when waiter should ask again for a request of tokens that w
// refuses at now. A waiter that asks early hears the same instant again, unless
// the window has filled up in the meantime.
func (l *Line) Slot(w *Window, now int64, q Quota, tokens int64, waiter string) int64 {
	soonest := w.Opens(now, q, tokens)
	if waiter == "" {
		return soonest
	}
	if at, ok := l.kept(soonest, now, waiter); ok {
		return at
	}
	l.Leave(waiter)
	at := w.opensBehind(l.slots, l.tokens, now, q, tokens)
	if len(l.slots) < maxSlots {
		if l.places == nil {
			l.places = make(map[string]int64)
		}
		l.slots = append(l.slots, slot{waiter: waiter, at: at, tokens: tokens})
		l.places[waiter] = at
		l.tokens += tokens
	}
	return at
}

// Kept returns the slot that waiter has been given, if it still has one that
// is not too early by now.
func (l *Line) Kept(w *Window, now int64, q Quota, tokens int64, waiter string) (at int64, ok bool) {
	return l.kept(w.Opens(now, q, tokens), now, waiter)
}

func (l *Line) kept(soonest, now int64, waiter string) (int64, bool) {
	l.forget(now)
	at, ok := l.places[waiter]
	return at, ok && at >= soonest
}

// Full reports whether no further slot is kept.
func (l *Line) Full() bool { return len(l.slots) >= maxSlots }

// Leave gives up the slot of waiter: it was admitted.
func (l *Line) Leave(waiter string) {
	if _, ok := l.places[waiter]; !ok {
		return
	}
	for i := range l.slots {
		if l.slots[i].waiter == waiter {
			l.tokens -= l.slots[i].tokens
			l.slots = append(l.slots[:i], l.slots[i+1:]...)
			break
		}
	}
	delete(l.places, waiter)
}

// Clear gives up all slots: they were computed from what is no longer so.
func (l *Line) Clear() { *l = Line{} }

// Empty reports whether no slot lies after now.
func (l *Line) Empty(now int64) bool {
	l.forget(now)
	return len(l.slots) == 0
}

// forget drops the slots whose instant has come.
func (l *Line) forget(now int64) {
	n := 0
	for n < len(l.slots) && l.slots[n].at <= now {
		l.tokens -= l.slots[n].tokens
		delete(l.places, l.slots[n].waiter)
		n++
	}
	l.slots = l.slots[n:]
}
