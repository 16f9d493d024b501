package admission_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"iter"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// TestWithTimeout: A11, zero and negative timeouts set no deadline, a positive one
// is absolute and is not extended by a nested, longer one.
func TestWithTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, d := range []time.Duration{0, -time.Second} {
			ctx, cancel := admission.WithTimeout(t.Context(), d)
			_, has := ctx.Deadline()
			require.False(t, has)
			cancel()
		}
		outer, cancel := admission.WithTimeout(t.Context(), time.Second)
		defer cancel()
		inner, cancel := admission.WithTimeout(outer, time.Hour)
		defer cancel()
		at, _ := inner.Deadline()
		require.Equal(t, time.Second, time.Until(at))
	})
}

// TestPastDeadlineStartsNothing: A12.
func TestPastDeadlineStartsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		time.Sleep(time.Second)
		call := admission.NewCall()
		requireDeadline(t, <-f.start(ctx, call, func() { t.Error("work after the deadline") }), admission.PhaseEnqueue)
		require.Equal(t, admission.Aborted, call.State())
	})
}

// endsAfter is a context that ends when it has been looked at so many times: in
// the middle of something, whatever the scheduler does.
type endsAfter struct {
	context.Context
	looks int
	done  chan struct{}
}

func (c *endsAfter) Done() <-chan struct{} { return c.done }

func (c *endsAfter) Err() error {
	if c.looks--; c.looks >= 0 {
		return nil
	}
	if c.looks == -1 {
		close(c.done)
	}
	return context.Canceled
}

// TestNoHookForACallThatIsOver: A12, A14, a context that ends at the moment at which
// the call is admitted, or answered, starts no hook.
func TestNoHookForACallThatIsOver(t *testing.T) {
	for name, hooks := range map[string]func(func()) admission.Hooks{
		"pre": func(run func()) admission.Hooks {
			return admission.Hooks{Pre: func(context.Context, *admission.Call) error { run(); return nil }}
		},
		"post": func(run func()) admission.Hooks {
			return admission.Hooks{Post: func(context.Context, *admission.Call) error { run(); return nil }}
		},
	} {
		bubble(t, name, func(t *testing.T) {
			for looks := range 6 {
				over := &endsAfter{Context: t.Context(), looks: looks, done: make(chan struct{})}
				ran := false
				f := newFixture(t, []admission.RunnerOption{admission.WithHooks(hooks(func() {
					ran = true
					require.GreaterOrEqual(t, over.looks, 0, "the call was over")
				}))})
				call := admission.NewCall()
				// Admission looks once.
				defer func() { require.False(t, name == "pre" && looks < 2 && ran) }()
				_, err := admission.Invoke(over, f.run, call, func(context.Context) (int, error) { return 0, nil })
				if call.State() == admission.Completed {
					require.True(t, ran)
					continue
				}
				require.ErrorIs(t, err, context.Canceled)
				require.Equal(t, admission.Cancelled, call.State())
			}
		})
	}
}

// TestPhases: A13, a deadline names the phase that it met.
func TestPhases(t *testing.T) {
	hang := func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }
	hook := admission.Hooks{Pre: func(ctx context.Context, _ *admission.Call) error { return hang(ctx) }}
	short := func(t *testing.T) context.Context {
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		t.Cleanup(cancel)
		return ctx
	}
	bubble(t, "concurrency", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithConcurrency(1))
		_, done := f.hold(t)
		requireDeadline(t, <-f.start(short(t), admission.NewCall(), nil), admission.PhaseConcurrency)
		done()
	})
	bubble(t, "hook", func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{admission.WithHooks(hook)})
		requireDeadline(t, <-f.start(short(t), admission.NewCall(), nil), admission.PhaseHook)
	})
	bubble(t, "retry_delay", func(t *testing.T) {
		// A sleep that ignores that it cannot fit, as a guard of a user's own might.
		f := newFixture(t, []admission.RunnerOption{admission.WithGuard(
			func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
				_ = attempt(ctx)
				return hang(ctx)
			})})
		_, err := admission.Invoke(short(t), f.run, admission.NewCall(), func(context.Context) (int, error) { return 0, errTransient })
		requireDeadline(t, err, admission.PhaseRetryDelay)
	})
	bubble(t, "transport", func(t *testing.T) {
		f := newFixture(t, nil)
		_, err := admission.Invoke(short(t), f.run, admission.NewCall(), func(ctx context.Context) (int, error) { return 0, hang(ctx) })
		requireDeadline(t, err, admission.PhaseTransport)
	})
	bubble(t, "stream", func(t *testing.T) {
		f := newFixture(t, nil)
		p := &provider{t: t, scripts: []script{{chunks: []any{"a", time.Hour}}}}
		o := f.stream(short(t), p, admission.NewCall())
		requireDeadline(t, o.err, admission.PhaseStream)
		require.Equal(t, 1, p.closed)
	})
}

