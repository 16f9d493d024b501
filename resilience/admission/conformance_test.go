package admission_test

import (
	"context"
	"errors"
	"iter"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

var (
	errTransient = errors.New("status 503")
	errPermanent = errors.New("status 400")
)

// retrying is a guard with the transport policy, without jitter.
func retrying(t *testing.T, opts ...resilience.RetryOption) admission.RunnerOption {
	t.Helper()
	policy := resilience.TransportRetryPolicy()
	policy.Jitter = 0
	retry, err := resilience.NewRetry(policy, func(err error) bool { return errors.Is(err, errTransient) }, opts...)
	require.NoError(t, err)
	return admission.WithGuard(func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
		return retry.Do(ctx, "extract", attempt)
	})
}

// provider is a scripted source of streams. Each attempt takes the next script; a
// script is played chunk by chunk and ends with its error, if any.
type provider struct {
	scripts  []script
	attempts atomic.Int32
	closed   int
	live     *admission.Call // asserted to be processing whenever the provider works
	t        *testing.T
}

type script struct {
	chunks []any // string or badChunk; a time.Duration is a pause before the next one
	err    error
}

// badChunk is a chunk by which a provider declares that it failed.
type badChunk struct{ err error }

func (b badChunk) StreamError() error { return b.err }

func (p *provider) open(ctx context.Context) iter.Seq2[any, error] {
	s := p.scripts[min(int(p.attempts.Add(1)), len(p.scripts))-1]
	return func(yield func(any, error) bool) {
		defer func() { p.closed++ }()
		for _, c := range s.chunks {
			require.Equal(p.t, admission.Processing, p.live.State())
			if pause, ok := c.(time.Duration); ok {
				select {
				case <-time.After(pause):
				case <-ctx.Done():
					yield(nil, ctx.Err())
					return
				}
				continue
			}
			if !yield(c, nil) {
				return
			}
		}
		if s.err != nil {
			yield(nil, s.err)
		}
	}
}

// outcome is what a consumer of a stream saw.
type outcome struct {
	chunks []any
	err    error
}

func (f fixture) stream(ctx context.Context, p *provider, call *admission.Call) outcome {
	p.live = call
	var o outcome
	for chunk, err := range admission.Stream(ctx, f.run, call, p.open) {
		if err != nil {
			o.err = err
			continue
		}
		o.chunks = append(o.chunks, chunk)
	}
	return o
}

