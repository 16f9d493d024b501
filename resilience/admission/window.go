package admission

import (
	"context"
	"fmt"
	"time"
)

// reset fills the window. A head of the queue that has its share and waits for a
// permit starts in the new window, so it is charged to that one. The lock is held
// (or the controller is new).
func (c *Controller) reset(now time.Time) {
	c.windowEnd = now.Add(c.cfg.period())
	c.requests, c.tokens = 0, 0
	if c.cfg.requests != nil {
		c.requests = *c.cfg.requests
	}
	if c.cfg.tokens != nil {
		c.tokens = *c.cfg.tokens
	}
	if len(c.line) > 0 && c.line[0].charged {
		c.charge(c.line[0].call, 1)
	}
}

// refresh starts the next window if this one is over; windows keep their beat.
func (c *Controller) refresh(now time.Time) {
	late := now.Sub(c.windowEnd)
	if late < 0 {
		return
	}
	c.reset(now.Add(-(late % c.cfg.period())))
}

// sleepUntilRefresh makes sure that somebody dispatches when the window ends. It
// is begun by a head of the queue that has to wait, and then lasts until the
// window ends or the controller closes.
func (c *Controller) sleepUntilRefresh() {
	if c.sleeping {
		return
	}
	c.sleeping = true
	d := c.windowEnd.Sub(c.cfg.now())
	c.work.Go(func() {
		err := c.safeSleep(d)
		c.mu.Lock()
		c.sleeping = false
		c.dispatch()
		c.mu.Unlock()
		if err != nil && c.ctx.Err() == nil {
			c.shut(fmt.Errorf("%w: the window could not be refreshed: %w", ErrClosed, err))
		}
	})
}

// safeSleep turns a panic of an injected sleep into an error: it must end in a
// closed controller, not in callers that wait for ever.
func (c *Controller) safeSleep(d time.Duration) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return c.cfg.sleep(c.ctx, d)
}

// over returns why the context has ended, nil if it has not. A deadline at or
// before this instant has passed, even if its timer has yet to fire.
func over(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		<-ctx.Done()
	}
	return ctx.Err()
}

// WithTimeout turns a relative timeout into the one absolute deadline of a call.
// Zero and negative timeouts mean that the caller sets none. Call it once, at the
// outermost caller; everything below uses the context.
func WithTimeout(ctx context.Context, timeout time.Duration) (context.Context, context.CancelFunc) {
	if timeout <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, timeout)
}
