package resilience_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const staleness = time.Second

// staleBench is a circuit whose reads may be a second old, and a counter of them.
func staleBench(t *testing.T) (*rig, *faultyStore) {
	b := newRig(t)
	store := &faultyStore{Memory: b.cache}
	b.Breaker = b.another(func(c *resilience.BreakerConfig) { c.Cache, c.MaxStaleness = store, staleness })
	return b, store
}

func TestBusyCallersReadOnceInTheStaleness(t *testing.T) {
	b, store := staleBench(t)
	for range 100 {
		require.NoError(t, b.allowed().Success(t.Context()))
	}
	require.Equal(t, 2, store.loads, "the state once, and the failures")
	b.pass(staleness)
	require.NoError(t, b.allowed().Success(t.Context()))
	require.Equal(t, 4, store.loads)
}

func TestWithoutStalenessEveryCallReads(t *testing.T) {
	b := newRig(t)
	store := &faultyStore{Memory: b.cache}
	b.Breaker = b.another(func(c *resilience.BreakerConfig) { c.Cache = store })
	for range 10 {
		require.NoError(t, b.allowed().Success(t.Context()))
	}
	require.Equal(t, 20, store.loads)
}

// A store that has gone is noticed as late as a circuit that somebody opened, a caller
// who has left at once.
func TestAStaleReadDoesNotOutliveTheStore(t *testing.T) {
	b, store := staleBench(t)
	require.NoError(t, b.allowed().Success(t.Context()))
	store.fault = notApplied
	b.allowed()
	b.pass(staleness)
	var failed *resilience.StoreError
	_, ok, err := b.Allow(t.Context())
	require.ErrorAs(t, err, &failed)
	require.False(t, ok)

	store.fault = none
	b.allowed()
	left, leave := context.WithCancel(t.Context())
	leave()
	store.leaves(0, leave)
	_, ok, err = b.Allow(left)
	require.ErrorIs(t, err, context.Canceled)
	require.False(t, ok)
}

func TestAClockSetBackKeepsNoStaleRead(t *testing.T) {
	b, _ := staleBench(t)
	b.allowed()
	p, ok, err := b.another(func(c *resilience.BreakerConfig) { c.MaxStaleness = 0 }).Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, p.Trip(t.Context(), "by another"))
	b.pass(-time.Hour)
	b.refused()
}

// Whoever reports a failure hears that others have opened the circuit: his next call is
// refused, however short his calls are.
func TestALateReportEndsAStaleRead(t *testing.T) {
	b, _ := staleBench(t)
	p := b.allowed()
	other, ok, err := b.another(func(c *resilience.BreakerConfig) { c.MaxStaleness = 0 }).Allow(t.Context())
	require.NoError(t, err)
	require.True(t, ok)
	require.NoError(t, other.Trip(t.Context(), "by another"))
	b.allowed() // nobody has told it yet
	require.NoError(t, p.Failure(t.Context(), "failed"))
	b.refused()
}

// slowLoad lets something happen between a read and its answer.
type slowLoad struct {
	*kvcache.Memory
	meanwhile func()
}

func (s *slowLoad) Load(ctx context.Context, entries []kvcache.Entry) error {
	err := s.Memory.Load(ctx, entries)
	if meanwhile := s.meanwhile; meanwhile != nil {
		s.meanwhile = nil
		meanwhile()
	}
	return err
}

// What a breaker has written holds for its next call, though a read that began before is
// answered after.
func TestAReadThatTheBreakerHasOverwrittenIsNotKept(t *testing.T) {
	b := newRig(t)
	store := &slowLoad{Memory: b.cache}
	b.Breaker = b.another(func(c *resilience.BreakerConfig) { c.Cache, c.MaxStaleness = store, staleness })
	p := b.allowed()
	b.pass(staleness)
	store.meanwhile = func() { require.NoError(t, p.Trip(t.Context(), "no such key")) }
	b.allowed() // it asked before
	b.refused()
}

// With several clients, each of whose reads may be old: a call is admitted outside of
// probes only if the circuit was closed within the staleness and after all that its own
// client wrote; and a success leaves failures alone only if there were none then.
func TestStaleReadsAreNeverOlderThanTheStaleness(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		store := kvcache.NewMemory(kvcache.WithClock(func() time.Time { return now }))
		const clients = 3
		breaker := func(stale time.Duration) *resilience.Breaker {
			b, err := resilience.NewBreaker(resilience.BreakerConfig{
				Cache: store, Name: "model", FailureThreshold: 3, RecoveryTimeout: 10 * time.Second,
				HalfOpenMaxCalls: 1, MaxStaleness: stale, Clock: func() time.Time { return now },
			})
			require.NoError(t, err)
			return b
		}
		truth := breaker(0)
		var breakers [clients]*resilience.Breaker
		for i := range breakers {
			breakers[i] = breaker(staleness)
		}

		type moment struct {
			at     time.Time
			closed bool
			sound  bool
		}
		var history []moment
		var wrote [clients]int // the length of history at its last write
		observe := func() {
			s, err := truth.Snapshot(t.Context())
			require.NoError(t, err)
			history = append(history, moment{now, s.State == resilience.Closed, s.Failures == 0})
		}
		// lately reports whether something was so at a time that the client may have read.
		lately := func(client int, so func(moment) bool) bool {
			for i := len(history) - 1; i >= wrote[client]; i-- {
				// What held at a moment held until the next one.
				if i+1 < len(history) && now.Sub(history[i+1].at) >= staleness {
					break
				}
				if so(history[i]) {
					return true
				}
			}
			return false
		}
		observe()
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			client := rapid.IntRange(0, clients-1).Draw(t, "client")
			b := breakers[client]
			switch what := rapid.SampledFrom([]string{"success", "success", "failure", "trip", "reset", "pass"}).Draw(t, "what"); what {
			case "pass":
				now = now.Add(time.Duration(rapid.IntRange(1, 1500).Draw(t, "ms")) * time.Millisecond)
			case "reset":
				require.NoError(t, b.Reset(t.Context()))
				observe()
				wrote[client] = len(history) - 1
				continue
			default:
				p, ok, err := b.Allow(t.Context())
				require.NoError(t, err)
				if ok && !p.Probe() {
					require.True(t, lately(client, func(m moment) bool { return m.closed }), "admitted by an older read")
				}
				if !ok {
					require.False(t, history[len(history)-1].closed, "refused by a closed circuit")
					continue
				}
				before := history[len(history)-1]
				if what == "success" {
					require.NoError(t, p.Success(t.Context()))
					s, err := truth.Snapshot(t.Context())
					require.NoError(t, err)
					if before.closed && s.Failures > 0 {
						require.True(t, lately(client, func(m moment) bool { return m.sound }), "failures left alone by an older read")
					}
					observe()
					if p.Probe() || before.sound != (s.Failures == 0) {
						wrote[client] = len(history) - 1
					}
					continue
				}
				if what == "failure" {
					require.NoError(t, p.Failure(t.Context(), "failed"))
				} else {
					require.NoError(t, p.Trip(t.Context(), "tripped"))
				}
				observe()
				if after := history[len(history)-1]; after != before || !after.sound {
					wrote[client] = len(history) - 1
				}
				continue
			}
			observe()
		}
	})
}
