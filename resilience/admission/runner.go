package admission

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"
)

// Local caps of the stages; the caller's deadline may cut each of them shorter.
const (
	DefaultAttemptCap   = 600 * time.Second
	DefaultPreCreateCap = 10 * time.Second
	DefaultHookCap      = 30 * time.Second
)

// Guard stands between an admitted call and its attempts: a circuit breaker, a
// shared limit, retries. It runs attempt as often as it sees fit. It must return
// the error of the last attempt in its chain, and must not retry an error with a
// method Permanent() bool that says true.
type Guard func(ctx context.Context, call *Call, attempt func(context.Context) error) error

// Hooks observe and steer calls. Each runs under its cap and the deadline.
type Hooks struct {
	// PreCreate runs before a call is owned; its error is returned and the call
	// never exists for the controller. Cap: 10 seconds.
	PreCreate func(context.Context, *Call) error
	// Pre runs once the call is fully admitted, before any provider work. An
	// error fails the call, [ErrSkip] ends it as SKIPPED. Cap: 30 seconds.
	Pre func(context.Context, *Call) error
	// Post runs after the provider's answer. An error fails the call, except
	// after streamed output, where it is logged. Cap: 30 seconds.
	Post func(context.Context, *Call) error
}

// Runner takes calls through their life. It is safe for concurrent use.
type Runner struct {
	controller *Controller
	guard      Guard
	hooks      Hooks
	attemptCap time.Duration
	log        *slog.Logger
	start      time.Time // what the deadlines of attempts count from
}

// RunnerOption configures a [Runner].
type RunnerOption func(*Runner)

// WithGuard sets the guard. By default an attempt is made once.
func WithGuard(g Guard) RunnerOption { return func(r *Runner) { r.guard = g } }

// WithHooks sets the hooks.
func WithHooks(h Hooks) RunnerOption { return func(r *Runner) { r.hooks = h } }

// WithAttemptCap bounds one attempt, a stream's whole life included. Defaults to
// 600 seconds.
func WithAttemptCap(d time.Duration) RunnerOption { return func(r *Runner) { r.attemptCap = d } }

// WithLogger is where a hook's failure after streamed output goes. Defaults to
// slog.Default().
func WithLogger(l *slog.Logger) RunnerOption { return func(r *Runner) { r.log = l } }

// NewRunner returns a runner over the controller, which stays the caller's to
// close.
func NewRunner(c *Controller, opts ...RunnerOption) (*Runner, error) {
	if c == nil {
		return nil, &ConfigError{Argument: "controller", Problem: "is missing"}
	}
	r := &Runner{controller: c, attemptCap: DefaultAttemptCap, log: slog.Default(), start: time.Now()}
	r.guard = func(ctx context.Context, _ *Call, attempt func(context.Context) error) error { return attempt(ctx) }
	for _, opt := range opts {
		opt(r)
	}
	if r.attemptCap <= 0 {
		return nil, &ConfigError{Argument: "attempt cap", Problem: "must be positive"}
	}
	if r.guard == nil || r.log == nil {
		return nil, &ConfigError{Argument: "guard and logger", Problem: "must not be nil"}
	}
	return r, nil
}

// Invoke runs a one-shot call to its end and returns the attempt's value. The
// call is terminal and released when Invoke returns (a skipped call returns the
// zero value and no error); the error is the call's own
// ([Call.Err]): that of the provider or a hook, a typed refusal, a
// [*DeadlineExceeded], or the original cancellation: [context.Canceled], and the cause
// of it if ctx was given one.
func Invoke[T any](ctx context.Context, r *Runner, call *Call, attempt func(context.Context) (T, error)) (T, error) {
	o := oneShot[T]{attempt: attempt}
	if state, err := r.supervise(ctx, call, &o); state != Completed {
		var none T
		return none, err
	}
	return o.value, nil
}

// oneShot is work that ends with a value.
type oneShot[T any] struct {
	attempt func(context.Context) (T, error)
	value   T
}

func (o *oneShot[T]) do(ctx context.Context) (err error) {
	o.value, err = o.attempt(ctx)
	return err
}

// errAbandoned ends the context of a stream whose consumer stopped reading.
var errAbandoned = fmt.Errorf("%w: the consumer stopped reading the stream", context.Canceled)

// Stream runs a streamed call while its chunks are read, and must be read once.
// The sequence yields chunks with a nil error; if the call does not complete, its
// last pair is an error. A consumer that stops early cancels the call; its
// cleanup is done when the loop is left.
//
// An attempt that fails before its first chunk may be repeated by the guard. From
// just before the first chunk on, whatever it is, there is no replay: a failure is
// a [*ProviderStreamError]. A chunk with a method StreamError() error that returns
// an error is yielded, once, and fails the call.
func Stream[T any](ctx context.Context, r *Runner, call *Call, attempt func(context.Context) iter.Seq2[T, error]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		s := stream[T]{call: call, attempt: attempt, yield: yield}
		if _, err := r.supervise(ctx, call, &s); err != nil && !s.abandoned {
			var none T
			yield(none, err)
		}
	}
}

