package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// reference is what a circuit should be, in the words of the clauses and with
// nothing but the store's time: no keys, versions or retries.
type reference struct {
	state    resilience.State
	period   int
	failures []time.Time // each since the first is younger than recovery
	heldTill time.Time   // an open circuit is due then
	forced   bool
	openedAt time.Time         // by the clock of who opened it
	probes   map[int]time.Time // leases, by call
}

const (
	refThreshold = 3
	refProbes    = 2
	refRecovery  = 10 * time.Second
	refLease     = 4 * time.Second
)

func (r *reference) tick(now time.Time) {
	if len(r.failures) > 0 && !now.Before(r.failures[0].Add(refRecovery)) {
		r.failures = nil
	}
	for call, until := range r.probes {
		if !now.Before(until) {
			delete(r.probes, call)
		}
	}
}

func (r *reference) enter(s resilience.State) {
	r.state, r.period, r.failures, r.forced = s, r.period+1, nil, false
	r.probes = make(map[int]time.Time)
}

// open opens the circuit for a client whose clock is off by skew.
func (r *reference) open(now time.Time, skew time.Duration) {
	r.enter(resilience.Open)
	r.heldTill = now.Add(refRecovery)
	r.openedAt = now.Add(skew).Truncate(time.Millisecond)
}

// allow says whether call may be made, and takes what it needs.
func (r *reference) allow(now time.Time, call int) (ok bool) {
	if r.state == resilience.Open && !r.forced && !now.Before(r.heldTill) {
		r.enter(resilience.HalfOpen)
	}
	switch r.state {
	case resilience.Open:
		return false
	case resilience.HalfOpen:
		if len(r.probes) >= refProbes {
			return false
		}
		r.probes[call] = now.Add(refLease)
	}
	return true
}

// end is the result of a call of the current period.
func (r *reference) end(now time.Time, skew time.Duration, call int, how string) {
	switch {
	case how == "trip", how == "failure" && r.state == resilience.HalfOpen:
		r.open(now, skew)
	case how == "failure":
		if r.failures = append(r.failures, now); len(r.failures) >= refThreshold {
			r.open(now, skew)
		}
	case how == "success" && r.state == resilience.HalfOpen:
		r.enter(resilience.Closed)
	case how == "success":
		r.failures = nil
	case how == "release":
		delete(r.probes, call)
	case how == "renew":
		if _, held := r.probes[call]; held {
			r.probes[call] = now.Add(refLease)
		}
	}
}

// outCall is a call that is out, or whose caller has crashed.
type outCall struct {
	resilience.Permit
	id, period, client int
}

