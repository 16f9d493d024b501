package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// R4: any function becomes a guarded one in a page. Nothing is wired behind
// the caller's back; leave out what you do not need.
func Example() {
	breaker, err := resilience.NewBreaker(resilience.DefaultBreakerConfig()) // in memory; hand in a Cache to share it
	if err != nil {
		panic(err)
	}
	defer breaker.Close()
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 2, Window: time.Minute}})
	if err != nil {
		panic(err)
	}
	defer limiter.Close()

	errBusy, errBadKey := errors.New("server busy"), errors.New("bad key")
	retry := resilience.RetryPolicy{MaxRetries: 2, InitialDelay: time.Millisecond, Multiplier: 2, MaxDelay: time.Second, Jitter: 0.1}
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: breaker,
		Limiter: limiter,
		Retry:   &retry,
		Classify: func(err error) resilience.Class { // what your errors mean
			switch {
			case errors.Is(err, errBusy):
				return resilience.Class{Outcome: resilience.Failure, Retry: true, Reason: "busy"}
			case errors.Is(err, errBadKey):
				return resilience.Class{Outcome: resilience.Trip, Reason: "the key was refused"}
			}
			return resilience.Class{Outcome: resilience.Success} // the server answered
		},
	})
	if err != nil {
		panic(err)
	}

	answers := []error{errBusy, nil, nil, errBadKey}
	ask := func(context.Context) (usedTokens int64, err error) {
		err, answers = answers[0], answers[1:]
		fmt.Println("  server:", err)
		return 0, err
	}
	for _, tenant := range []string{"acme", "acme", "acme", "other", "other"} {
		err := guard.Do(context.Background(), resilience.Call{Tenant: tenant, Operation: "ask"}, ask)
		var open *resilience.CircuitOpen
		var limited *resilience.RateLimitExceeded
		switch {
		case errors.As(err, &limited):
			fmt.Println(tenant, "has used its allowance, more in", limited.RetryAfter.Round(time.Minute))
		case errors.As(err, &open):
			fmt.Println(tenant, "is refused:", open.Reason)
		default:
			fmt.Println(tenant, "got", err)
		}
	}
	// Output:
	//   server: server busy
	//   server: <nil>
	// acme got <nil>
	//   server: <nil>
	// acme got <nil>
	// acme has used its allowance, more in 1m0s
	//   server: bad key
	// other got bad key
	// other is refused: the key was refused
}

// A breaker alone: ask, call, report.
func ExampleBreaker_Allow() {
	breaker, err := resilience.NewBreaker(resilience.BreakerConfig{
		Name: "model", FailureThreshold: 1, RecoveryTimeout: time.Minute, HalfOpenMaxCalls: 1,
	})
	if err != nil {
		panic(err)
	}
	defer breaker.Close()
	ctx := context.Background()

	call := func(server func() error) error {
		permit, ok, err := breaker.Allow(ctx)
		if err != nil {
			return err
		}
		if !ok {
			return permit.Refusal()
		}
		if err := server(); err != nil {
			return errors.Join(err, permit.Failure(ctx, err.Error()))
		}
		return permit.Success(ctx)
	}
	fmt.Println(call(func() error { return nil }))
	fmt.Println(call(func() error { return errors.New("no route to host") }))
	var open *resilience.CircuitOpen
	if errors.As(call(func() error { return nil }), &open) {
		fmt.Println("not called, ask again in", open.RetryAfter.Round(time.Second))
	}
	// Output:
	// <nil>
	// no route to host
	// not called, ask again in 1m0s
}
