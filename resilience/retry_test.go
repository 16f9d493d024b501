package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

var errFlaky = errors.New("flaky")

func isFlaky(err error) bool { return errors.Is(err, errFlaky) }

// exactPolicy has no jitter: 1s, 2s, 4s.
func exactPolicy() resilience.RetryPolicy {
	p := resilience.DefaultRetryPolicy()
	p.Jitter = 0
	return p
}

func TestR15NotRetryableIsReturnedAsItIs(t *testing.T) {
	permanent := errors.New("permanent")
	calls := 0
	err := newRetry(t, exactPolicy(), noSleep).Do(t.Context(), "op", func(context.Context) error {
		calls++
		return permanent
	})
	require.Same(t, permanent, err)
	require.Equal(t, 1, calls)
}

func TestR15CancellationIsNeverRetried(t *testing.T) {
	everything := func(error) bool { return true }
	r, err := resilience.NewRetry(exactPolicy(), everything, resilience.WithSleep(noSleep))
	require.NoError(t, err)

	calls := 0
	wrapped := fmt.Errorf("request: %w", context.Canceled)
	err = r.Do(t.Context(), "op", func(context.Context) error { calls++; return wrapped })
	require.Same(t, wrapped, err)
	require.Equal(t, 1, calls)

	// The caller went away while the call was out: its error is the last word.
	ctx, cancel := context.WithCancel(t.Context())
	err = r.Do(ctx, "op", func(context.Context) error { calls++; cancel(); return errFlaky })
	require.Same(t, errFlaky, err)
	require.Equal(t, 2, calls)

	// Who has gone already is not served at all.
	err = r.Do(ctx, "op", func(context.Context) error { calls++; return nil })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 2, calls)
}

// A time limit of one attempt is a failure like any other, as long as the caller
// still has time.
func TestR15TimeoutOfOneAttemptMayBeRetried(t *testing.T) {
	r, err := resilience.NewRetry(exactPolicy(), func(err error) bool { return errors.Is(err, context.DeadlineExceeded) },
		resilience.WithSleep(noSleep))
	require.NoError(t, err)
	calls := 0
	require.NoError(t, r.Do(t.Context(), "op", func(context.Context) error {
		if calls++; calls < 3 {
			return context.DeadlineExceeded
		}
		return nil
	}))
	require.Equal(t, 3, calls)
}

// R16 of docs/clauses.md.
func TestR16ExhaustedSaysHowOftenAndWhy(t *testing.T) {
	last := fmt.Errorf("attempt failed: %w", errors.Join(errFlaky, io.ErrUnexpectedEOF))
	calls := 0
	retry, err := resilience.NewRetry(exactPolicy(), isFlaky, resilience.WithSleep(noSleep),
		resilience.WithRetryAfter(func(error) time.Duration { return time.Second }))
	require.NoError(t, err)
	err = retry.Do(t.Context(), "extract", func(context.Context) error {
		calls++
		return last
	})
	require.Equal(t, 4, calls)
	var exhausted *resilience.RetryExhausted
	require.ErrorAs(t, err, &exhausted)
	require.Equal(t, &resilience.RetryExhausted{Operation: "extract", Retries: 3, Attempts: 4, Err: last, RetryAfter: time.Second}, exhausted)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Contains(t, err.Error(), "exhausted 3 retries for extract")
}

func TestR14NoRetriesIsStillExhausted(t *testing.T) {
	p := exactPolicy()
	p.MaxRetries = 0
	var exhausted *resilience.RetryExhausted
	require.ErrorAs(t, newRetry(t, p, noSleep).Do(t.Context(), "op", func(context.Context) error { return errFlaky }), &exhausted)
	require.Equal(t, 0, exhausted.Retries)
	require.Equal(t, 1, exhausted.Attempts)
}

// R17 of docs/clauses.md.
func TestR17WaitsAreThePolicysAndInjectable(t *testing.T) {
	var waits []time.Duration
	p := resilience.DefaultRetryPolicy()
	uniform := []float64{0.5, 0, 0.75}
	r, err := resilience.NewRetry(p, isFlaky,
		resilience.WithSleep(func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }),
		resilience.WithRand(func() float64 { u := uniform[0]; uniform = uniform[1:]; return u }))
	require.NoError(t, err)
	require.Error(t, r.Do(t.Context(), "op", func(context.Context) error { return errFlaky }))
	require.Equal(t, []time.Duration{p.Delay(0, 0.5), p.Delay(1, 0), p.Delay(2, 0.75)}, waits)
}

