package admission

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
)

// State of a call. The first two are transient, the others terminal: a call
// reaches exactly one of them and stays there.
type State string

const (
	Pending    State = "PENDING"    // not yet admitted
	Processing State = "PROCESSING" // admitted
	Completed  State = "COMPLETED"
	Failed     State = "FAILED"    // the provider or a hook failed
	Skipped    State = "SKIPPED"   // its pre-hook said so
	Cancelled  State = "CANCELLED" // the caller gave up
	Aborted    State = "ABORTED"   // its deadline passed, or the controller closed
)

// Terminal reports whether a call in this state is over.
func (s State) Terminal() bool { return s != Pending && s != Processing }

// Phase is where in its life a call is, for errors and inspection.
type Phase string

const (
	PhaseEnqueue     Phase = "enqueue"     // waiting for a place in the queue
	PhaseRate        Phase = "rate"        // in line, waiting for requests and tokens
	PhaseConcurrency Phase = "concurrency" // waiting for a permit
	PhaseHook        Phase = "hook"
	PhaseRetryDelay  Phase = "retry_delay"
	PhaseTransport   Phase = "transport" // an attempt that has not answered yet
	PhaseStream      Phase = "stream"    // output has begun
)

// Call is one logical request. It runs once; its methods are safe for concurrent
// use.
type Call struct {
	id     string // under mu if it was not given
	tokens int64
	guard  Guard

	ctx   scope // that an owned call runs under
	first scope // of its first attempt

	mu    sync.Mutex
	state State
	phase Phase
	err   error
	last  error // of the latest attempt

	prev, next *Call // in its controller's roll, guarded by that

	named    bool // the id was given
	estimate bool // so were tokens
	claimed  bool // somebody runs it or has run it
	begun    bool // its first attempt
}

// CallOption sets a property of a new call.
type CallOption func(*Call)

// WithID names the call; the default is a random id.
func WithID(id string) CallOption { return func(c *Call) { c.id, c.named = id, id != "" } }

// WithTokens is the estimate that a token window is charged.
func WithTokens(n int64) CallOption {
	return func(c *Call) { c.tokens, c.estimate = n, true }
}

// GuardedBy sets the guard of this call, in place of the runner's.
func GuardedBy(g Guard) CallOption { return func(c *Call) { c.guard = g } }

// NewCall returns a pending call.
func NewCall(opts ...CallOption) *Call {
	c := &Call{state: Pending, phase: PhaseEnqueue}
	for _, opt := range opts {
		opt(c)
	}
	return c
}

// ID names the call in errors, logs and hooks.
func (c *Call) ID() string {
	if c.named {
		return c.id
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.id == "" {
		c.id = rand.Text()
	}
	return c.id
}

// State is a snapshot.
func (c *Call) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.state
}

// Phase is a snapshot; of a call that is over, the phase it ended in.
func (c *Call) Phase() Phase {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.phase
}

// Err is why the call did not complete, nil otherwise.
func (c *Call) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

func (c *Call) enter(p Phase) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.Terminal() {
		c.phase = p
	}
}

// claim reports whether the caller is the one who may run the call: a call runs
// once, whoever tries again, and through whichever controller.
func (c *Call) claim() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.claimed {
		return false
	}
	c.claimed = true
	return true
}

func (c *Call) cancel(cause error) { c.ctx.end(cause) }

func (c *Call) admit() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.state == Pending {
		c.state, c.phase = Processing, PhaseHook
	}
}

// attempt returns what the next attempt runs under, and moves the call to that
// phase. Once output has begun there is none, but the error of the last attempt.
func (c *Call) attempt() (*scope, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.phase == PhaseStream {
		return nil, c.last
	}
	c.last = nil
	if !c.state.Terminal() {
		c.phase = PhaseTransport
	}
	if c.begun {
		return new(scope), nil // somebody may still hold the first one's
	}
	c.begun = true
	return &c.first, nil
}

// failed notes how an attempt ended. Unless the call is over, or output has begun,
// another may follow.
func (c *Call) failed(err error, over bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.last = err
	if !over && c.phase != PhaseStream && !c.state.Terminal() {
		c.phase = PhaseRetryDelay
	}
}

// finish moves the call to a terminal state. The first to finish owns the result;
// later ones change nothing. It returns how the call ended.
func (c *Call) finish(s State, err error) (State, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.state.Terminal() {
		c.state, c.err = s, err
	}
	return c.state, c.err
}

// conclude ends the call by what its work returned and by what became of its
// context. An interruption that came first owns the result. It returns how the
// call ended.
func (c *Call) conclude(ctx context.Context, err error) (State, error) {
	if ended := ctx.Err(); ended != nil {
		cause := context.Cause(ctx)
		switch {
		case errors.Is(cause, ErrClosed):
			return c.finish(Aborted, cause)
		case errors.Is(ended, context.DeadlineExceeded):
			return c.finish(Aborted, &DeadlineExceeded{CallID: c.ID(), Phase: c.Phase(), Err: context.DeadlineExceeded})
		}
		if !errors.Is(cause, ended) { // the caller has given a reason of its own
			cause = fmt.Errorf("%w: %w", ended, cause)
		}
		return c.finish(Cancelled, cause)
	}
	switch {
	case err == nil:
		return c.finish(Completed, nil)
	case errors.Is(err, ErrSkip):
		return c.finish(Skipped, nil)
	}
	return c.finish(Failed, err)
}
