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
	cfg    config
	places chan struct{} // one for every call in the queue: the physical bound

	ctx    context.Context // ends when the controller closes, with the reason as its cause
	cancel context.CancelCauseFunc

	mu        sync.Mutex
	owned     roll             // queued or active: from acquire to release
	named     map[string]*Call // those of them that were given an id
	queue     []*waiter
	active    int64
	requests  int64 // left in this window, as are tokens
	tokens    int64
	windowEnd time.Time
	sleeping  bool          // somebody sleeps until windowEnd
	empty     chan struct{} // closed when closed and nothing is owned
	work      sync.WaitGroup
}

// waiter is a call in the queue. Only the head is ever charged.
type waiter struct {
	call    *Call
	charged bool
	granted chan struct{} // closed under the lock, together with leaving the queue
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
		cfg:    cfg,
		places: make(chan struct{}, cfg.queueCapacity),
		named:  map[string]*Call{},
		empty:  make(chan struct{}),
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
	admitted, err := c.own(ctx, call)
	if err != nil {
		call.cancel(nil)
		return nil, err
	}
	if !admitted {
		if err := c.wait(ctx, call); err != nil {
			_, err = call.conclude(ctx, err)
			c.leave(call, false)
			return nil, err
		}
	}
	call.admit()
	return ctx, nil
}

// own makes a claimed call inspectable, or refuses it without owning it. If
// nobody waits and the call fits it is admitted at once.
func (c *Controller) own(ctx context.Context, call *Call) (admitted bool, err error) {
	if err := c.check(call); err != nil {
		_, err = call.finish(Failed, err)
		return false, err
	}
	expired := over(ctx) != nil
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		_, err = call.finish(Aborted, context.Cause(c.ctx))
		return false, err
	}
	if call.named {
		if _, taken := c.named[call.id]; taken {
			_, err = call.finish(Failed, conflict(call))
			return false, err
		}
		c.named[call.id] = call
	}
	c.owned.add(call)
	if expired || len(c.queue) > 0 || !c.fits(call) || !c.permitFree() {
		return false, nil
	}
	c.charge(call, 1)
	c.active++
	return true, nil
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
func (c *Controller) wait(ctx context.Context, call *Call) error {
	if err := over(ctx); err != nil {
		return err
	}
	select {
	case c.places <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	w := &waiter{call: call, granted: make(chan struct{})}
	call.enter(PhaseRate)
	c.mu.Lock()
	c.queue = append(c.queue, w)
	c.dispatch()
	c.mu.Unlock()

	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.queue, w)
	if i < 0 {
		return nil // granted at the same moment: the permit is ours and is used or released as such
	}
	c.queue = slices.Delete(c.queue, i, i+1)
	<-c.places
	if w.charged {
		c.charge(call, -1)
	}
	c.dispatch()
	return ctx.Err()
}

// dispatch grants from the head of the queue for as long as the head fits. A call
// behind it never overtakes. The lock is held.
func (c *Controller) dispatch() {
	for len(c.queue) > 0 && c.ctx.Err() == nil {
		head := c.queue[0]
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
		c.queue = c.queue[1:]
		<-c.places
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
