package resilience_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestR7BreakerLeavesAForeignCacheOpen(t *testing.T) {
	b := newRig(t)
	require.NoError(t, b.Close())
	b.allowed()
}

func TestStoreErrorsAreNotAnswers(t *testing.T) {
	b := newRig(t)
	store := &faultyStore{Memory: b.cache}
	broken := b.another(func(c *resilience.BreakerConfig) { c.Cache = store })
	p, ok, err := broken.Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)

	store.fault = notApplied
	_, ok, err = broken.Allow(t.Context())
	require.False(t, ok)
	calls := map[string]error{
		"allow":   err,
		"success": p.Success(t.Context()),
		"failure": p.Failure(t.Context(), "x"),
		"trip":    p.Trip(t.Context(), "x"),
		"reset":   broken.Reset(t.Context()),
		"force":   broken.Force(t.Context(), "x"),
	}
	_, calls["state"] = broken.State(t.Context())
	_, calls["snapshot"] = broken.Snapshot(t.Context())
	_, calls["retry after"] = broken.RetryAfter(t.Context())
	for name, err := range calls {
		var store *resilience.StoreError
		require.ErrorAs(t, err, &store, name)
		require.ErrorIs(t, err, kvcache.ErrUnavailable, name)
	}

	// A caller that has gone is not a store that has failed.
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = b.Allow(ctx)
	require.Same(t, context.Canceled, err)
}

func TestContentionHasADefinedAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cfg := resilience.DefaultBreakerConfig()
		store := &faultyStore{Memory: kvcache.NewMemory()}
		cfg.Cache = store
		b, err := resilience.NewBreaker(cfg)
		require.NoError(t, err)
		p, ok, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.True(t, ok)

		store.fault = alwaysLost
		start := time.Now()
		err = p.Failure(t.Context(), "x")
		require.ErrorIs(t, err, resilience.ErrContended)
		require.Less(t, time.Since(start), 5*time.Second)
		require.Equal(t, 64, store.swaps)

		// Whoever cannot get a probe for the crowd is refused.
		store.fault = none
		require.NoError(t, p.Trip(t.Context(), "x"))
		time.Sleep(cfg.RecoveryTimeout)
		store.fault = alwaysLost
		q, ok, err := b.Allow(t.Context())
		require.NoError(t, err)
		require.False(t, ok)
		require.Positive(t, q.Refusal().RetryAfter)

		// And it ends with its caller.
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
		defer cancel()
		_, _, err = b.Allow(ctx)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

func TestSuccessPathWritesNothingAndAllocatesNothing(t *testing.T) {
	store := &faultyStore{Memory: kvcache.NewMemory()}
	cfg := resilience.DefaultBreakerConfig()
	cfg.Cache = store
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	ctx := context.Background()
	call := func() {
		p, ok, err := b.Allow(ctx)
		if err != nil || !ok || p.Success(ctx) != nil {
			t.Fatal("refused")
		}
	}
	call()
	loads := store.loads
	call()
	require.Equal(t, 2, store.loads-loads, "one read to ask, one to report")
	require.Zero(t, store.swaps)
	if !raceEnabled {
		require.Zero(t, testing.AllocsPerRun(100, call))
	}
}

// A cache that can only do the port's eight operations is enough.
func TestBreakerOverAnUnversionedCache(t *testing.T) {
	memory := kvcache.NewMemory()
	b := newRig(t, func(c *resilience.BreakerConfig) {
		c.Cache = plainCache{memory}
		c.RecoveryTimeout = 20 * time.Millisecond
	})
	b.fail(3)
	b.refused()
	require.Eventually(t, func() bool { _, held, _ := memory.Get(t.Context(), "model.hold"); return !held },
		time.Second, time.Millisecond)
	b.pass(20 * time.Millisecond)
	p := b.allowed()
	b.refused()
	require.NoError(t, p.Success(t.Context()))
	b.is(resilience.Closed)
}

// plainCache hides what a cache can do beyond the port.
type plainCache struct{ kvcache.KeyValue }

type fault int

const (
	none       fault = iota
	notApplied       // every operation fails and does nothing
	lostReply        // swaps take place, and their caller hears of an error
	lostWrite        // swaps do not take place, and their caller hears of an error
	alwaysLost       // every swap finds that others were faster
)

// faultyStore is a cache in memory with a broken line to it, or a long one.
type faultyStore struct {
	*kvcache.Memory
	fault        fault
	loads, swaps int

	leave   func() // ends the caller's context
	leaveIn int    // in how many operations
}

var errLine = errors.Join(kvcache.ErrUnavailable, errors.New("line broken"))

// leaves makes the caller leave during the n-th operation from now, counted from 1.
func (s *faultyStore) leaves(n int, leave func()) { s.leave, s.leaveIn = leave, n }

// underWay carries out an operation. Who leaves meanwhile does not hear what became of
// it, and who has left begins none.
func (s *faultyStore) underWay(ctx context.Context, operation func(context.Context) error) error {
	if s.leave == nil {
		return operation(ctx)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.leaveIn--; s.leaveIn == 0 {
		s.leave()
	}
	err := operation(context.WithoutCancel(ctx))
	if gone := ctx.Err(); gone != nil {
		return gone
	}
	return err
}

func (s *faultyStore) Load(ctx context.Context, entries []kvcache.Entry) error {
	s.loads++
	if s.fault == notApplied {
		return errLine
	}
	return s.underWay(ctx, func(ctx context.Context) error { return s.Memory.Load(ctx, entries) })
}

func (s *faultyStore) Swap(ctx context.Context, changes []kvcache.Change) (ok bool, err error) {
	err = s.underWay(ctx, func(ctx context.Context) (err error) {
		ok, err = s.swap(ctx, changes)
		return err
	})
	return ok && err == nil, err
}

func (s *faultyStore) swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	s.swaps++
	switch s.fault {
	case notApplied, lostWrite:
		return false, errLine
	case alwaysLost:
		return false, nil
	}
	ok, err := s.Memory.Swap(ctx, changes)
	if s.fault == lostReply && err == nil {
		return false, errLine
	}
	return ok, err
}

func (s *faultyStore) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	return s.underWay(ctx, func(ctx context.Context) error { return s.Memory.Settle(ctx, key, id, tokens) })
}

func (s *faultyStore) Cool(ctx context.Context, key string, d time.Duration) error {
	return s.underWay(ctx, func(ctx context.Context) error { return s.Memory.Cool(ctx, key, d) })
}
