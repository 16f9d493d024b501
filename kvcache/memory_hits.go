package kvcache

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"time"
)

// hit is one instant of a series. The caller's clock made at, the cache's clock
// made until; the two are never compared.
type hit struct {
	at    time.Time
	until time.Duration // the cache may forget it then
}

// RecordHit implements [HitWindow].
func (m *Memory) RecordHit(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
	if ttl <= 0 {
		return fmt.Errorf("%w: a hit needs a positive one, not %v", ErrInvalidTTL, ttl)
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	now := m.now()
	r := m.ensure(key)
	r.forgetHits(now)
	// Hits arrive nearly in order, so the place is nearly always the end.
	i := len(r.hits)
	for i > 0 && r.hits[i-1].at.After(at) {
		i--
	}
	r.hits = slices.Insert(r.hits, i, hit{at: at, until: deadlineAfter(now, ttl)})
	m.sweep(now)
	return nil
}

// CountHits implements [HitWindow].
func (m *Memory) CountHits(ctx context.Context, key string, since time.Time) (int, error) {
	hits, err := m.hitsSince(ctx, key, since)
	if err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	return len(hits), nil
}

// OldestHit implements [HitWindow].
func (m *Memory) OldestHit(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
	hits, err := m.hitsSince(ctx, key, since)
	if err != nil {
		return time.Time{}, false, err
	}
	defer m.mu.Unlock()
	if len(hits) == 0 {
		return time.Time{}, false, nil
	}
	return hits[0].at, true, nil
}

// hitsSince returns, with the lock held unless there is an error, the hits at or
// after since. It discards none of the earlier ones: a caller whose clock runs
// ahead must not shorten the window of the others.
func (m *Memory) hitsSince(ctx context.Context, key string, since time.Time) ([]hit, error) {
	if err := m.enter(ctx); err != nil {
		return nil, err
	}
	r := m.records[key]
	if r == nil || len(r.hits) == 0 {
		return nil, nil
	}
	r.forgetHits(m.now())
	first := sort.Search(len(r.hits), func(i int) bool { return !r.hits[i].at.Before(since) })
	return r.hits[first:], nil
}

// forgetHits drops the earliest hits for as long as their time is over.
func (r *record) forgetHits(now time.Duration) {
	n := 0
	for n < len(r.hits) && r.hits[n].until <= now {
		n++
	}
	if r.hits = r.hits[n:]; len(r.hits) == 0 {
		r.hits = nil
	}
}
