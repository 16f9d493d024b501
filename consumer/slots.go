package consumer

import "context"

// slots are how many messages may be in hand at a time. The channel has one element for
// each that is in use. Safe for concurrent use.
type slots chan struct{}

func newSlots(n int) slots { return make(slots, n) }

// wait takes a slot as soon as there is one. It reports false, and has taken none, if
// ctx ends first.
func (s slots) wait(ctx context.Context) bool {
	select {
	case s <- struct{}{}:
	case <-ctx.Done():
		return false
	}
	if ctx.Err() != nil { // both were ready
		s.give(1)
		return false
	}
	return true
}

// take takes up to n slots without waiting.
func (s slots) take(n int) (taken int) {
	for ; taken < n; taken++ {
		select {
		case s <- struct{}{}:
		default:
			return taken
		}
	}
	return taken
}

// give returns n slots that were taken.
func (s slots) give(n int) {
	for range n {
		<-s
	}
}

// free is how many slots are left at the moment.
func (s slots) free() int { return cap(s) - len(s) }
