package main

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// limit takes a call of a tenant's allowance, or says how long to wait.
type limit func(ctx context.Context, tenant string) (wait time.Duration, err error)

func openLimit(ctx context.Context, js jetstream.JetStream, calls string, width time.Duration, exact bool) (limit, error) {
	if calls == "unlimited" {
		return func(context.Context, string) (time.Duration, error) { return 0, nil }, nil
	}
	rpm, err := strconv.Atoi(calls)
	if err != nil {
		return nil, err
	}
	if exact {
		return exactLimit(ctx, js, rpm, width)
	}
	bucket, err := js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "literal_limit"})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tenant string) (time.Duration, error) {
		return take(ctx, bucket, tenant, rpm, width)
	}, nil
}

// take reads, counts and writes: what another worker does in between is lost.
func take(ctx context.Context, bucket jetstream.KeyValue, tenant string, rpm int, width time.Duration) (time.Duration, error) {
	var taken, inside []time.Time
	entry, err := bucket.Get(ctx, tenant)
	switch {
	case err == nil:
		if err := json.Unmarshal(entry.Value(), &taken); err != nil {
			return 0, err
		}
	case !errors.Is(err, jetstream.ErrKeyNotFound):
		return 0, err
	}
	now := time.Now()
	for _, at := range taken {
		if now.Sub(at) < width {
			inside = append(inside, at)
		}
	}
	if len(inside) >= rpm {
		return inside[0].Add(width).Sub(now), nil
	}
	value, err := json.Marshal(append(inside, now))
	if err != nil {
		return 0, err
	}
	_, err = bucket.Put(ctx, tenant, value)
	return 0, err
}

// exactLimit is the product's.
func exactLimit(ctx context.Context, js jetstream.JetStream, rpm int, width time.Duration) (limit, error) {
	cache, err := natskv.Open(ctx, js, "literal_limit")
	if err != nil {
		return nil, err
	}
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: cache, Limits: resilience.Limits{Requests: int64(rpm), Window: width}})
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, tenant string) (time.Duration, error) {
		_, err := limiter.Acquire(ctx, tenant, 0)
		var refused *resilience.RateLimitExceeded
		if errors.As(err, &refused) {
			return refused.RetryAfter, nil
		}
		return 0, err
	}, nil
}
