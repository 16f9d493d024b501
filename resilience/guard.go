package resilience

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// GuardConfig says what a [Guard] is made of. Every part may be left out.
type GuardConfig struct {
	Breaker *Breaker
	Limiter *Limiter
	// Retry repeats attempts whose class says so. Defaults to a single attempt.
	Retry *RetryPolicy
	// RetryOptions adjust the waiting, for tests. Classify already decides what
	// is retried and how long the server wants to be left alone.
	RetryOptions []RetryOption
	// Classify says what an error of the guarded function means. It is required,
	// must be safe for concurrent use and give the same answer each time.
	Classify func(error) Class
	// Logger gets a warning when the outcome of a call could not be recorded.
	// Defaults to none.
	Logger *slog.Logger
}

// Guard makes calls through a breaker, a limiter and a retry, in that order from
// the outside in:
//
//   - An open circuit refuses before any allowance is used.
//   - A refusal by the limiter says nothing about the server, and gives back the
//     probe that the call may have held.
//   - Retries are inside: one call takes one place in the window and is one
//     success or failure of the circuit, however many attempts it took.
//
// Its parts stay the caller's to close. Safe for concurrent use.
type Guard struct {
	breaker  *Breaker
	limiter  *Limiter
	retry    *Retry
	classify func(error) Class
	logger   *slog.Logger
	instant  bool // what is recorded is recorded at once, in memory
}

