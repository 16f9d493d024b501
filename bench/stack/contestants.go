package main

import (
	"context"
	"errors"
	"time"

	"github.com/failsafe-go/failsafe-go"
	"github.com/failsafe-go/failsafe-go/bulkhead"
	"github.com/failsafe-go/failsafe-go/circuitbreaker"
	"github.com/failsafe-go/failsafe-go/ratelimiter"
	"github.com/failsafe-go/failsafe-go/retrypolicy"
	"github.com/failsafe-go/failsafe-go/timeout"

	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// perSecond is a limit that is counted and never reached.
const perSecond = 100_000_000

var errOpen = errors.New("circuit open")

func contestants() ([]pair, error) {
	ctx := context.Background()
	breaker, err := resilience.NewBreaker(resilience.DefaultBreakerConfig())
	if err != nil {
		return nil, err
	}
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{
		Limits: resilience.Limits{Requests: perSecond, Window: time.Second}})
	if err != nil {
		return nil, err
	}
	policy := resilience.DefaultRetryPolicy()
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker, Limiter: limiter, Retry: &policy,
		Classify: func(error) resilience.Class { return resilience.Class{Retry: true} },
	})
	if err != nil {
		return nil, err
	}
	controller, err := admission.New(admission.WithConcurrency(8))
	if err != nil {
		return nil, err
	}
	call := resilience.Call{Tenant: "acme", Operation: "extract"}
	runner, err := admission.NewRunner(controller, admission.WithGuard(
		func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
			return guard.Do(ctx, call, func(ctx context.Context) (int64, error) { return 0, attempt(ctx) })
		}))
	if err != nil {
		return nil, err
	}

	theirBreaker := circuitbreaker.NewWithDefaults[int]()
	theirLimiter := ratelimiter.NewBursty[int](perSecond, time.Second)
	theirRetry := retrypolicy.NewWithDefaults[int]()
	theirBulkhead := bulkhead.New[int](8)
	guarded := failsafe.With[int](theirBreaker, theirLimiter, theirRetry)
	full := failsafe.With[int](theirBulkhead, theirBreaker, theirLimiter, theirRetry)
	// Ours caps each attempt in every case; theirs with one policy more.
	capped := failsafe.With[int](theirBulkhead, theirBreaker, theirLimiter, theirRetry, timeout.New[int](10*time.Minute))
	work := func() (int, error) { return 1, nil }
	// What a transport does: it derives a context of its own, which ends with the call's.
	listen := func(ctx context.Context) (int, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		return 1, ctx.Err()
	}

	admitted := func() error {
		_, err := admission.Invoke(ctx, runner, admission.NewCall(), func(context.Context) (int, error) { return 1, nil })
		return err
	}

	return []pair{
		{"breaker", func() error {
			permit, ok, err := breaker.Allow(ctx)
			if err != nil || !ok {
				return errors.Join(err, errOpen)
			}
			return permit.Success(ctx)
		}, func() error {
			if !theirBreaker.TryAcquirePermit() {
				return errOpen
			}
			theirBreaker.RecordSuccess()
			return nil
		}},
		{"limiter", func() error {
			_, err := limiter.Acquire(ctx, "acme", 0)
			return err
		}, func() error {
			if !theirLimiter.TryAcquirePermit() {
				return errOpen
			}
			return nil
		}},
		{"breaker, limiter, retry", func() error {
			return guard.Do(ctx, call, func(context.Context) (int64, error) { return 0, nil })
		}, func() error {
			_, err := guarded.WithContext(ctx).Get(work)
			return err
		}},
		{"admission (bulkhead), breaker, limiter, retry", admitted, func() error {
			_, err := full.WithContext(ctx).Get(work)
			return err
		}},
		{"the same, theirs with a cap per attempt too", admitted, func() error {
			_, err := capped.WithContext(ctx).Get(work)
			return err
		}},
		{"the same, and the work listens to its context", func() error {
			_, err := admission.Invoke(ctx, runner, admission.NewCall(), listen)
			return err
		}, func() error {
			_, err := capped.WithContext(ctx).GetWithExecution(func(e failsafe.Execution[int]) (int, error) { return listen(e.Context()) })
			return err
		}},
	}, nil
}
