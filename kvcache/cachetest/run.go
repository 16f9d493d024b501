package cachetest

import (
	"context"
	"testing"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Grace is how long after its time a value of a cache without [Advancer] may
// still be seen.
const Grace = 250 * time.Millisecond

// Advancer is what a cache under test has when its clock can be moved by hand.
type Advancer interface {
	Advance(d time.Duration)
}

// Open returns an empty cache for one test. The suite closes it.
type Open = func(t *testing.T) kvcache.Cache

// Run checks the eight operations of the port.
func Run(t *testing.T, open Open) {
	t.Run("KeyValue", func(t *testing.T) { runAll(t, open, keyValueChecks()) })
	t.Run("TTL", func(t *testing.T) { runAll(t, open, ttlChecks()) })
	t.Run("HitWindow", func(t *testing.T) { runAll(t, open, hitChecks()) })
	t.Run("Lifecycle", func(t *testing.T) { runAll(t, open, lifecycleChecks()) })
}

// T is the part of *testing.T that checks use. It is an interface so that the
// suite's own tests can watch a check fail.
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Context() context.Context
}

// check is one promise of the port. Its name begins with the clause.
type check struct {
	name string
	run  func(r *rig)
}

func runAll(t *testing.T, open Open, checks []check) {
	t.Helper()
	for _, c := range checks {
		t.Run(c.name, func(t *testing.T) {
			cache := open(t)
			t.Cleanup(func() {
				if err := cache.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			c.run(newRig(t, cache))
		})
	}
}
