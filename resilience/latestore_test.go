package resilience_test

import (
	"context"
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// lateStore takes its time for every answer.
type lateStore struct {
	*kvcache.Memory
	takes      time.Duration // for each answer, or forever
	diesInSwap bool          // from its next swap on it does not answer
}

// forever is until the caller's context ends.
const forever time.Duration = math.MaxInt64

func newLateStore() *lateStore { return &lateStore{Memory: kvcache.NewMemory()} }

func (s *lateStore) wait(ctx context.Context) error {
	if s.takes == 0 {
		return nil
	}
	select {
	case <-time.After(s.takes):
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", kvcache.ErrUnavailable, context.Cause(ctx))
	}
}

func (s *lateStore) Load(ctx context.Context, entries []kvcache.Entry) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Memory.Load(ctx, entries)
}

func (s *lateStore) Swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	if s.diesInSwap {
		s.takes = forever
	}
	if err := s.wait(ctx); err != nil {
		return false, err
	}
	return s.Memory.Swap(ctx, changes)
}

func (s *lateStore) Admit(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
	if err := s.wait(ctx); err != nil {
		return kvcache.Admission{}, err
	}
	return s.Memory.Admit(ctx, key, ask)
}

func (s *lateStore) Peek(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
	if err := s.wait(ctx); err != nil {
		return kvcache.Standing{}, err
	}
	return s.Memory.Peek(ctx, key, q)
}

func (s *lateStore) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	if err := s.wait(ctx); err != nil {
		return err
	}
	return s.Memory.Settle(ctx, key, id, tokens)
}

// breakerOn is the default breaker on a store.
func breakerOn(t *testing.T, store kvcache.KeyValue) *resilience.Breaker {
	t.Helper()
	cfg := resilience.DefaultBreakerConfig()
	cfg.Cache = store
	b, err := resilience.NewBreaker(cfg)
	require.NoError(t, err)
	return b
}

// dueBreaker is one whose circuit was open for so long that the next call probes it. It
// is for a synctest bubble.
func dueBreaker(t *testing.T, store kvcache.KeyValue) *resilience.Breaker {
	t.Helper()
	b := breakerOn(t, store)
	p, _, err := b.Allow(t.Context())
	require.NoError(t, err)
	require.NoError(t, p.Trip(t.Context(), "key"))
	time.Sleep(resilience.DefaultBreakerConfig().RecoveryTimeout)
	return b
}
