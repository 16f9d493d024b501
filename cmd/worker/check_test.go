package main

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
)

func proving() *checkup {
	return &checkup{flags: &checkCommand{}, logger: slog.New(slog.DiscardHandler), probe: wire.NewProbe(), pace: pace{time.Now, sleep}}
}

// mixed takes all tenants for one.
type mixed struct{ *kvcache.Memory }

func (m mixed) Admit(ctx context.Context, _ string, ask kvcache.Ask) (kvcache.Admission, error) {
	return m.Memory.Admit(ctx, "everybody", ask)
}

// deaf never learns that anything was written.
type deaf struct{ *kvcache.Memory }

func (d deaf) Load(context.Context, []kvcache.Entry) error { return nil }

// TestR32ChecksNoticeAStoreThatDoesNotDo: a check that cannot fail proves
// nothing.
//
// R32 of docs/clauses.md.
func TestR32ChecksNoticeAStoreThatDoesNotDo(t *testing.T) {
	defer goleak.VerifyNone(t)
	memory := func() *kvcache.Memory {
		cache := kvcache.NewMemory()
		t.Cleanup(func() { _ = cache.Close() })
		return cache
	}
	u := proving()
	one, two := memory(), memory()

	_, err := u.limitIsKept(t.Context(), proof{one: one, two: two})
	require.ErrorContains(t, err, "were admitted where 3 are allowed", "workers that do not share")
	_, err = u.limitIsKept(t.Context(), proof{one: mixed{one}, two: mixed{one}})
	require.ErrorContains(t, err, "another tenant is not admitted")
	u = proving()
	_, err = u.limitIsKept(t.Context(), proof{one: one, two: one})
	require.NoError(t, err)

	_, err = u.circuitWorks(t.Context(), proof{one: one, two: two})
	require.ErrorContains(t, err, "another worker does not see the open circuit")
	_, err = u.circuitWorks(t.Context(), proof{one: deaf{one}, two: two})
	require.ErrorContains(t, err, "still not open")
	u = proving()
	_, err = u.circuitWorks(t.Context(), proof{one: one, two: one})
	require.NoError(t, err)
}

func TestChecksThatSayNothingWithoutAnotherAreSkipped(t *testing.T) {
	var out strings.Builder
	fine := func(context.Context) (string, error) { return "fine", nil }
	findings, err := examine(t.Context(), []check{
		{"a", "", fine},
		{"b", "a", func(context.Context) (string, error) {
			return "", advise(errors.New("broken\nwith token=hunter2"), "mend it")
		}},
		{"c", "b", fine},
		{"d", "c", fine},
		{"e", "a", fine},
	}, &out)
	require.NoError(t, err)
	var statuses []string
	for _, f := range findings {
		statuses = append(statuses, f.Status)
	}
	require.Equal(t, []string{"ok", "failed", "skipped", "skipped", "ok"}, statuses)
	require.Equal(t, 5, strings.Count(out.String(), "\n"), "one line each")
	require.Contains(t, out.String(), "; next: mend it\n")
	require.NotContains(t, out.String(), "hunter2")
}

func TestServersOldEnoughToLackBatchesAreKnown(t *testing.T) {
	for version, want := range map[string]bool{"2.12.0": true, "2.15.3": true, "3.0.0": true, "v2.12.1-beta": true, "odd": true, "2.11.9": false, "2.9.1": false, "1.99.0": false} {
		require.Equal(t, want, recent(version), version)
	}
}

// stalls is a clock that the process and the store share. Looking at it for the nth
// time is followed by a stop.
type stalls struct {
	mu    sync.Mutex
	now   time.Time
	looks int
	stop  func(look int) time.Duration
}

func (s *stalls) time() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *stalls) look() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now
	s.looks++
	s.now = now.Add(s.stop(s.looks))
	return now
}

func (s *stalls) sleep(_ context.Context, d time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
	return nil
}

// stalled is a store that a process comes to only after a stop, the nth time it asks.
type stalled struct {
	*kvcache.Memory
	stalls *stalls
}

func (s stalled) Load(ctx context.Context, entries []kvcache.Entry) error {
	s.stalls.look()
	return s.Memory.Load(ctx, entries)
}

// A process that is stopped in the middle of the proof comes to the next call only
// when the circuit has recovered. That is no fault of the circuit.
//
// R32 of docs/clauses.md.
func TestR32ABusyMachineIsNoBrokenCircuit(t *testing.T) {
	defer goleak.VerifyNone(t)
	prove := func(stop func(look int) time.Duration) (looks int, err error) {
		clock := &stalls{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), stop: stop}
		cache := kvcache.NewMemory(kvcache.WithClock(clock.time))
		defer func() { require.NoError(t, cache.Close()) }()
		u := proving()
		u.pace = pace{clock.look, clock.sleep}
		store := stalled{cache, clock}
		_, err = u.circuitWorks(t.Context(), proof{one: store, two: store})
		return clock.looks, err
	}
	looks, err := prove(func(int) time.Duration { return 0 })
	require.NoError(t, err)
	require.Greater(t, looks, proofFailures)
	for at := 1; at <= looks; at++ {
		_, err := prove(func(look int) time.Duration {
			if look == at {
				return 1300 * time.Millisecond
			}
			return 0
		})
		require.NoError(t, err, "stopped after look %d at the store or the clock", at)
	}
	_, err = prove(func(int) time.Duration { return time.Minute })
	require.ErrorIs(t, err, errTooBusy)
}