// R17 of docs/clauses.md.
func TestR17DefaultSleepWaitsAndObeysTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, err := resilience.NewRetry(exactPolicy(), isFlaky)
		require.NoError(t, err)
		start := time.Now()
		require.Error(t, r.Do(t.Context(), "op", func(context.Context) error { return errFlaky }))
		require.Equal(t, 7*time.Second, time.Since(start))

		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(1500*time.Millisecond, cancel)
		start = time.Now()
		require.Same(t, context.Canceled, r.Do(ctx, "op", func(context.Context) error { return errFlaky }))
		require.Equal(t, 1500*time.Millisecond, time.Since(start), "a wait ends with its context")
	})
}

func TestA22RetryAfterIsAFloor(t *testing.T) {
	serverSays := 10 * time.Second
	var waits []time.Duration
	r, err := resilience.NewRetry(resilience.DefaultRetryPolicy(), isFlaky,
		resilience.WithSleep(func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }),
		resilience.WithRand(func() float64 { return 0 }), // shortest jitter
		resilience.WithRetryAfter(func(err error) time.Duration { require.Same(t, errFlaky, err); return serverSays }))
	require.NoError(t, err)
	require.Error(t, r.Do(t.Context(), "op", func(context.Context) error { return errFlaky }))
	require.Equal(t, []time.Duration{10 * time.Second, 10 * time.Second, 10 * time.Second}, waits)

	waits, serverSays = nil, 2*time.Second // shorter than the third delay of its own
	require.Error(t, r.Do(t.Context(), "op", func(context.Context) error { return errFlaky }))
	require.Equal(t, []time.Duration{2 * time.Second, 2 * time.Second, 3600 * time.Millisecond}, waits)
}

func TestA22NoWaitThatCannotFit(t *testing.T) {
	for _, tc := range []struct {
		name      string
		remaining time.Duration
		server    time.Duration
		attempts  int
		after     time.Duration
	}{
		{"own delay does not fit", 2500 * time.Millisecond, 0, 2, time.Second},
		{"server's delay does not fit", 5 * time.Second, 6 * time.Second, 1, 0},
		{"a delay that leaves no time for the attempt", 3 * time.Second, 0, 2, time.Second},
		{"everything fits", time.Minute, 0, 4, 7 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			t.Log(tc.name)
			ctx, cancel := context.WithTimeout(t.Context(), tc.remaining)
			defer cancel()
			r, err := resilience.NewRetry(exactPolicy(), isFlaky,
				resilience.WithRetryAfter(func(error) time.Duration { return tc.server }))
			require.NoError(t, err)
			start, calls := time.Now(), 0
			err = r.Do(ctx, "op", func(context.Context) error { calls++; return errFlaky })
			require.Equal(t, tc.attempts, calls)
			require.Equal(t, tc.after, time.Since(start), "it fails now, not at the deadline")
			require.ErrorIs(t, err, errFlaky)
			if tc.attempts < 4 {
				require.Same(t, errFlaky, err, "the last error, as it is")
			}
		})
	}
}

func TestA23DeadlineIsMeasuredByTheInjectedClock(t *testing.T) {
	deadline := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(t.Context(), deadline)
	defer cancel()
	r, err := resilience.NewRetry(exactPolicy(), isFlaky, resilience.WithSleep(noSleep),
		resilience.WithClock(func() time.Time { return deadline.Add(-time.Second) }))
	require.NoError(t, err)
	require.Same(t, errFlaky, r.Do(ctx, "op", func(context.Context) error { return errFlaky }))
}

func noSleep(context.Context, time.Duration) error { return nil }

func newRetry(t *testing.T, p resilience.RetryPolicy, sleep func(context.Context, time.Duration) error) *resilience.Retry {
	t.Helper()
	r, err := resilience.NewRetry(p, isFlaky, resilience.WithSleep(sleep))
	require.NoError(t, err)
	return r
}

func requireConfigError(t *testing.T, err error, argument string) {
	t.Helper()
	var config *resilience.ConfigError
	require.ErrorAs(t, err, &config)
	require.Equal(t, argument, config.Argument)
	require.Contains(t, err.Error(), argument)
}

// permanentError is retryable by its cause and says that it is not.
type permanentError struct{ error }

func (permanentError) Permanent() bool { return true }

func TestA20PermanentErrorsAreNotRetried(t *testing.T) {
	retry, err := resilience.NewRetry(resilience.DefaultRetryPolicy(), func(error) bool { return true },
		resilience.WithSleep(func(context.Context, time.Duration) error { t.Error("waited"); return nil }))
	require.NoError(t, err)
	calls := 0
	final := permanentError{errors.New("after output")}
	got := retry.Do(t.Context(), "op", func(context.Context) error {
		calls++
		return fmt.Errorf("wrapped: %w", final)
	})
	require.ErrorIs(t, got, final)
	require.Equal(t, 1, calls)
}
