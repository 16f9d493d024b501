package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestR28TheServerAnsweredIsNoFailure(t *testing.T) {
	g := newGuardRig(t)
	require.Error(t, g.do(errDown))
	require.Same(t, errShape, g.do(errShape), "R15: as it is")
	require.Equal(t, 5, g.calls, "R31: never retried")
	require.Empty(t, g.key("failures"))
}

func TestGuardTripsOnWhatCannotWork(t *testing.T) {
	g := newGuardRig(t)
	require.Same(t, errKey, g.do(errKey))
	require.Equal(t, 1, g.calls, "R31: a wrong key looks like one at once")
	require.Equal(t, "key refused", g.refused().Reason)
}

func TestGuardCoolsTheTenantOnly(t *testing.T) {
	g := newGuardRig(t)
	require.Same(t, errSlow, g.do(errSlow))
	var refused *resilience.RateLimitExceeded
	require.ErrorAs(t, g.do(nil), &refused)
	require.Equal(t, 30*time.Second, refused.RetryAfter)
	require.NoError(t, g.Do(t.Context(), resilience.Call{Tenant: "other"}, func(context.Context) (int64, error) { return 0, nil }))
}

// A server that says slow down has not failed, and its probe is given back. A used-up
// quota is no such word.
func TestARateLimitOfTheServerIsNoFailure(t *testing.T) {
	g := newGuardRig(t)
	g.due()
	for i := range 100 {
		call := resilience.Call{Tenant: fmt.Sprint("tenant", i)}
		require.Same(t, errSlow, g.Do(t.Context(), call, func(context.Context) (int64, error) { return 0, errSlow }))
		var cooling *resilience.RateLimitExceeded
		require.ErrorAs(t, g.Do(t.Context(), call, func(context.Context) (int64, error) { panic("called") }), &cooling)
		require.Equal(t, 30*time.Second, cooling.RetryAfter)
		require.Equal(t, "0", g.key("half_open_calls"), "the probe was given back")
	}
	g.is(resilience.HalfOpen)
	require.Empty(t, g.key("failures"))

	require.Same(t, errKey, g.do(errKey)) // no quota, wrong key: waiting does not help
	g.is(resilience.Open)
}

// A stream of which a part has been delivered is not begun again: a guarded call
// decides that for itself.
func TestAStreamIsNotBegunAgainBehindItsFirstPart(t *testing.T) {
	errBroken := errors.New("stream broken off")
	delivered := 0
	policy := resilience.DefaultRetryPolicy()
	breaker := newRig(t)
	g, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker.Breaker, Retry: &policy,
		RetryOptions: []resilience.RetryOption{resilience.WithSleep(noSleep)},
		Classify: func(error) resilience.Class {
			return resilience.Class{Outcome: resilience.Failure, Retry: delivered == 0}
		},
	})
	require.NoError(t, err)
	attempts := 0
	err = g.Do(t.Context(), aCall, func(context.Context) (int64, error) {
		if attempts++; attempts > 1 {
			delivered++ // the second attempt gets as far as the first chunk
		}
		return 0, errBroken
	})
	require.Same(t, errBroken, err)
	require.Equal(t, 2, attempts)
	require.Equal(t, 1, delivered)
	require.Equal(t, "1", breaker.key("failures"))

	// And an error that says so itself is not, whatever the classification thinks of it.
	delivered, attempts = 0, 0
	err = g.Do(t.Context(), aCall, func(context.Context) (int64, error) {
		attempts++
		return 0, fmt.Errorf("after output: %w", permanentError{errBroken})
	})
	require.ErrorIs(t, err, permanentError{errBroken})
	require.Equal(t, 1, attempts)
}

// A store that fails looks like no server that has failed, nor the reverse.
func TestAStoreThatFailsIsNoFailureOfTheServer(t *testing.T) {
	g := newGuardRig(t)
	answer := errors.New("the model's own error")
	for _, want := range []error{nil, answer, errShape, errKey} {
		// The line breaks while the model works: its answer stands.
		got := g.Do(t.Context(), resilience.Call{Tenant: fmt.Sprint(want)}, func(context.Context) (int64, error) {
			g.store.fault = notApplied
			return 5, want
		})
		require.Equal(t, want, got)
		g.store.fault = none
	}
	// The line is broken before: the model is not asked, and the error says why.
	g.store.fault = notApplied
	err := g.Do(t.Context(), aCall, func(context.Context) (int64, error) { panic("called") })
	var store *resilience.StoreError
	require.ErrorAs(t, err, &store)
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
	g.store.fault = none
	g.is(resilience.Closed)
}

func TestA14CancellationIsNeutral(t *testing.T) {
	g := newGuardRig(t)
	g.due()
	ctx, cancel := context.WithCancel(t.Context())
	err := g.Do(ctx, aCall, func(ctx context.Context) (int64, error) { cancel(); return 0, ctx.Err() })
	require.Same(t, context.Canceled, err)
	g.is(resilience.HalfOpen)
	p := g.allowed()
	require.True(t, p.Probe(), "the probe was given back, although its caller had gone")

	// What was finished before counts.
	require.NoError(t, p.Release(t.Context()))
	ctx, cancel = context.WithCancel(t.Context())
	require.NoError(t, g.Do(ctx, aCall, func(context.Context) (int64, error) { cancel(); return 0, nil }))
	g.is(resilience.Closed)

	require.Same(t, context.Canceled, g.Do(ctx, aCall, func(context.Context) (int64, error) { panic("called") }))
}

// A call that ran into its time limit is a failure of a server that did not
// answer in time.
func TestA14DeadlineIsAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGuardRig(t)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		err := g.Do(ctx, aCall, func(ctx context.Context) (int64, error) { <-ctx.Done(); return 0, ctx.Err() })
		require.Equal(t, context.DeadlineExceeded, err)
		require.Equal(t, "1", g.key("failures"))
	})
}

func TestPanicGivesTheProbeBackAndPassesThrough(t *testing.T) {
	g := newGuardRig(t)
	g.due()
	require.PanicsWithValue(t, "boom", func() {
		_ = g.Do(t.Context(), aCall, func(context.Context) (int64, error) { panic("boom") })
	})
	require.True(t, g.allowed().Probe())
}