// NewGuard returns a guard, or a [*ConfigError].
func NewGuard(cfg GuardConfig) (*Guard, error) {
	if cfg.Classify == nil {
		return nil, &ConfigError{"Classify", "must not be nil"}
	}
	g := &Guard{breaker: cfg.Breaker, limiter: cfg.Limiter, classify: cfg.Classify, logger: cfg.Logger}
	g.instant = (g.breaker == nil || inMemory(g.breaker.store)) && (g.limiter == nil || inMemory(g.limiter.ledger))
	if g.logger == nil {
		g.logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Retry != nil {
		options := append([]RetryOption{
			WithRetryAfter(func(err error) time.Duration { return g.classify(err).RetryAfter }),
		}, cfg.RetryOptions...)
		retry, err := NewRetry(*cfg.Retry, func(err error) bool { return g.classify(err).Retry }, options...)
		if err != nil {
			return nil, err
		}
		g.retry = retry
	}
	return g, nil
}

// Call describes one logical call.
type Call struct {
	Tenant    string // whose allowance it uses
	Operation string // names the call in errors
	Tokens    int64  // how many it will use, estimated; 0 if unknown
	Waiter    string // who comes back after a refusal, see [WithWaiter]; may be empty
	Optional  bool   // the caller can do without it, see [AsOptional]
}

// Do makes one call of fn, or refuses it. fn returns how many tokens it used, 0
// if it does not know; that replaces the estimate.
//
// The error is fn's own; or a refusal, [*CircuitOpen], [*RateLimitExceeded] or
// [*RequestExceedsWindow], and fn was not called; or [*RetryExhausted] around
// fn's; or ctx's. A [*StoreError] means that fn was not called because the shared
// state could not be asked. Once fn has been called a failing store changes
// nothing in the answer: it is logged.
//
// How the call ended is recorded whether or not ctx ends meanwhile, and each thing
// once. That takes as long as the store takes; if it has died during the call the
// answer comes 2 s later, or 4 s if the call's error also asks for a cool-down.
//
// fn must end when its ctx does: one that goes on keeps what it holds, such as the only
// probe of an open circuit.
//
// When ctx is cancelled the call says nothing about the server. A panic of fn
// passes through, and neither does it.
func (g *Guard) Do(ctx context.Context, call Call, fn func(context.Context) (usedTokens int64, err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := guarded{guard: g, call: call, fn: fn}
	class := Class{Outcome: Neutral} // also if fn panics, or a function that was configured
	defer func() { c.leave(ctx, class) }()
	if refusal := c.enter(ctx); refusal != nil {
		return refusal
	}
	err := c.run(ctx)
	class = c.verdict(ctx, err)
	return err
}

// guarded is one call on its way.
type guarded struct {
	guard     *Guard
	call      Call
	fn        func(context.Context) (int64, error)
	permit    Permit
	permitted bool // permit holds one
	grant     Grant
	used      int64
	called    bool // fn has been
	left      bool // the caller had gone when fn returned
	silent    bool // the limiter's store was, when it was told of a cool-down
}

// enter asks the breaker, then the limiter.
func (c *guarded) enter(ctx context.Context) error {
	g := c.guard
	if g.breaker != nil {
		permit, ok, err := g.breaker.Allow(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return permit.Refusal()
		}
		c.permit, c.permitted = permit, true
	}
	if g.limiter != nil {
		var err error
		how := AcquireOption{waiter: c.call.Waiter, optional: c.call.Optional}
		if c.grant, err = g.limiter.acquire(ctx, c.call.Tenant, c.call.Tokens, how); err != nil {
			return err
		}
	}
	return nil
}

// run makes the attempts, while the lease of a probe is kept alive.
func (c *guarded) run(ctx context.Context) error {
	if c.guard.breaker != nil && c.permit.Probe() {
		defer keepLease(ctx, c.permit, c.call, c.guard.logger)()
	}
	if c.guard.retry == nil {
		return c.attempt(ctx)
	}
	return c.guard.retry.Do(ctx, c.call.Operation, c.attempt)
}

func (c *guarded) attempt(ctx context.Context) error {
	c.called = true
	used, err := c.fn(ctx)
	c.left = errors.Is(ctx.Err(), context.Canceled)
	c.used += max(0, used)
	if err != nil && c.guard.limiter != nil && !c.silent {
		if class := c.guard.classify(err); class.Cool {
			ctx, cancel := c.guard.recording(ctx)
			defer cancel()
			err := c.guard.limiter.Cool(ctx, c.call.Tenant, class.RetryAfter)
			c.silent = errors.Is(err, errSilent)
			c.note("cool", err)
		}
	}
	return err
}

// verdict is the class of the error that the whole call ended with.
func (c *guarded) verdict(ctx context.Context, err error) Class {
	switch {
	case err == nil:
		return Class{Outcome: Success}
	case !c.called, c.left, errors.Is(ctx.Err(), context.Canceled) && errors.Is(err, context.Canceled): // the last: between attempts
		return Class{Outcome: Neutral}
	}
	if exhausted, ok := err.(*RetryExhausted); ok {
		err = exhausted.Err
	}
	return c.guard.classify(err)
}

// keepLease renews the lease of a probe until the function that it returns has
// been called. It takes what it needs of a guarded, which most often needs no
// goroutine and then lives on its caller's stack.
func keepLease(ctx context.Context, permit Permit, call Call, logger *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx)) // fn may go on when its caller has left
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for sleepContext(ctx, max(permit.breaker.cfg.ProbeLease/3, leastRenewal)) == nil {
			held, err := permit.Renew(ctx)
			if ctx.Err() != nil {
				return
			}
			if err == nil && !held {
				note(logger, call, "renew probe", errProbeLost)
				return
			}
			note(logger, call, "renew probe", err)
		}
	}()
	return func() { cancel(); <-stopped }
}

// leastRenewal keeps a lease that is shorter than any call from being renewed without
// a pause.
const leastRenewal = time.Millisecond

var errProbeLost = errors.New("its lease has ended, or the circuit has moved on")

// leave records how the call ended. The outcome is first, because others wait for it:
// a store that answers late may leave no time for more.
func (c *guarded) leave(ctx context.Context, class Class) {
	ctx, cancel := c.guard.recording(ctx)
	defer cancel()
	if c.permitted {
		switch class.Outcome {
		case Success:
			c.note("success", c.permit.Success(ctx))
		case Neutral:
			c.note("release", c.permit.Release(ctx))
		case Trip:
			c.note("trip", c.permit.Trip(ctx, class.Reason))
		default:
			c.note("failure", c.permit.Failure(ctx, class.Reason))
		}
	}
	if c.grant.counted && c.used > 0 {
		c.note("settle", c.grant.Settle(ctx, c.used))
	}
}

func (c *guarded) note(what string, err error) { note(c.guard.logger, c.call, what, err) }

func note(logger *slog.Logger, call Call, what string, err error) {
	if err != nil {
		logger.Warn("outcome of a call not recorded",
			"what", what, "operation", call.Operation, "tenant", call.Tenant, "error", err)
	}
}