// TestLocalCaps: A12, each stage has its own cap, and the caller's deadline stays
// the caller's: a cap that is met fails the call, it does not abort it.
func TestLocalCaps(t *testing.T) {
	hang := func(ctx context.Context, _ *admission.Call) error { <-ctx.Done(); return ctx.Err() }
	for name, c := range map[string]struct {
		hooks admission.Hooks
		limit time.Duration
	}{
		"pre-create": {admission.Hooks{PreCreate: hang}, 10 * time.Second},
		"pre":        {admission.Hooks{Pre: hang}, 30 * time.Second},
		"post":       {admission.Hooks{Post: hang}, 30 * time.Second},
	} {
		bubble(t, name, func(t *testing.T) {
			f := newFixture(t, []admission.RunnerOption{admission.WithHooks(c.hooks)})
			begin := time.Now()
			call := admission.NewCall()
			require.ErrorContains(t, <-f.start(t.Context(), call, nil), "hook took longer than")
			require.Equal(t, c.limit, time.Since(begin))
			require.Equal(t, admission.Failed, call.State())
		})
	}
	bubble(t, "attempt", func(t *testing.T) {
		f := newFixture(t, nil)
		begin := time.Now()
		call := admission.NewCall()
		_, err := admission.Invoke(t.Context(), f.run, call, func(ctx context.Context) (int, error) {
			<-ctx.Done()
			return 0, ctx.Err()
		})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, 600*time.Second, time.Since(begin))
		require.Equal(t, admission.Failed, call.State())
	})
}

// TestStreamThatIsToldToStopHasNotEnded: A12, A18, a source that just stops when its
// attempt's cap is met has not come to its end, before output or after.
func TestStreamThatIsToldToStopHasNotEnded(t *testing.T) {
	for name, first := range map[string]int{"before output": 0, "after output": 1} {
		bubble(t, name, func(t *testing.T) {
			f := newFixture(t, []admission.RunnerOption{admission.WithAttemptCap(time.Second)})
			call := admission.NewCall()
			var last error
			got := 0
			for _, err := range admission.Stream(t.Context(), f.run, call, func(ctx context.Context) iter.Seq2[string, error] {
				return func(yield func(string, error) bool) {
					for range first {
						yield("a", nil)
					}
					<-ctx.Done()
				}
			}) {
				if last = err; err == nil {
					got++
				}
			}
			require.Equal(t, first, got)
			require.ErrorIs(t, last, context.DeadlineExceeded)
			require.Equal(t, admission.Failed, call.State())
		})
	}
}

// TestPreCreateFailureOwnsNothing: A17.
func TestPreCreateFailureOwnsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		boom := errors.New("bad payload")
		var f fixture
		f = newFixture(t, []admission.RunnerOption{admission.WithHooks(admission.Hooks{
			PreCreate: func(context.Context, *admission.Call) error {
				require.Empty(t, f.Owned())
				return boom
			},
		})}, admission.WithRequestLimit(1))
		call := admission.NewCall()
		require.ErrorIs(t, <-f.start(t.Context(), call, nil), boom)
		require.Equal(t, admission.Failed, call.State())
		require.EqualValues(t, 1, *f.Snapshot().AvailableRequests)
	})
}

// TestSkip: A16, a pre-hook may end a call without provider work.
func TestSkip(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{admission.WithHooks(admission.Hooks{
			Pre: func(context.Context, *admission.Call) error { return admission.ErrSkip },
		})})
		call := admission.NewCall()
		require.NoError(t, <-f.start(t.Context(), call, func() { t.Error("work of a skipped call") }))
		require.Equal(t, admission.Skipped, call.State())
	})
}

