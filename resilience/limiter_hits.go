package resilience

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// hitLedger is a [kvcache.Ledger] over a cache that can only record and count
// hits: it asks and records in two steps, and holds a lock of its own in
// between. What that costs is written at [Limiter].
type hitLedger struct {
	hits  kvcache.HitWindow
	clock func() time.Time
	seed  maphash.Seed
	locks [64]chan struct{} // by hash of the key; a channel, so that a caller can stop waiting

	mu   sync.Mutex
	cool map[string]time.Time // until when; only of keys that are cooling down
}

func newHitLedger(hits kvcache.HitWindow, clock func() time.Time) *hitLedger {
	h := &hitLedger{hits: hits, clock: clock, seed: maphash.MakeSeed(), cool: make(map[string]time.Time)}
	for i := range h.locks {
		h.locks[i] = make(chan struct{}, 1)
	}
	return h
}

// Admit implements [kvcache.Ledger] for requests.
func (h *hitLedger) Admit(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
	q := ask.Quota
	if q.Requests == 0 {
		wait := h.cooling(key, h.clock())
		return kvcache.Admission{Admitted: wait == 0, RetryAfter: wait}, nil
	}
	lock := h.locks[maphash.String(h.seed, key)%uint64(len(h.locks))]
	select {
	case lock <- struct{}{}:
		defer func() { <-lock }()
	case <-ctx.Done():
		return kvcache.Admission{}, ctx.Err()
	}
	now := h.clock()
	standing, err := h.standing(ctx, key, q, now)
	if err != nil || standing.RetryAfter > 0 {
		return kvcache.Admission{RetryAfter: standing.RetryAfter}, err
	}
	// Twice the window, so that no hit is forgotten while it counts.
	if err := h.hits.RecordHit(ctx, key, now, 2*q.Window); err != nil {
		return kvcache.Admission{}, err
	}
	return kvcache.Admission{Admitted: true}, nil
}

// Peek implements [kvcache.Ledger].
func (h *hitLedger) Peek(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
	return h.standing(ctx, key, q, h.clock())
}

func (h *hitLedger) standing(ctx context.Context, key string, q kvcache.Quota, now time.Time) (kvcache.Standing, error) {
	standing := kvcache.Standing{RetryAfter: h.cooling(key, now)}
	if q.Requests == 0 {
		return standing, nil
	}
	// A hit exactly one window ago has left it, but CountHits includes since.
	since := now.Add(-q.Window + 1)
	n, err := h.hits.CountHits(ctx, key, since)
	if err != nil {
		return kvcache.Standing{}, err
	}
	standing.Requests = int64(n)
	if standing.Requests < q.Requests {
		return standing, nil
	}
	wait := q.Window // in case the oldest hit has vanished since it was counted
	oldest, ok, err := h.hits.OldestHit(ctx, key, since)
	if err != nil {
		return kvcache.Standing{}, err
	}
	if ok {
		wait = oldest.Add(q.Window).Sub(now)
	}
	standing.RetryAfter = max(standing.RetryAfter, wait)
	return standing, nil
}

// Settle implements [kvcache.Ledger]: hits have no size to correct.
func (h *hitLedger) Settle(context.Context, string, uint64, int64) error { return nil }

// Cool implements [kvcache.Ledger] for the callers of this ledger.
func (h *hitLedger) Cool(_ context.Context, key string, d time.Duration) error {
	now := h.clock()
	until := now.Add(min(d, kvcache.MaxWindow))
	h.mu.Lock()
	defer h.mu.Unlock()
	for k, t := range h.cool {
		if !t.After(now) {
			delete(h.cool, k)
		}
	}
	if until.After(now) && until.After(h.cool[key]) {
		h.cool[key] = until
	}
	return nil
}

// cooling returns how long key still cools down, 0 if it does not.
func (h *hitLedger) cooling(key string, now time.Time) time.Duration {
	h.mu.Lock()
	defer h.mu.Unlock()
	return max(0, h.cool[key].Sub(now))
}
