package admission

import (
	"context"
	"errors"
	"sync"
)

// lease is an admitted call: its permit and its ownership. Whoever holds it must
// release it, whatever happens.
type lease struct {
	controller *Controller
	call       *Call
	ctx        context.Context // the caller's, ended early when the controller closes
	cancel     func()
	once       sync.Once
}

// release gives the permit back and lets go of the call, which is over by then: a
// call that nobody concluded has been cancelled. Releasing twice is safe.
func (l *lease) release() {
	l.leave(func() {
		l.controller.active--
		l.controller.dispatch()
	})
}

func (l *lease) leave(locked func()) {
	l.once.Do(func() {
		_ = l.call.finish(Cancelled, context.Canceled)
		l.cancel()
		c := l.controller
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.owned, l.call.id)
		locked()
		if len(c.owned) == 0 && c.ctx.Err() != nil {
			close(c.empty)
		}
	})
}

// conclude ends the call by what its work returned and by what became of its
// context. An interruption that came first owns the result.
func (c *Call) conclude(ctx context.Context, err error) {
	cause := context.Cause(ctx)
	switch {
	case cause != nil && errors.Is(cause, ErrClosed):
		_ = c.finish(Aborted, cause)
	case cause != nil && errors.Is(ctx.Err(), context.DeadlineExceeded):
		_ = c.finish(Aborted, &DeadlineExceeded{CallID: c.id, Phase: c.Phase(), Err: context.DeadlineExceeded})
	case cause != nil:
		_ = c.finish(Cancelled, cause)
	case errors.Is(err, ErrSkip):
		_ = c.finish(Skipped, nil)
	case err != nil:
		_ = c.finish(Failed, err)
	default:
		_ = c.finish(Completed, nil)
	}
}