// stream is work that passes on chunks.
type stream[T any] struct {
	call      *Call
	attempt   func(context.Context) iter.Seq2[T, error]
	yield     func(T, error) bool
	abandoned bool // by the consumer
}

func (s *stream[T]) do(ctx context.Context) error {
	for chunk, err := range s.attempt(ctx) {
		if err != nil {
			return afterOutput(s.call, err)
		}
		s.call.enter(PhaseStream)
		s.abandoned = !s.yield(chunk, nil)
		// That the provider has failed stands, also for a consumer who
		// leaves because of it.
		if bad := streamError(chunk); bad != nil {
			return afterOutput(s.call, bad)
		}
		if s.abandoned {
			s.call.cancel(errAbandoned)
			return errAbandoned
		}
	}
	if ctx.Err() != nil { // a source that was told to stop has not reached its end
		return afterOutput(s.call, ctx.Err())
	}
	return nil
}

// streamError is what a chunk says of its provider, nil if all is well.
func streamError(chunk any) error {
	if c, ok := chunk.(interface{ StreamError() error }); ok {
		return c.StreamError()
	}
	return nil
}

// afterOutput marks an error that came after the replay boundary.
func afterOutput(call *Call, err error) error {
	if call.Phase() != PhaseStream {
		return err
	}
	return &ProviderStreamError{Err: err}
}

// work is what a call is for; do makes one attempt at it.
type work interface{ do(context.Context) error }

// supervise is the one life of a call: admitted, hooks around the work, concluded,
// released.
func (r *Runner) supervise(ctx context.Context, call *Call, w work) (State, error) {
	if !call.claim() {
		return "", conflict(call) // and nothing of the call changes
	}
	if r.hooks.PreCreate != nil {
		call.enter(PhaseHook)
		if err := r.hook(ctx, r.hooks.PreCreate, call, DefaultPreCreateCap); err != nil {
			return call.conclude(ctx, err) // never owned, but over
		}
		call.enter(PhaseEnqueue)
	}
	ctx, err := r.controller.acquire(ctx, call)
	if err != nil {
		return call.State(), err
	}
	concluded := false
	defer func() {
		if !concluded { // something has panicked
			_, _ = call.finish(Cancelled, context.Canceled)
		}
		r.controller.leave(call, true)
	}()
	err = r.hook(ctx, r.hooks.Pre, call, DefaultHookCap)
	if err == nil {
		err = r.attempts(ctx, call, w)
	}
	if err == nil && r.hooks.Post != nil {
		err = r.post(ctx, call)
	}
	state, err := call.conclude(ctx, err)
	concluded = true
	return state, err
}

// attempts runs the guard around the work's attempts, each under its cap, and
// keeps the phase. Once output has begun no further attempt reaches the provider,
// whatever the guard does.
func (r *Runner) attempts(ctx context.Context, call *Call, w work) error {
	guard := r.guard
	if call.guard != nil {
		guard = call.guard
	}
	return guard(ctx, call, func(ctx context.Context) error { return r.attempt(ctx, call, w) })
}

// attempt runs under the cap, or until the caller's deadline if that comes first.
func (r *Runner) attempt(ctx context.Context, call *Call, w work) error {
	if err := over(ctx); err != nil {
		return err
	}
	s, last := call.attempt()
	if s == nil {
		return last
	}
	s.parent, s.since, s.limit = ctx, &r.start, time.Since(r.start)+r.attemptCap
	defer s.end(nil)
	err := w.do(s)
	if err != nil {
		call.failed(err, ctx.Err() != nil)
	}
	return err
}

func (r *Runner) post(ctx context.Context, call *Call) error {
	streamed := call.Phase() == PhaseStream
	call.enter(PhaseHook)
	err := r.hook(ctx, r.hooks.Post, call, DefaultHookCap)
	if err != nil && streamed && ctx.Err() == nil {
		r.log.Warn("post-stream hook failed; the stream stands", "call", call.ID(), "error", err)
		return nil
	}
	return err
}

func (r *Runner) hook(ctx context.Context, hook func(context.Context, *Call) error, call *Call, limit time.Duration) error {
	if hook == nil {
		return nil
	}
	if err := over(ctx); err != nil { // it has ended while the call was admitted, say
		return err
	}
	capped, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	err := hook(capped, call)
	if err != nil && capped.Err() != nil && ctx.Err() == nil && errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("hook took longer than %s: %w", limit, err)
	}
	return err
}
