package resilience_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// A result counts for the period in which the call was admitted, and for no
// other.
func TestFencingDropsResultsOfPastPeriods(t *testing.T) {
	reports := map[string]func(resilience.Permit) error{
		"success": func(p resilience.Permit) error { return p.Success(context.Background()) },
		"failure": func(p resilience.Permit) error { return p.Failure(context.Background(), "late") },
		"trip":    func(p resilience.Permit) error { return p.Trip(context.Background(), "late") },
		"release": func(p resilience.Permit) error { return p.Release(context.Background()) },
	}
	for name, report := range reports {
		t.Run(name, func(t *testing.T) {
			b := newRig(t, func(c *resilience.BreakerConfig) { c.FailureThreshold = 1 })
			var late []resilience.Permit
			unmoved := func() {
				t.Helper()
				before := b.versions()
				for _, p := range late {
					require.NoError(t, report(p))
				}
				require.Equal(t, before, b.versions())
			}
			late = append(late, b.allowed()) // of a closed period
			b.due()
			unmoved() // open

			late = append(late, b.allowed()) // a probe
			require.NoError(t, b.Reset(t.Context()))
			unmoved() // closed again

			b.due()
			b.allowed()
			unmoved() // half-open again: no success of before closes it, no failure reopens it
		})
	}
}

func TestLeaseEndsWithoutASignOfLife(t *testing.T) {
	b := newRig(t)
	b.due()
	b.allowed() // and never heard of again
	b.pass(4*time.Second - time.Millisecond)
	b.refused()
	b.pass(time.Millisecond)
	require.Zero(t, b.retryAfter())
	p := b.allowed()
	for range 10 {
		b.refused() // exactly one more
	}
	require.NoError(t, p.Success(t.Context()))
	b.is(resilience.Closed)
}

func TestLeaseIsKeptByRenewing(t *testing.T) {
	b := newRig(t)
	b.due()
	p := b.allowed()
	for range 10 {
		b.pass(3 * time.Second)
		held, err := p.Renew(t.Context())
		require.NoError(t, err)
		require.True(t, held)
		b.refused()
	}
	b.pass(4 * time.Second)
	second := b.allowed()
	held, err := p.Renew(t.Context())
	require.NoError(t, err)
	require.False(t, held, "somebody else has it now")
	require.NoError(t, second.Success(t.Context()))
}

func TestLeaseDefaultsToTheRecoveryTimeout(t *testing.T) {
	b := newRig(t, func(c *resilience.BreakerConfig) { c.ProbeLease = 0 })
	b.due()
	b.allowed()
	b.pass(10*time.Second - 1)
	b.refused()
	b.pass(1)
	b.allowed()
}

// The answer of a prober whose lease has ended is still an answer of this
// period.
func TestLateProbeStillDecides(t *testing.T) {
	b := newRig(t)
	b.due()
	first := b.allowed()
	b.pass(4 * time.Second)
	second := b.allowed()
	require.NoError(t, first.Success(t.Context()))
	b.is(resilience.Closed)
	require.NoError(t, second.Failure(t.Context(), "late"))
	b.is(resilience.Closed)
}

// A report that loses the race against the end of its period has changed nothing, and
// does not say that it has.
func TestReportThatLosesAgainstTheEndOfItsPeriod(t *testing.T) {
	for name, report := range map[string]func(*testing.T, resilience.Permit) error{
		"renew": func(t *testing.T, p resilience.Permit) error {
			held, err := p.Renew(t.Context())
			require.False(t, held)
			return err
		},
		"success": func(t *testing.T, p resilience.Permit) error { return p.Success(t.Context()) },
	} {
		t.Run(name, func(t *testing.T) {
			b := newRig(t, func(c *resilience.BreakerConfig) { c.Ramp = time.Minute })
			operator, store := b.Breaker, &faultyStore{Memory: b.cache}
			b.Breaker = b.another(func(c *resilience.BreakerConfig) { c.Cache = store })
			b.due()
			p := b.allowed()
			const swap = 3 // after the two reads of the circuit
			store.leaves(swap, func() { require.NoError(t, operator.Force(t.Context(), "maintenance")) })
			require.NoError(t, report(t, p))
			b.is(resilience.Open)
			require.Empty(t, b.key("ramp"), "no recovery has begun")
		})
	}
}

