package resilience

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"time"
)

// RetryPolicy says how often and how fast a failed call is repeated. The zero
// value is not valid; start from [DefaultRetryPolicy].
type RetryPolicy struct {
	MaxRetries   int           // attempts after the first, 0 or more
	InitialDelay time.Duration // before the first retry, 0 or more
	Multiplier   float64       // growth of the delay from retry to retry, 1 or more
	MaxDelay     time.Duration // cap of the delay before jitter, 0 or more
	Jitter       float64       // 0 to 1: the share of the delay by which it varies either way
}

// DefaultRetryPolicy is 3 retries after 1s, 2s and 4s, each up to 10% shorter
// or longer, and never more than 60s.
func DefaultRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxRetries: 3, InitialDelay: time.Second, Multiplier: 2, MaxDelay: time.Minute, Jitter: 0.1}
}

// TransportRetryPolicy suits a single transport request: 3 attempts in all,
// delays up to 20% shorter or longer.
func TransportRetryPolicy() RetryPolicy {
	return RetryPolicy{MaxRetries: 2, InitialDelay: time.Second, Multiplier: 2, MaxDelay: time.Minute, Jitter: 0.2}
}

// Validate returns a [*ConfigError] that names the first field out of range.
func (p RetryPolicy) Validate() error {
	switch {
	case p.MaxRetries < 0:
		return &ConfigError{"MaxRetries", "must not be negative"}
	case p.InitialDelay < 0:
		return &ConfigError{"InitialDelay", "must not be negative"}
	case !(p.Multiplier >= 1) || math.IsInf(p.Multiplier, 1): // also refuses NaN
		return &ConfigError{"Multiplier", "must be a number of at least 1"}
	case p.MaxDelay < 0:
		return &ConfigError{"MaxDelay", "must not be negative"}
	case !(p.Jitter >= 0 && p.Jitter <= 1):
		return &ConfigError{"Jitter", "must be between 0 and 1"}
	}
	return nil
}

// Delay is the wait before retry n, counted from 0: the initial delay times
// multiplier^n, capped, then moved by jitter to the side and by the share that u
// says, where u is uniform in [0,1). The result of a valid policy lies within
// [0, MaxDelay*(1+Jitter)] for every n.
func (p RetryPolicy) Delay(n int, u float64) time.Duration {
	base := p.MaxDelay
	// The power may be +Inf, and then NaN if the initial delay is 0. The
	// comparison is false for both unless the cap applies anyway.
	if d := float64(p.InitialDelay) * math.Pow(p.Multiplier, float64(max(n, 0))); d < float64(base) {
		base = time.Duration(d)
	} else if p.InitialDelay == 0 {
		base = 0
	}
	spread := p.Jitter * (2*u - 1) // in [-Jitter, Jitter)
	moved := float64(base) * (1 + spread)
	switch {
	case spread == 0:
		return base
	case moved >= math.MaxInt64:
		return math.MaxInt64
	default:
		return max(0, time.Duration(moved))
	}
}

// Retry repeats calls by a policy. It keeps no state between calls and is safe
// for concurrent use.
type Retry struct {
	policy     RetryPolicy
	retryable  func(error) bool
	retryAfter func(error) time.Duration
	sleep      func(context.Context, time.Duration) error
	rand       func() float64
	clock      func() time.Time
}

// RetryOption adjusts a [Retry].
type RetryOption func(*Retry)

// WithSleep replaces how a retry waits. The function returns the context's
// error if that ends first. The default is a timer.
func WithSleep(sleep func(context.Context, time.Duration) error) RetryOption {
	return func(r *Retry) { r.sleep = sleep }
}

// WithRand replaces the source of jitter, uniform in [0,1). It must be safe for
// concurrent use. The default is math/rand/v2.
func WithRand(uniform func() float64) RetryOption {
	return func(r *Retry) { r.rand = uniform }
}

// WithClock replaces the clock against which a context's deadline is measured.
// The default is time.Now.
func WithClock(now func() time.Time) RetryOption {
	return func(r *Retry) { r.clock = now }
}

// WithRetryAfter gives access to the wait that the server itself asked for, 0
// for none. It is a floor: the next attempt is never made earlier, whatever the
// policy and its jitter say.
func WithRetryAfter(of func(error) time.Duration) RetryOption {
	return func(r *Retry) { r.retryAfter = of }
}

// NewRetry returns a Retry for errors that retryable answers true to. All other
// errors end a call at once.
func NewRetry(p RetryPolicy, retryable func(error) bool, opts ...RetryOption) (*Retry, error) {
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if retryable == nil {
		return nil, &ConfigError{"retryable", "must not be nil"}
	}
	r := &Retry{
		policy:     p,
		retryable:  retryable,
		retryAfter: func(error) time.Duration { return 0 },
		sleep:      sleepContext,
		rand:       rand.Float64,
		clock:      time.Now,
	}
	for _, opt := range opts {
		opt(r)
	}
	switch {
	case r.sleep == nil:
		return nil, &ConfigError{"WithSleep", "must not be nil"}
	case r.rand == nil:
		return nil, &ConfigError{"WithRand", "must not be nil"}
	case r.clock == nil:
		return nil, &ConfigError{"WithClock", "must not be nil"}
	case r.retryAfter == nil:
		return nil, &ConfigError{"WithRetryAfter", "must not be nil"}
	}
	return r, nil
}

// Do calls fn until it succeeds, fails for good, or may not be repeated:
//
//   - An error that is not retryable is returned as it is, after one attempt.
//   - Cancellation is never retried, nor is an error that has a method
//     Permanent() bool in its chain which says true, whatever retryable says.
//   - After the last retry the error is a [*RetryExhausted] around the last one.
//   - A wait that does not fit into the time left until ctx's deadline is not
//     begun: the last error is returned at once, as it is.
//   - If ctx ends during a wait, ctx's error is returned.
//
// With a ctx that has already ended, fn is not called.
func (r *Retry) Do(ctx context.Context, operation string, fn func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	for n := 0; ; n++ {
		err := fn(ctx)
		if err == nil || ctx.Err() != nil || errors.Is(err, context.Canceled) || permanent(err) || !r.retryable(err) {
			return err
		}
		if n == r.policy.MaxRetries {
			return &RetryExhausted{Operation: operation, Retries: n, Attempts: n + 1, Err: err, RetryAfter: max(0, r.retryAfter(err))}
		}
		delay := max(r.policy.Delay(n, r.rand()), r.retryAfter(err))
		if deadline, ok := ctx.Deadline(); ok && deadline.Sub(r.clock()) <= delay {
			return err
		}
		if err := r.sleep(ctx, delay); err != nil {
			return err
		}
	}
}

// permanent lets an error speak for itself: output that was passed on, say,
// cannot be taken back, whatever its cause was.
func permanent(err error) bool {
	p, ok := errors.AsType[interface {
		error
		Permanent() bool
	}](err)
	return ok && p.Permanent()
}

func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
