package work

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// sharedState is a cache with everything that the breaker and the limiter look for.
type sharedState interface {
	kvcache.Cache
	kvcache.Versioned
	kvcache.Ledger
	kvcache.Watcher
}

// Store is a cache whose operations are timed under a name. A cache that lacks one of
// the capabilities is returned as it is: to pretend to have it would be worse than not to
// be measured.
func (o *Observer) Store(name string, cache kvcache.Cache) kvcache.Cache {
	state, ok := cache.(sharedState)
	if !ok {
		return cache
	}
	return store{state, o, name}
}

// store times what goes to the server, or may. Watching has no end to time.
type store struct {
	sharedState
	observer *Observer
	name     string
}

func (s store) took(ctx context.Context, operation string, began time.Time, err error) {
	failed := ""
	switch {
	case err == nil:
	case errors.Is(err, context.Canceled):
		failed = "cancelled"
	case errors.Is(err, context.DeadlineExceeded):
		failed = "timeout"
	case errors.Is(err, kvcache.ErrUnavailable):
		failed = "unavailable"
	case errors.Is(err, kvcache.ErrClosed):
		failed = "closed"
	default:
		failed = "_OTHER"
	}
	s.observer.store.took(ctx, time.Since(began), s.name, operation, failed)
}

func (s store) Get(ctx context.Context, key string) (string, bool, error) {
	began := time.Now()
	value, ok, err := s.sharedState.Get(ctx, key)
	s.took(ctx, "get", began, err)
	return value, ok, err
}

func (s store) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	began := time.Now()
	err := s.sharedState.Set(ctx, key, value, ttl)
	s.took(ctx, "set", began, err)
	return err
}

func (s store) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	began := time.Now()
	n, err := s.sharedState.Increment(ctx, key, ttl)
	s.took(ctx, "increment", began, err)
	return n, err
}

func (s store) Delete(ctx context.Context, key string) error {
	began := time.Now()
	err := s.sharedState.Delete(ctx, key)
	s.took(ctx, "delete", began, err)
	return err
}

func (s store) Load(ctx context.Context, entries []kvcache.Entry) error {
	began := time.Now()
	err := s.sharedState.Load(ctx, entries)
	s.took(ctx, "load", began, err)
	return err
}

func (s store) Swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	began := time.Now()
	swapped, err := s.sharedState.Swap(ctx, changes)
	s.took(ctx, "swap", began, err)
	return swapped, err
}

func (s store) Admit(ctx context.Context, key string, ask kvcache.Ask) (kvcache.Admission, error) {
	began := time.Now()
	answer, err := s.sharedState.Admit(ctx, key, ask)
	s.took(ctx, "admit", began, err)
	return answer, err
}

func (s store) Settle(ctx context.Context, key string, id uint64, tokens int64) error {
	began := time.Now()
	err := s.sharedState.Settle(ctx, key, id, tokens)
	s.took(ctx, "settle", began, err)
	return err
}

func (s store) Cool(ctx context.Context, key string, d time.Duration) error {
	began := time.Now()
	err := s.sharedState.Cool(ctx, key, d)
	s.took(ctx, "cool", began, err)
	return err
}

func (s store) Peek(ctx context.Context, key string, q kvcache.Quota) (kvcache.Standing, error) {
	began := time.Now()
	standing, err := s.sharedState.Peek(ctx, key, q)
	s.took(ctx, "peek", began, err)
	return standing, err
}
