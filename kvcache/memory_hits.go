package kvcache

import (
	"context"
	"fmt"
	"time"
)

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
	r.hits.Forget(int64(now))
	r.hits.Add(at, int64(deadlineAfter(now, ttl)), 0)
	m.sweep(now)
	return nil
}

// CountHits implements [HitWindow].
func (m *Memory) CountHits(ctx context.Context, key string, since time.Time) (int, error) {
	count, _, err := m.hitsSince(ctx, key, since)
	return count, err
}

// OldestHit implements [HitWindow].
func (m *Memory) OldestHit(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
	count, oldest, err := m.hitsSince(ctx, key, since)
	return oldest, count > 0, err
}

func (m *Memory) hitsSince(ctx context.Context, key string, since time.Time) (int, time.Time, error) {
	if err := m.enter(ctx); err != nil {
		return 0, time.Time{}, err
	}
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil || r.hits.Len() == 0 {
		return 0, time.Time{}, nil
	}
	r.hits.Forget(int64(m.now()))
	count, oldest := r.hits.Since(since)
	return count, oldest, nil
}