// Several clients, whose clocks are wrong by up to 10s and jump, use one circuit
// over a line that loses replies; some of them crash with calls out, and some leave
// in the middle of an operation. At every step the circuit is the reference's, and answers as it does. The one thing a
// wrong clock may do is make its own client refuse a due probe.
func TestBreakerAgainstTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		now := time.Unix(1_700_000_000, 0)
		store := &faultyStore{Memory: kvcache.NewMemory(kvcache.WithClock(func() time.Time { return now }))}
		ref := &reference{state: resilience.Closed, probes: map[int]time.Time{}}

		const clients = 3
		var skew [clients]time.Duration
		var breakers [clients]*resilience.Breaker
		for i := range clients {
			var err error
			breakers[i], err = resilience.NewBreaker(resilience.BreakerConfig{
				Cache: store, Name: "model", FailureThreshold: refThreshold, RecoveryTimeout: refRecovery,
				HalfOpenMaxCalls: refProbes, ProbeLease: refLease, Clock: func() time.Time { return now.Add(skew[i]) },
			})
			require.NoError(t, err)
		}
		var out []outCall
		calls := 0

		// broken runs op with a fault of the line, or for a caller who leaves in the
		// middle of it, and returns whether what it writes takes effect.
		broken := func(op func(context.Context) error) (effective bool, err error) {
			store.fault = rapid.SampledFrom([]fault{none, none, none, none, none, none, lostReply, lostWrite}).Draw(t, "line")
			ctx, leave := context.WithCancel(context.Background())
			defer leave()
			store.leaves(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2, 3, 4, 5, 6}).Draw(t, "leaves"), leave)
			swaps := store.swaps
			err = op(ctx)
			swapped := store.swaps > swaps
			effective = store.fault != lostWrite && (err == nil || swapped)
			switch {
			case errors.Is(err, context.Canceled):
				require.ErrorIs(t, ctx.Err(), context.Canceled)
			case store.fault == none || !swapped:
				require.NoError(t, err)
			default:
				var failed *resilience.StoreError
				require.ErrorAs(t, err, &failed)
			}
			store.fault, store.leave = none, nil
			return effective, err
		}

		actions := map[string]func(*rapid.T){
			"time": func(t *rapid.T) {
				now = now.Add(rapid.SampledFrom([]time.Duration{1, time.Second, 3 * time.Second, 5 * time.Second}).Draw(t, "passes"))
			},
			"clock": func(t *rapid.T) {
				skew[rapid.IntRange(0, clients-1).Draw(t, "client")] = time.Duration(rapid.Int64Range(-int64(10*time.Second), int64(10*time.Second)).Draw(t, "skew"))
			},
			"allow": func(t *rapid.T) {
				client := rapid.IntRange(0, clients-1).Draw(t, "client")
				b := breakers[client]
				ref.tick(now)
				calls++
				var p resilience.Permit
				var ok bool
				before := *ref
				before.probes = cloneLeases(ref.probes)
				want := ref.allow(now, calls)
				effective, err := broken(func(ctx context.Context) (err error) { p, ok, err = b.Allow(ctx); return err })
				switch {
				case err != nil: // nobody has the call; with a lost reply its probe is taken until the lease ends
					require.False(t, ok)
					if !effective {
						*ref = before
					} else if errors.Is(err, context.Canceled) {
						delete(ref.probes, calls) // given back
					}
				case ok:
					require.True(t, want, "admitted too early or too many")
					out = append(out, outCall{p, calls, ref.period, client})
				case want:
					require.Equal(t, resilience.Open, before.state, "refused")
					elapsed := now.Add(skew[client]).Sub(before.openedAt)
					require.True(t, elapsed >= 0 && elapsed < refRecovery, "refused although due by its own clock too")
					*ref = before
				}
				if !ok && err == nil {
					require.Positive(t, p.Refusal().RetryAfter)
					require.LessOrEqual(t, p.Refusal().RetryAfter, refRecovery)
				}
			},
			"end": func(t *rapid.T) {
				if len(out) == 0 {
					t.Skip("no call is out")
				}
				ref.tick(now)
				i := len(out) - 1 // mostly the latest, whose period is the most likely to last
				if rapid.IntRange(0, 3).Draw(t, "late") == 0 {
					i = rapid.IntRange(0, i).Draw(t, "call")
				}
				c := out[i]
				how := rapid.SampledFrom([]string{"success", "failure", "failure", "trip", "release", "renew", "crash"}).Draw(t, "how")
				effective, _ := broken(func(ctx context.Context) (err error) {
					switch how {
					case "success":
						err = c.Success(ctx)
					case "failure":
						err = c.Failure(ctx, "down")
					case "trip":
						err = c.Trip(ctx, "key")
					case "release":
						err = c.Release(ctx)
					case "renew":
						_, err = c.Renew(ctx)
					}
					return err
				})
				if how != "renew" {
					out = append(out[:i], out[i+1:]...)
				}
				if effective && c.period == ref.period {
					ref.end(now, skew[c.client], c.id, how)
				}
			},
			"operator": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "busy") > 0 {
					t.Skip("not now")
				}
				client := rapid.IntRange(0, clients-1).Draw(t, "client")
				b := breakers[client]
				ref.tick(now)
				if rapid.Bool().Draw(t, "force") {
					if effective, _ := broken(func(ctx context.Context) error { return b.Force(ctx, "forced") }); effective {
						ref.open(now, skew[client])
						ref.forced = true
					}
				} else if effective, _ := broken(b.Reset); effective {
					ref.enter(resilience.Closed)
				}
			},
			"": func(t *rapid.T) {
				ref.tick(now)
				s, err := breakers[0].Snapshot(context.Background())
				require.NoError(t, err)
				require.Equal(t, fmt.Sprint(ref.state, len(ref.failures), len(ref.probes), ref.forced),
					fmt.Sprint(s.State, s.Failures, s.HalfOpenCalls, s.Forced))
			},
		}
		for range 10 { // one round is too short for a circuit's whole life
			t.Repeat(actions)
		}
	})
}

func cloneLeases(leases map[int]time.Time) map[int]time.Time {
	clone := make(map[int]time.Time, len(leases))
	for call, until := range leases {
		clone[call] = until
	}
	return clone
}
