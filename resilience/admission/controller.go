package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// Controller admits calls one after another, in the order in which they came.
// Use one for all calls that share a limit, one-shot and streamed alike. It is
// safe for concurrent use; [Controller.Close] it when done.
type Controller struct {
	cfg config

	ctx    context.Context // ends when the controller closes, with the reason as its cause
	cancel context.CancelCauseFunc

	mu        sync.Mutex
	owned     roll             // queued or active: from acquire to release
	named     map[string]*Call // those of them that were given an id
	line      []*waiter        // whoever waits; the first queueCapacity of them are in the queue
	active    int64
	requests  int64 // left in this window, as are tokens
	tokens    int64
	windowEnd time.Time
	sleeping  bool          // somebody sleeps until windowEnd
	empty     chan struct{} // closed when closed and nothing is owned
	work      sync.WaitGroup
}

// waiter is a call in the line. Only the head is ever charged.
type waiter struct {
	call     *Call
	charged  bool
	admitted bool
	granted  chan struct{} // closed when admitted
}

// New returns a controller; see the options for the defaults.
func New(opts ...Option) (*Controller, error) {
	cfg := config{queueCapacity: DefaultQueueCapacity, refresh: DefaultRefresh, now: time.Now, sleep: sleep}
	for _, opt := range opts {
		opt(&cfg)
	}
	if err := cfg.validate(); err != nil {
		return nil, err
	}
	c := &Controller{
		cfg:   cfg,
		named: map[string]*Call{},
		empty: make(chan struct{}),
	}
	c.ctx, c.cancel = context.WithCancelCause(context.Background())
	c.reset(cfg.now())
	return c, nil
}

// acquire admits the call or ends it. Until it has been admitted a call has used
// nothing; then it has used its share of the window for good, runs under the
// returned context, and must be released, whatever happens.
func (c *Controller) acquire(ctx context.Context, call *Call) (context.Context, error) {
	call.ctx.parent = ctx
	ctx = &call.ctx
	w, err := c.own(ctx, call)
	if err != nil {
		call.cancel(nil)
		return nil, err
	}
	if w != nil {
		if err := c.wait(ctx, w); err != nil {
			_, err = call.conclude(ctx, err)
			c.leave(call, false)
			return nil, err
		}
	}
	call.admit()
	return ctx, nil
}

// own makes a claimed call inspectable, or refuses it without owning it. If
// nobody waits and the call fits it is admitted at once, and there is no waiter; else
// it stands in line, in the same step, so that no later one comes before it.
func (c *Controller) own(ctx context.Context, call *Call) (*waiter, error) {
	if err := c.check(call); err != nil {
		_, err = call.finish(Failed, err)
		return nil, err
	}
	expired := over(ctx) != nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		_, err := call.finish(Aborted, context.Cause(c.ctx))
		return nil, err
	}
	if call.named {
		if _, taken := c.named[call.id]; taken {
			_, err := call.finish(Failed, conflict(call))
			return nil, err
		}
		c.named[call.id] = call
	}
	c.owned.add(call)
	if !expired && len(c.line) == 0 && c.fits(call) && c.permitFree() {
		c.charge(call, 1)
		c.active++
		return nil, nil
	}
	w := &waiter{call: call, granted: make(chan struct{})}
	if !expired {
		c.line = append(c.line, w)
		if len(c.line) <= c.cfg.queueCapacity {
			call.enter(PhaseRate)
		}
		c.dispatch()
	}
	return w, nil
}

func conflict(call *Call) error { return fmt.Errorf("%w: %s", ErrConflict, call.ID()) }

// check refuses what waiting would not help.
func (c *Controller) check(call *Call) error {
	switch {
	case call.tokens < 0:
		return &ConfigError{Argument: "tokens", Problem: "must not be negative"}
	case c.cfg.tokens == nil:
		return nil
	case !call.estimate:
		return ErrNoTokenEstimate
	case call.tokens > *c.cfg.tokens:
		return &RequestExceedsTokenWindow{Tokens: call.tokens, Limit: *c.cfg.tokens}
	}
	return nil
}

// wait returns nil once the call has its share of the window and its permit.
func (c *Controller) wait(ctx context.Context, w *waiter) error {
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if w.admitted {
		return nil // at the same moment: the permit is ours and is used or released as such
	}
	if i := slices.Index(c.line, w); i >= 0 {
		c.drop(i)
		if w.charged {
			c.charge(w.call, -1)
		}
		c.dispatch()
	}
	return ctx.Err()
}

// drop takes the i-th out of the line. If it was in the queue, the first who waits
// outside moves in. The lock is held.
func (c *Controller) drop(i int) {
	if i == 0 { // as nearly always
		c.line[0] = nil
		c.line = c.line[1:]
	} else {
		c.line = slices.Delete(c.line, i, i+1)
	}
	if last := c.cfg.queueCapacity - 1; i <= last && last < len(c.line) {
		c.line[last].call.enter(PhaseRate)
	}
}

// dispatch grants from the head of the line for as long as the head fits. A call
// behind it never overtakes. The lock is held.
func (c *Controller) dispatch() {
	for len(c.line) > 0 && c.ctx.Err() == nil {
		head := c.line[0]
		if !head.charged {
			if !c.fits(head.call) {
				c.sleepUntilRefresh()
				return
			}
			c.charge(head.call, 1)
			head.charged = true
			head.call.enter(PhaseConcurrency)
		}
		if !c.permitFree() {
			return // release dispatches again
		}
		c.active++
		c.drop(0)
		head.admitted = true
		close(head.granted)
	}
}

func (c *Controller) permitFree() bool {
	return c.cfg.concurrency == nil || c.active < *c.cfg.concurrency
}

// fits reports whether the window of this moment has room for the call.
func (c *Controller) fits(call *Call) bool {
	if c.cfg.requests == nil && c.cfg.tokens == nil {
		return true
	}
	c.refresh(c.cfg.now())
	return (c.cfg.requests == nil || c.requests >= 1) && (c.cfg.tokens == nil || c.tokens >= call.tokens)
}

// charge takes (1) or gives back (-1) one request and its tokens, always both.
func (c *Controller) charge(call *Call, sign int64) {
	c.requests -= sign
	c.tokens -= sign * call.tokens
}

// leave ends the ownership of a call that is over, once, and gives back the permit
// of one that has been active.
func (c *Controller) leave(call *Call, active bool) {
	call.cancel(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.owned.remove(call) {
		return // it has left before
	}
	if call.named {
		delete(c.named, call.id)
	}
	if active {
		c.active--
		c.dispatch()
	}
	if c.owned.size == 0 && c.ctx.Err() != nil {
		close(c.empty)
	}
}

// Close refuses new calls, aborts those that wait or run, and returns when their
// cleanup is done. Closing twice is safe; calling it from within a call is not.
func (c *Controller) Close() error {
	c.shut(ErrClosed)
	<-c.empty
	c.work.Wait()
	return nil
}

// Err is nil while the controller admits calls, afterwards why it does not.
func (c *Controller) Err() error { return context.Cause(c.ctx) }

// Done is closed when the controller stops to admit calls.
func (c *Controller) Done() <-chan struct{} { return c.ctx.Done() }

func (c *Controller) shut(cause error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		return
	}
	c.cancel(cause)
	for call := range c.owned.all() {
		call.cancel(cause)
	}
	if c.owned.size == 0 {
		close(c.empty)
	}
}
