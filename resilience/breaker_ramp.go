package resilience

import (
	"context"
	"strconv"
	"time"
)

// The ramp is advice beside the circuit, not a state of it: the key
// <prefix><name>.ramp says since when, in epoch milliseconds, and the store
// forgets it when the ramp is over. A client with a wrong clock is off in the
// share that it admits, and in nothing else; a prober that dies between closing
// the circuit and writing the key leaves out the ramp.
const (
	rampFloor   = 0.1 // the share at the beginning
	rampRefusal = 20  // a refused call comes back after this fraction of the ramp
)

func (b *Breaker) rampKey() string { return b.cfg.Prefix + b.cfg.Name + ".ramp" }

func (b *Breaker) beginRamp(ctx context.Context) error {
	err := b.values.Set(ctx, b.rampKey(), strconv.FormatInt(b.cfg.Clock().UnixMilli(), 10), b.cfg.Ramp)
	if err != nil {
		return storeError(ctx, "breaker ramp", err)
	}
	return nil
}

// ramp returns the refusal of a call that is not in the share, nil for the others.
func (b *Breaker) ramp(ctx context.Context) (*CircuitOpen, error) {
	value, ramping, err := b.values.Get(ctx, b.rampKey())
	if err != nil {
		return nil, storeError(ctx, "breaker ramp", err)
	}
	since, err := strconv.ParseInt(value, 10, 64)
	if !ramping || err != nil {
		return nil, nil
	}
	share := float64(b.cfg.Clock().Sub(time.UnixMilli(since))) / float64(b.cfg.Ramp)
	if b.cfg.Rand() < max(rampFloor, share) {
		return nil, nil
	}
	return &CircuitOpen{Circuit: b.cfg.Name, RetryAfter: max(b.cfg.Ramp/rampRefusal, time.Millisecond), Reason: "recovering"}, nil
}
