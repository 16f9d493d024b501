package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// The limit that is proved: small enough to be used up at once, over a window
// that is long against a few answers of the store.
const (
	proofRequests = 3
	proofWindow   = 2 * time.Second
)

func (u *checkup) checkLimiter(ctx context.Context) (string, error) {
	return u.prove(ctx, u.limitIsKept, u.names.RateLimitBucket(), "LEDGER_"+u.names.RateLimitBucket())
}

// limitIsKept uses up the allowance of a tenant through two workers, and looks
// whether both are refused, whether another tenant is, and whether waiting as
// long as was said is enough.
func (u *checkup) limitIsKept(ctx context.Context, p proof) (string, error) {
	busy, other := u.probe, u.other()
	var workers [2]*resilience.Limiter
	for i, cache := range []kvcache.HitWindow{p.one, p.two} {
		limiter, err := resilience.NewLimiter(resilience.LimiterConfig{
			Cache: cache, Limits: resilience.Limits{Requests: proofRequests, Window: proofWindow},
		})
		if err != nil {
			return "", err
		}
		workers[i] = limiter
	}
	begun := time.Now()
	wait, err := useUp(ctx, workers, busy)
	if err != nil {
		return "", err
	}
	if took := time.Since(begun); took >= proofWindow {
		return "", fmt.Errorf("the store is too slow to keep a limit: a few questions took %s", took.Round(time.Millisecond))
	}
	if _, err := workers[1].Acquire(ctx, other, 0); err != nil {
		return "", fmt.Errorf("another tenant is not admitted: %w", err)
	}
	if err := sleep(ctx, wait); err != nil {
		return "", err
	}
	if _, err := workers[0].Acquire(ctx, busy, 0); err != nil {
		return "", fmt.Errorf("not admitted after the %s that were asked for: %w", wait, err)
	}
	return fmt.Sprintf("two workers admitted %d of a tenant's %d calls per %s and refused more; another tenant was admitted; after the time that was asked for, so was the first",
		proofRequests, proofRequests, proofWindow), nil
}

// useUp asks both workers in turn until both refuse, and returns for how long.
// Together they must have admitted exactly the allowance.
func useUp(ctx context.Context, workers [2]*resilience.Limiter, tenant string) (wait time.Duration, err error) {
	admitted, refusals := 0, 0
	for turn := 0; refusals < len(workers); turn++ {
		_, err := workers[turn%len(workers)].Acquire(ctx, tenant, 0)
		refused, isRefusal := errors.AsType[*resilience.RateLimitExceeded](err)
		switch {
		case isRefusal:
			refusals++
			wait = max(wait, refused.RetryAfter)
		case err != nil:
			return 0, err
		default:
			admitted++
			refusals = 0
		}
		if admitted > proofRequests {
			break
		}
	}
	if admitted != proofRequests {
		return 0, fmt.Errorf("%d calls were admitted where %d are allowed", admitted, proofRequests)
	}
	return wait, nil
}
