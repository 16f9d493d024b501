package main

import (
	"context"
	"time"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// gate looks ahead for the consumer at what would be refused: by a pause, or by
// the guard.
type gate struct {
	pauses  *pauses.Follower
	breaker *resilience.Breaker
	limiter *resilience.Limiter
	probes  int // at a time, while the circuit is half open
}

// tokensPoll is when to look again at a tenant who is short of tokens: how many
// a chunk needs is only known when it is in hand.
const tokensPoll = 250 * time.Millisecond

// Server implements [consumer.Gate].
func (g gate) Server(ctx context.Context) (consumer.Allowance, error) {
	if left := g.pauses.Fleet(); left > 0 {
		return consumer.Allowance{Wait: left}, nil
	}
	state, err := g.breaker.State(ctx)
	if err != nil || state == resilience.Closed {
		return consumer.Allowance{Calls: consumer.Unlimited}, err
	}
	circuit, err := g.breaker.Snapshot(ctx)
	switch {
	case err != nil || circuit.State == resilience.Closed:
		return consumer.Allowance{Calls: consumer.Unlimited}, err
	case circuit.RetryAfter > 0:
		return consumer.Allowance{Wait: circuit.RetryAfter}, nil
	case circuit.State == resilience.HalfOpen:
		return consumer.Allowance{Calls: g.probes - circuit.HalfOpenCalls}, nil
	}
	return consumer.Allowance{Calls: g.probes}, nil
}

// Tenant implements [consumer.Gate].
func (g gate) Tenant(ctx context.Context, tenant string) (consumer.Allowance, error) {
	if left := g.pauses.Tenant(tenant); left > 0 {
		return consumer.Allowance{Wait: left}, nil
	}
	if g.limiter.Unlimited(tenant) {
		// The one chunk that a cool-down refuses costs less than to ask for all.
		return consumer.Allowance{Calls: consumer.Unlimited}, nil
	}
	remaining, wait, err := g.limiter.Peek(ctx, tenant)
	if remaining == 0 && wait == 0 {
		wait = tokensPoll
	}
	return consumer.Allowance{Calls: remaining, Wait: wait}, err
}

// pausing refuses what came in hand when a pause was not yet known.
type pausing struct {
	consumer.Extractor
	pauses *pauses.Follower
}

// Extract implements [consumer.Extractor].
func (p pausing) Extract(ctx context.Context, tenant string, c extraction.Chunk) (extraction.Extraction, error) {
	if left := p.pauses.Tenant(tenant); left > 0 {
		return extraction.Extraction{}, &consumer.PausedError{Left: left}
	}
	return p.Extractor.Extract(ctx, tenant, c)
}

// admitting tells the consumer when the guard has let a chunk's call through, which
// an optional one, that comes before it, is not; and the guard when a call has failed
// because the worker stood still.
type admitting struct{ extraction.Provider }

// Extract implements [extraction.Provider].
func (p admitting) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	if !req.Optional {
		consumer.Admitted(ctx)
	}
	if consumer.Lost(ctx) { // to ask as well would only cost
		return extraction.Completion{}, consumer.ErrLost
	}
	answer, err := p.Provider.Extract(ctx, req)
	if err != nil && consumer.Lost(ctx) {
		return answer, consumer.ErrLost
	}
	return answer, err
}