// TestGuardOfTheCall: a call's own guard takes the place of the runner's.
func TestGuardOfTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{admission.WithGuard(
			func(context.Context, *admission.Call, func(context.Context) error) error { return errPermanent })})
		twice := func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
			_ = attempt(ctx)
			return attempt(ctx)
		}
		attempts := 0
		count := func() { attempts++ }
		require.ErrorIs(t, <-f.start(t.Context(), admission.NewCall(), count), errPermanent)
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(admission.GuardedBy(twice)), count))
		require.Equal(t, 2, attempts)
	})
}

// TestLeaseSpansTheWholeLife: A8, the permit is held from before the pre-hook until
// after the post-hook, for a stream until it has been read.
func TestLeaseSpansTheWholeLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var f fixture
		active := func(context.Context, *admission.Call) error {
			require.Equal(t, 1, f.Snapshot().Active)
			return nil
		}
		f = newFixture(t, []admission.RunnerOption{admission.WithHooks(admission.Hooks{Pre: active, Post: active})},
			admission.WithConcurrency(1))
		p := &provider{t: t, scripts: []script{{chunks: []any{"a", time.Second, "b"}}}}
		call := admission.NewCall()
		p.live = call
		for _, err := range admission.Stream(t.Context(), f.run, call, p.open) {
			require.NoError(t, err)
			require.Equal(t, 1, f.Snapshot().Active)
			require.Equal(t, []*admission.Call{call}, f.Owned())
		}
		require.Zero(t, f.Snapshot().Active)
	})
}

// TestPanicReleases: A8, whatever happens in a call, its permit comes back.
func TestPanicReleases(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithConcurrency(1))
		call := admission.NewCall()
		require.Panics(t, func() {
			_, _ = admission.Invoke(t.Context(), f.run, call, func(context.Context) (int, error) { panic("boom") })
		})
		require.True(t, call.State().Terminal())
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(), nil))
	})
}

// TestPostStreamHookFailure: A18, after output it is logged and replaces nothing.
func TestPostStreamHookFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		f := newFixture(t, []admission.RunnerOption{
			admission.WithLogger(slog.New(slog.NewTextHandler(&log, nil))),
			admission.WithHooks(admission.Hooks{Post: func(context.Context, *admission.Call) error { return errors.New("audit is down") }}),
		})
		p := &provider{t: t, scripts: []script{{chunks: []any{"a"}}}}
		call := admission.NewCall()
		o := f.stream(t.Context(), p, call)
		require.NoError(t, o.err)
		require.Equal(t, admission.Completed, call.State())
		require.Contains(t, log.String(), "audit is down")
	})
}

// TestRetryAfterIsAFloor: A22, and A23: sleep and clock are injected.
func TestRetryAfterIsAFloor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{retrying(t,
			resilience.WithRetryAfter(func(error) time.Duration { return 7 * time.Second }))})
		p := &provider{t: t, scripts: []script{{err: errTransient}, {chunks: []any{"a"}}}}
		begin := time.Now()
		require.NoError(t, f.stream(t.Context(), p, admission.NewCall()).err)
		require.Equal(t, 7*time.Second, time.Since(begin))
	})
	synctest.Test(t, func(t *testing.T) {
		slept := []time.Duration{}
		c, err := admission.New(admission.WithRequestLimit(1),
			admission.WithSleep(func(ctx context.Context, d time.Duration) error {
				slept = append(slept, d)
				<-ctx.Done()
				return ctx.Err()
			}))
		require.NoError(t, err)
		r, err := admission.NewRunner(c)
		require.NoError(t, err)
		f := fixture{c, r}
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(), nil))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		defer cancel()
		requireDeadline(t, <-f.start(ctx, admission.NewCall(), nil), admission.PhaseRate)
		require.NoError(t, c.Close())
		require.Len(t, slept, 1)
	})
}

// TestSnapshotIsRedacted: A24, the whole of what inspection can say.
func TestSnapshotIsRedacted(t *testing.T) {
	c, err := admission.New(admission.WithRequestLimit(3), admission.WithTokenLimit(9), admission.WithConcurrency(2))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	data, err := json.Marshal(c.Snapshot())
	require.NoError(t, err)
	require.JSONEq(t, `{"queued":0,"active":0,"available_requests":3,"available_tokens":9,"queue_capacity":100,
		"concurrency_limit":2,"closed":false}`, string(data))
}
