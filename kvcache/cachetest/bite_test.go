package cachetest

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// verdict is a T that remembers failures instead of reporting them.
type verdict struct {
	ctx      context.Context
	mu       sync.Mutex
	failures []string
}

func (v *verdict) Helper()                  {}
func (v *verdict) Context() context.Context { return v.ctx }

func (v *verdict) Errorf(format string, args ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.failures = append(v.failures, fmt.Sprintf(format, args...))
}

func (v *verdict) Fatalf(format string, args ...any) {
	v.Errorf(format, args...)
	runtime.Goexit()
}

// judge runs one check against one cache.
func judge(t *testing.T, c check, cache kvcache.Cache) (failures []string) {
	v := &verdict{ctx: t.Context()}
	done := make(chan struct{})
	go func() { // Fatalf ends its goroutine
		defer close(done)
		c.run(newRig(v, cache))
	}()
	<-done
	return v.failures
}

func allChecks() []check {
	return slices.Concat(keyValueChecks(), ttlChecks(), hitChecks(), lifecycleChecks(), swapChecks(), besideChecks())
}

// R12: a suite that cannot fail proves nothing. Every broken cache must be
// caught, every check must catch one, and a sound cache must pass every check.
func TestEveryCheckBites(t *testing.T) {
	caught := map[string][]string{}
	for name, spoil := range brokenCaches() {
		for _, c := range allChecks() {
			if failures := judge(t, c, newFaulty(spoil)); len(failures) > 0 {
				caught[c.name] = append(caught[c.name], name)
				caught[name] = append(caught[name], c.name)
			}
		}
		require.NotEmpty(t, caught[name], "a cache in which %q passes the suite", name)
	}
	for _, c := range allChecks() {
		require.NotEmpty(t, caught[c.name], "no broken cache fails %q", c.name)
		require.Empty(t, judge(t, c, newFaulty(func(*faulty, *kvcache.Memory) {})), c.name)
	}
}