// TestConformance is A25: each case also proves that the call is terminal, is no
// longer owned, that every opened stream was closed, and (by the bubble) that no
// goroutine is left.
func TestConformance(t *testing.T) {
	bubble(t, "A13 refresh longer than the budget", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithRequestLimit(1), admission.WithRefresh(time.Hour))
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(), nil))
		ctx, cancel := admission.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		call := admission.NewCall()
		begin := time.Now()
		err := <-f.start(ctx, call, func() { t.Error("provider work after a deadline") })
		requireDeadline(t, err, admission.PhaseRate)
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.Equal(t, admission.Aborted, call.State())
	})
	bubble(t, "A3 physically full queue", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithQueueCapacity(1), admission.WithConcurrency(1))
		_, done := f.hold(t)
		queued := f.start(t.Context(), admission.NewCall(), nil)
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		call := admission.NewCall()
		err := <-f.start(ctx, call, func() { t.Error("admitted around a full queue") })
		requireDeadline(t, err, admission.PhaseEnqueue)
		require.Equal(t, admission.Aborted, call.State())
		require.Equal(t, 1, f.Snapshot().Queued, "the producer left no trace")
		done()
		require.NoError(t, <-queued)
	})
	bubble(t, "A6 request and token conflict debits neither", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithRequestLimit(10), admission.WithTokenLimit(100))
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(admission.WithTokens(60)), nil))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		waiting := f.start(ctx, admission.NewCall(admission.WithTokens(60)), nil)
		synctest.Wait()
		require.EqualValues(t, 9, *f.Snapshot().AvailableRequests, "tokens are missing, so no request is taken either")
		require.EqualValues(t, 40, *f.Snapshot().AvailableTokens)
		requireDeadline(t, <-waiting, admission.PhaseRate)
	})
	bubble(t, "A5 missing estimate", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithTokenLimit(100))
		call := admission.NewCall()
		require.ErrorIs(t, <-f.start(t.Context(), call, func() { t.Error("unmetered work") }), admission.ErrNoTokenEstimate)
		require.Equal(t, admission.Failed, call.State())
	})
	bubble(t, "A5 too large", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithTokenLimit(100))
		call := admission.NewCall(admission.WithTokens(101))
		begin := time.Now()
		var large *admission.RequestExceedsTokenWindow
		require.ErrorAs(t, <-f.start(t.Context(), call, nil), &large)
		require.Zero(t, time.Since(begin), "at once, not after a window")
		require.Equal(t, admission.Failed, call.State())
	})
	bubble(t, "A1 A17 A18 rate-limited stream does nothing early", func(t *testing.T) {
		var hooks atomic.Int32
		f := newFixture(t, []admission.RunnerOption{admission.WithHooks(admission.Hooks{
			Pre: func(context.Context, *admission.Call) error { hooks.Add(1); return nil },
		})}, admission.WithRequestLimit(1), admission.WithRefresh(time.Minute))
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(), nil))
		p := &provider{t: t, scripts: []script{{chunks: []any{"a"}}}}
		over := make(chan outcome)
		go func() { over <- f.stream(t.Context(), p, admission.NewCall()) }()
		synctest.Wait()
		time.Sleep(59 * time.Second)
		require.Zero(t, p.attempts.Load())
		require.EqualValues(t, 1, hooks.Load(), "only the first call's hook")
		require.NoError(t, (<-over).err)
		require.EqualValues(t, 1, p.attempts.Load())
	})
	bubble(t, "A14 cancelled queued", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithConcurrency(1))
		_, done := f.hold(t)
		mine := errors.New("the user left")
		ctx, cancel := context.WithCancelCause(t.Context())
		call := admission.NewCall()
		result := f.start(ctx, call, func() { t.Error("work of a cancelled call") })
		synctest.Wait()
		cancel(mine)
		require.ErrorIs(t, <-result, mine, "the original cancellation comes back")
		require.Equal(t, admission.Cancelled, call.State())
		require.Zero(t, f.Snapshot().Queued)
		done()
	})
	bubble(t, "A14 A15 cancelled active one-shot", func(t *testing.T) {
		f := newFixture(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		call := admission.NewCall()
		value, err := admission.Invoke(ctx, f.run, call, func(context.Context) (string, error) {
			cancel()
			return "late", nil
		})
		require.ErrorIs(t, err, context.Canceled)
		require.Empty(t, value, "a completion after the cancellation is discarded")
		require.Equal(t, admission.Cancelled, call.State())
	})
	bubble(t, "A14 cancelled stream", func(t *testing.T) {
		f := newFixture(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		p := &provider{t: t, scripts: []script{{chunks: []any{"a", time.Hour, "b"}}}}
		call := admission.NewCall()
		over := make(chan outcome)
		go func() { over <- f.stream(ctx, p, call) }()
		synctest.Wait()
		cancel()
		o := <-over
		require.Equal(t, []any{"a"}, o.chunks)
		require.ErrorIs(t, o.err, context.Canceled)
		require.Equal(t, admission.Cancelled, call.State())
		require.Equal(t, 1, p.closed)
	})
	bubble(t, "A14 closed stream", func(t *testing.T) {
		f := newFixture(t, nil)
		p := &provider{t: t, scripts: []script{{chunks: []any{"a", "b"}}}}
		call := admission.NewCall()
		p.live = call
		for chunk, err := range admission.Stream(t.Context(), f.run, call, p.open) {
			require.NoError(t, err, "no new error for a consumer that leaves")
			require.Equal(t, "a", chunk)
			break
		}
		require.Equal(t, admission.Cancelled, call.State())
		require.Equal(t, 1, p.closed)
	})
	bubble(t, "A11 A13 A19 retry before the first chunk follows policy and deadline", func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{retrying(t)})
		p := &provider{t: t, scripts: []script{{err: errTransient}, {err: errTransient}, {chunks: []any{"a"}}}}
		begin := time.Now()
		o := f.stream(t.Context(), p, admission.NewCall())
		require.NoError(t, o.err)
		require.Equal(t, []any{"a"}, o.chunks)
		require.Equal(t, 3*time.Second, time.Since(begin), "1s and 2s")
		require.EqualValues(t, 3, p.attempts.Load())

		ctx, cancel := context.WithTimeout(t.Context(), 1500*time.Millisecond)
		defer cancel()
		p = &provider{t: t, scripts: []script{{err: errTransient}}}
		call := admission.NewCall()
		begin = time.Now()
		o = f.stream(ctx, p, call)
		require.ErrorIs(t, o.err, errTransient, "the second delay cannot fit: fail now with the last error")
		require.Equal(t, time.Second, time.Since(begin))
		require.EqualValues(t, 2, p.attempts.Load())
		require.Equal(t, admission.Failed, call.State())
	})
	bubble(t, "A19 permanent failure makes one attempt", func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{retrying(t)})
		attempts := 0
		call := admission.NewCall()
		_, err := admission.Invoke(t.Context(), f.run, call, func(context.Context) (int, error) {
			attempts++
			return 0, errPermanent
		})
		require.Equal(t, errPermanent, err, "unwrapped")
		require.Equal(t, 1, attempts)
		require.Equal(t, admission.Failed, call.State())
		require.Equal(t, errPermanent, call.Err())
	})
	bubble(t, "A18 A20 mid-stream failure is not replayed", func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{retrying(t)})
		p := &provider{t: t, scripts: []script{{chunks: []any{"a"}, err: errTransient}}}
		call := admission.NewCall()
		o := f.stream(t.Context(), p, call)
		var broken *admission.ProviderStreamError
		require.ErrorAs(t, o.err, &broken)
		require.ErrorIs(t, o.err, errTransient)
		require.Equal(t, []any{"a"}, o.chunks)
		require.EqualValues(t, 1, p.attempts.Load())
		require.Equal(t, admission.Failed, call.State())
	})
	bubble(t, "A20 a guard that retries after output does not reach the provider", func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{admission.WithGuard(
			func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
				_ = attempt(ctx)
				return attempt(ctx)
			})})
		p := &provider{t: t, scripts: []script{{chunks: []any{"a"}, err: errTransient}}}
		o := f.stream(t.Context(), p, admission.NewCall())
		require.ErrorIs(t, o.err, errTransient)
		require.Equal(t, []any{"a"}, o.chunks)
		require.EqualValues(t, 1, p.attempts.Load())
	})
	bubble(t, "A18 provider error chunk comes once", func(t *testing.T) {
		f := newFixture(t, []admission.RunnerOption{retrying(t)})
		bad := badChunk{errTransient}
		p := &provider{t: t, scripts: []script{{chunks: []any{"a", bad, "never"}}}}
		call := admission.NewCall()
		o := f.stream(t.Context(), p, call)
		require.Equal(t, []any{"a", bad}, o.chunks)
		var broken *admission.ProviderStreamError
		require.ErrorAs(t, o.err, &broken)
		require.EqualValues(t, 1, p.attempts.Load())
		require.Equal(t, admission.Failed, call.State())
	})
	bubble(t, "A18 A21 leaving on an error chunk is the provider's failure", func(t *testing.T) {
		f := newFixture(t, nil)
		p := &provider{t: t, scripts: []script{{chunks: []any{badChunk{errTransient}, "never"}}}}
		call := admission.NewCall()
		p.live = call
		for chunk, err := range admission.Stream(t.Context(), f.run, call, p.open) {
			require.NoError(t, err)
			require.Equal(t, badChunk{errTransient}, chunk)
			break
		}
		require.Equal(t, admission.Failed, call.State())
		require.ErrorIs(t, call.Err(), errTransient)
		require.Equal(t, 1, p.closed)
	})
	bubble(t, "A15 an answer that came first stays", func(t *testing.T) {
		f := newFixture(t, nil)
		ctx, cancel := context.WithCancel(t.Context())
		call := admission.NewCall()
		value, err := admission.Invoke(ctx, f.run, call, func(context.Context) (string, error) { return "answer", nil })
		cancel()
		require.NoError(t, err)
		require.Equal(t, "answer", value)
		require.NoError(t, f.Close())
		require.Equal(t, admission.Completed, call.State(), "neither the cancellation nor the close reaches it")
	})
	bubble(t, "A18 empty end of stream completes", func(t *testing.T) {
		posts := 0
		f := newFixture(t, []admission.RunnerOption{admission.WithHooks(admission.Hooks{
			Post: func(context.Context, *admission.Call) error { posts++; return nil },
		})})
		p := &provider{t: t, scripts: []script{{}}}
		call := admission.NewCall()
		o := f.stream(t.Context(), p, call)
		require.NoError(t, o.err)
		require.Empty(t, o.chunks)
		require.Equal(t, admission.Completed, call.State())
		require.Equal(t, 1, posts)
	})
	bubble(t, "A21 open circuit makes no attempt", func(t *testing.T) {
		open := &resilience.CircuitOpen{Circuit: "default", RetryAfter: time.Second}
		f := newFixture(t, []admission.RunnerOption{admission.WithGuard(
			func(context.Context, *admission.Call, func(context.Context) error) error { return open })})
		p := &provider{t: t, scripts: []script{{chunks: []any{"a"}}}}
		call := admission.NewCall()
		o := f.stream(t.Context(), p, call)
		var refused *resilience.CircuitOpen
		require.ErrorAs(t, o.err, &refused)
		require.Zero(t, p.attempts.Load())
		require.Equal(t, admission.Failed, call.State())
	})
	bubble(t, "A10 close waits and is idempotent", func(t *testing.T) {
		f := newFixture(t, nil, admission.WithConcurrency(1))
		cleaned := false
		active, queued := admission.NewCall(), admission.NewCall()
		running := make(chan error, 1)
		go func() {
			_, err := admission.Invoke(t.Context(), f.run, active, func(ctx context.Context) (int, error) {
				<-ctx.Done()
				time.Sleep(5 * time.Second) // cleanup that takes its time
				cleaned = true
				return 0, ctx.Err()
			})
			running <- err
		}()
		synctest.Wait()
		waiting := f.start(t.Context(), queued, func() { t.Error("admitted by a closing controller") })
		synctest.Wait()
		begin := time.Now()
		require.NoError(t, f.Close())
		require.Equal(t, 5*time.Second, time.Since(begin))
		require.True(t, cleaned)
		require.ErrorIs(t, <-running, admission.ErrClosed)
		require.ErrorIs(t, <-waiting, admission.ErrClosed)
		require.Equal(t, admission.Aborted, active.State())
		require.Equal(t, admission.Aborted, queued.State())
		require.NoError(t, f.Close())
		late := admission.NewCall()
		require.ErrorIs(t, <-f.start(t.Context(), late, nil), admission.ErrClosed)
		require.Equal(t, admission.Aborted, late.State())
		require.True(t, f.Snapshot().Closed)
	})
}

func requireDeadline(t *testing.T, err error, phase admission.Phase) {
	t.Helper()
	var late *admission.DeadlineExceeded
	require.ErrorAs(t, err, &late)
	require.Equal(t, phase, late.Phase)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
