package admission

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// scope is a context that costs next to nothing until somebody listens to it: a
// call and each of its attempts have one, and most are over before anybody has
// waited for their end. Whoever asks for Done, or derives a context that can be
// cancelled, makes it a context of the standard library, and from then on that is
// what answers, so causes, AfterFunc and children are as anywhere. Until then its
// answers are computed: it has ended when its parent has, when its own deadline
// has passed, or when it was told to end.
//
// It must not be copied. Safe for concurrent use.
type scope struct {
	parent context.Context
	since  *time.Time    // what limit counts from; nil for a scope without a deadline of its own
	limit  time.Duration // the deadline, as a distance because that is quicker to compute

	heard atomic.Pointer[heard]
	ended atomic.Bool // without a cause, before anybody listened; set under mu
	mu    sync.Mutex
}

var _ context.Context = (*scope)(nil)

// heard is the scope as a context of the standard library.
type heard struct {
	context.Context
	end context.CancelCauseFunc
}

// end ends s with that cause, if nothing has ended it before.
func (s *scope) end(cause error) {
	if cause == nil && s.endUnheard() {
		return
	}
	s.hear().end(cause)
}

// endUnheard ends s unless somebody listens to it or it has ended another way, and
// says whether s has ended like that.
func (s *scope) endUnheard() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.heard.Load() == nil && s.parent.Err() == nil {
		s.ended.Store(true)
	}
	return s.ended.Load()
}

// hear makes s a real context, once.
func (s *scope) hear() *heard {
	if h := s.heard.Load(); h != nil {
		return h
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.heard.Load(); h != nil {
		return h
	}
	h := new(heard)
	switch {
	case s.ended.Load(): // whatever becomes of the parent now comes too late
		h.Context, h.end = context.WithCancelCause(context.WithoutCancel(s.parent))
		h.end(nil)
	case s.since == nil:
		h.Context, h.end = context.WithCancelCause(s.parent)
	default:
		ctx, cancel := context.WithDeadline(s.parent, s.since.Add(s.limit))
		h.Context, h.end = ctx, func(error) { cancel() }
	}
	s.heard.Store(h)
	return h
}

// late reports whether the scope's own deadline has passed.
func (s *scope) late() bool { return s.since != nil && time.Since(*s.since) >= s.limit }

// Deadline implements [context.Context].
func (s *scope) Deadline() (time.Time, bool) {
	at, ok := s.parent.Deadline()
	if s.since == nil {
		return at, ok
	}
	if own := s.since.Add(s.limit); !ok || own.Before(at) {
		return own, true
	}
	return at, true
}

// Done implements [context.Context].
func (s *scope) Done() <-chan struct{} { return s.hear().Done() }

// Err implements [context.Context].
func (s *scope) Err() error {
	h := s.heard.Load()
	if h == nil {
		if !s.ended.Load() && s.parent.Err() == nil && !s.late() {
			return nil
		}
		h = s.hear() // so that what ended it first stays the reason
	}
	return h.Err()
}

// Value implements [context.Context].
func (s *scope) Value(key any) any {
	if h := s.heard.Load(); h != nil {
		return h.Value(key)
	}
	return s.parent.Value(key)
}