// Breakers of one circuit that were configured with different numbers of probes:
// each keeps to its own, the largest bounds all, and whoever ends the period clears it.
func TestDifferentNumbersOfProbesAreBoundedByTheLargest(t *testing.T) {
	for _, firstIsNarrow := range []bool{true, false} {
		b := newRig(t, func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 3 })
		wide := b.Breaker
		narrow := b.another(func(c *resilience.BreakerConfig) { c.HalfOpenMaxCalls = 1 })
		for range 3 { // also in the periods that follow, however the one before ended
			b.due()
			var permits []resilience.Permit
			take := func(from *resilience.Breaker) (taken int) {
				for range 5 {
					p, ok, err := from.Allow(t.Context())
					require.NoError(t, err)
					if ok {
						permits = append(permits, p)
						taken++
					}
				}
				return taken
			}
			first, second := wide, narrow
			if firstIsNarrow {
				first, second = narrow, wide
			}
			n, m := take(first), take(second)
			require.Equal(t, 3, n+m)
			if firstIsNarrow {
				require.Equal(t, 1, n)
			}
			require.NoError(t, permits[len(permits)-1].Release(t.Context()))
			require.Equal(t, 1, take(wide)+take(narrow), "the one that was given back")
			require.NoError(t, permits[0].Success(t.Context()))
			b.is(resilience.Closed)
			for _, p := range permits {
				require.NoError(t, p.Failure(t.Context(), "late"))
				_, err := p.Renew(t.Context())
				require.NoError(t, err)
			}
			b.is(resilience.Closed)
			b.pass(b.cfg.ProbeLease) // a lease that the narrow one cannot see is left to its end
		}
	}
}

// Clocks that are 10s wrong, with a timeout of 10s: the cache's clock decides.
func TestWrongClocksAddNoProbes(t *testing.T) {
	skewed := func(b *rig, by time.Duration) *rig {
		other := *b
		other.Breaker = b.another(func(c *resilience.BreakerConfig) {
			c.Clock = func() time.Time { return b.now.Add(by) }
		})
		return &other
	}
	t.Run("a client that is ahead does not probe early", func(t *testing.T) {
		b := newRig(t)
		fast := skewed(b, 10*time.Second)
		b.open()
		for range 10 {
			b.pass(999 * time.Millisecond)
			require.Positive(t, fast.refused().RetryAfter, "and is not told to ask again at once")
		}
		b.pass(10 * time.Millisecond)
		fast.allowed()
	})
	t.Run("a client that is behind waits no longer than its error", func(t *testing.T) {
		b := newRig(t)
		slow := skewed(b, -4*time.Second)
		b.due()
		require.Equal(t, 4*time.Second, slow.refused().RetryAfter)
		b.pass(4 * time.Second)
		slow.allowed()
	})
	t.Run("opened by a client that is ahead", func(t *testing.T) {
		b := newRig(t)
		skewed(b, time.Hour).open()
		require.Equal(t, 10*time.Second, b.refused().RetryAfter, "never more than the timeout")
		b.pass(10 * time.Second)
		b.allowed()
	})
	t.Run("opened by a client that is behind", func(t *testing.T) {
		b := newRig(t)
		skewed(b, -time.Hour).open()
		b.pass(10*time.Second - 1)
		b.refused()
		b.pass(1)
		b.allowed()
	})
	t.Run("a lease is not cut short by others", func(t *testing.T) {
		b := newRig(t)
		fast := skewed(b, time.Hour)
		b.due()
		b.allowed()
		fast.refused()
	})
}
