package main

import (
	"sync"
	"time"
)

// breaker is the one that is written or imported first: it counts the failures in a
// row of this process, and knows nothing of the others.
type breaker struct {
	threshold int
	recovery  time.Duration

	mu       sync.Mutex
	failures int
	until    time.Time // nobody asks before it once there are too many failures
}

// enter lets a call through, or says how long to wait. While the circuit is open
// that is one call per recovery timeout.
func (b *breaker) enter(now time.Time) (wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.failures < b.threshold {
		return 0
	}
	if now.Before(b.until) {
		return b.until.Sub(now)
	}
	b.until = now.Add(b.recovery) // this is the probe, and the next one is not before that
	return 0
}

// left tells how a call ended that was let through.
func (b *breaker) left(now time.Time, failed bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !failed {
		b.failures = 0
		return
	}
	if b.failures++; b.failures >= b.threshold {
		b.until = now.Add(b.recovery)
	}
}
