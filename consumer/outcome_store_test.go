package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// The deadline of a chunk counts as an attempt, and names the dead letter.
func TestChunkDeadline(t *testing.T) {
	t.Parallel()
	circuit := resilience.DefaultBreakerConfig()
	circuit.Cache = hangingStore{kvcache.NewMemory()}
	breaker, err := resilience.NewBreaker(circuit)
	require.NoError(t, err)
	for name, work := range map[string]func(context.Context) error{
		"in the model":        func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"in the shared state": func(ctx context.Context) error { _, _, err := breaker.Allow(ctx); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hang := scripted(func(ctx context.Context, _ int, _ extraction.Chunk) (extraction.Extraction, error) {
				return extraction.Extraction{}, work(ctx)
			})
			w := newWorld(t)
			w.start(hang, func(c *consumer.Config) { c.ChunkDeadline = 50 * time.Millisecond; c.MaxAttempts = 2 })
			w.send("acme", `{"text":"Ada"}`)
			d := w.onlyDead()
			require.Equal(t, "deadline", d.Kind)
			require.Equal(t, 2, d.Attempts)
			require.Len(t, hang.made(), 2)
		})
	}
}

// hangingStore answers nothing until its caller leaves, and then why.
type hangingStore struct{ *kvcache.Memory }

func (hangingStore) Load(ctx context.Context, _ []kvcache.Entry) error {
	<-ctx.Done()
	return fmt.Errorf("%w: %w", kvcache.ErrUnavailable, context.Cause(ctx))
}

// deafStore fails while it is told to.
type deafStore struct {
	kvcache.KeyValue
	deaf func() bool
}

func (s deafStore) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	if s.deaf() {
		return 0, fmt.Errorf("increment: %w", kvcache.ErrUnavailable)
	}
	return s.KeyValue.Increment(ctx, key, ttl)
}

// A store that does not answer is never held against the chunk.
func TestStoreErrorsAreNoAttempt(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{
		"shared state":   &resilience.StoreError{Op: "breaker allow", Err: kvcache.ErrUnavailable},
		"cache":          fmt.Errorf("limiter: %w", kvcache.ErrUnavailable),
		"attempts store": &extraction.ProviderError{Kind: extraction.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			x := failing(err)
			counts := deafStore{w.counts, func() bool { return name == "attempts store" && len(x.made()) == 1 }}
			w.startOn(w.connect(), counts, x, func(c *consumer.Config) { c.MaxAttempts = 1 })
			w.send("acme", `{"text":"Ada"}`)
			require.Equal(t, 1, w.onlyResult().Attempts)
			require.Greater(t, x.made()[1].at.Sub(x.made()[0].at), time.Second, "no hot loop")
		})
	}
}

// keyStore remembers the keys that were counted under.
type keyStore struct {
	kvcache.KeyValue
	mu   sync.Mutex
	keys map[string]bool
}

func (s *keyStore) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	s.mu.Lock()
	s.keys[key] = true
	s.mu.Unlock()
	return s.KeyValue.Increment(ctx, key, ttl)
}

// Counts and notes go when the message goes, however it ended.
func TestCountsAreCleared(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	counts := &keyStore{KeyValue: w.counts, keys: map[string]bool{}}
	x := scripted(func(_ context.Context, n int, c extraction.Chunk) (extraction.Extraction, error) {
		if c.Text == "bad" || n < 2 {
			return extraction.Extraction{}, errors.New("fails")
		}
		return found(), nil
	})
	r := w.startOn(w.connect(), counts, x)
	w.send("acme", chunkJSON("d", 0, "good"))
	w.send("acme", chunkJSON("d", 1, "bad"))
	w.settled()
	r.stop(t)
	require.Len(t, w.results(), 1)
	require.Len(t, w.dead(), 1)
	require.Len(t, counts.keys, 2)
	for key := range counts.keys {
		for _, k := range []string{key, key + "/dead"} {
			_, ok, err := w.counts.Get(t.Context(), k)
			require.NoError(t, err)
			require.False(t, ok, k)
		}
	}
}
