package resilience_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// What becomes of a circuit and a window when a caller leaves, at every step.

// Once a call has ended, what is to be recorded of it is recorded in whole and once,
// during whichever operation of the store its caller leaves.
func TestOutcomeIsRecordedWhoeverLeaves(t *testing.T) {
	probing := func(g *guardRig) { g.due() }
	failed := func(g *guardRig) { g.fail(1) }
	for _, tt := range []struct {
		name    string
		prepare func(*guardRig)
		err     error
	}{
		{"success", failed, nil},
		{"success of a probe", probing, nil},
		{"the first failure", func(*guardRig) {}, errDown},
		{"a failure", failed, errDown},
		{"the failure that opens", func(g *guardRig) { g.fail(2) }, errDown},
		{"failure of a probe", probing, errDown},
		{"trip", failed, errKey},
		{"trip by a probe", probing, errKey},
		{"cool-down", failed, errSlow},
		{"cool-down of a probe", probing, errSlow},
		{"failure with a cool-down", failed, errBusy},
		{"the same of a probe", probing, errBusy},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// after makes the call whose caller leaves during that operation, and says
			// what is stored then, and whether there were so many.
			after := func(step int) (stored string, left bool) {
				g := newGuardRig(t)
				tt.prepare(g)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				err := g.Do(ctx, aCall, func(context.Context) (int64, error) {
					g.store.leaves(step, leave)
					return 70, tt.err
				})
				g.store.leave = nil
				require.ErrorIs(t, err, tt.err)
				s, err := g.Snapshot(t.Context())
				require.NoError(t, err)
				_, tooMuch := g.limiter.Acquire(t.Context(), "acme", 31)
				return fmt.Sprintf("%+v %v", s, tooMuch), ctx.Err() != nil
			}
			want, _ := after(0)
			for step := 1; ; step++ {
				got, left := after(step)
				require.Equal(t, want, got, "left during operation %d", step)
				if !left {
					require.Greater(t, step, 2)
					return
				}
			}
		})
	}
}

// Who leaves while asking for a probe has taken none, during whichever operation of the
// store.
func TestWhoLeavesWhileAskingHoldsNoProbe(t *testing.T) {
	for name, prepare := range map[string]func(*guardRig){
		"open and due": func(g *guardRig) { g.due() },
		"half open": func(g *guardRig) {
			g.due()
			require.NoError(g.t, g.allowed().Release(g.t.Context()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			for step := 1; ; step++ {
				g := newGuardRig(t)
				prepare(g)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				g.store.leaves(step, leave)
				_, ok, err := g.Allow(ctx)
				g.store.leave = nil
				if ctx.Err() == nil {
					require.NoError(t, err)
					require.True(t, ok)
					require.Greater(t, step, 4)
					return
				}
				require.Same(t, context.Canceled, err)
				require.False(t, ok)
				s, err := g.Snapshot(t.Context())
				require.NoError(t, err)
				require.Zero(t, s.HalfOpenCalls, "left during operation %d", step)
				require.True(t, g.allowed().Probe())
			}
		})
	}
}

// A store that dies during a call makes its answer 2 s later, and no more.
func TestAnswerIsAtMostTwoSecondsLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLateStore()
		b := breakerOn(t, store)
		l, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: store, Limits: resilience.Limits{Requests: 5, Tokens: 100}})
		require.NoError(t, err)
		g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Limiter: l, Classify: classify})
		require.NoError(t, err)
		for _, want := range []error{nil, errDown, errKey} {
			store.takes = 0
			var answered time.Time
			require.Equal(t, want, g.Do(t.Context(), aCall, func(context.Context) (int64, error) {
				store.takes, answered = forever, time.Now()
				return 5, want
			}))
			require.Equal(t, 2*time.Second, time.Since(answered))
		}
	})
}

// Who leaves during a call, or between its attempts, has learnt nothing of the server.
func TestWhoLeavesCountsNoFailure(t *testing.T) {
	for name, after := range map[string]time.Duration{"during the call": 0, "while a retry waits": 100 * time.Millisecond} {
		synctest.Test(t, func(t *testing.T) {
			b, err := resilience.NewBreaker(resilience.DefaultBreakerConfig())
			require.NoError(t, err)
			retry := resilience.DefaultRetryPolicy()
			g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Retry: &retry, Classify: classify})
			require.NoError(t, err)
			ctx, leave := context.WithCancel(t.Context())
			defer leave()
			if after > 0 {
				time.AfterFunc(after, leave)
			}
			require.Error(t, g.Do(ctx, aCall, func(context.Context) (int64, error) {
				if after == 0 {
					leave()
				}
				return 0, errDown
			}), name)
			s, err := b.Snapshot(t.Context())
			require.NoError(t, err)
			require.Zero(t, s.Failures, name)
		})
	}
}

// A prober whose caller has left, and which goes on none the less, keeps its probe.
func TestAProberKeepsItsProbeWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := dueBreaker(t, kvcache.NewMemory())
		recovery := resilience.DefaultBreakerConfig().RecoveryTimeout
		g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Classify: classify})
		require.NoError(t, err)

		ctx, leave := context.WithCancel(t.Context())
		var probing sync.WaitGroup
		probing.Go(func() {
			_ = g.Do(ctx, aCall, func(context.Context) (int64, error) { // does not listen
				time.Sleep(5 * recovery)
				return 0, errDown
			})
		})
		synctest.Wait()
		leave()
		for range 4 {
			time.Sleep(recovery)
			_, ok, err := b.Allow(t.Context())
			require.NoError(t, err)
			require.False(t, ok, "another probe beside the one that lives")
		}
		probing.Wait()
	})
}

// A store that dies when a probe is taken is said to be what failed, since the caller
// has no deadline.
func TestAllowSaysThatTheStoreIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLateStore()
		b := dueBreaker(t, store)
		store.diesInSwap = true
		_, ok, err := b.Allow(t.Context())
		require.False(t, ok)
		var failed *resilience.StoreError
		require.ErrorAs(t, err, &failed)
		require.ErrorIs(t, err, kvcache.ErrUnavailable)
		require.NotErrorIs(t, err, context.DeadlineExceeded)
		require.NotErrorIs(t, err, context.Canceled)
	})
}

// Who leaves while the store that should give a probe has died is kept 2 s.
func TestAllowIsAtMostTwoSecondsLateIfTheStoreDies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newLateStore()
		b := dueBreaker(t, store)
		store.diesInSwap = true
		ctx, leave := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Millisecond, func() { leave(errors.New("SIGTERM")) })
		start := time.Now()
		_, ok, err := b.Allow(ctx)
		require.Same(t, context.Canceled, err)
		require.False(t, ok)
		require.Equal(t, 2*time.Second, time.Since(start))
	})
}

// Who leaves is told so, also by a store that answers with the reason.
func TestA14CancellationIsKnownWhateverItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &lateStore{Memory: kvcache.NewMemory(), takes: forever}
		b := breakerOn(t, store)
		l, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: store, Limits: resilience.Limits{Requests: 5}})
		require.NoError(t, err)
		g, err := resilience.NewGuard(resilience.GuardConfig{Breaker: b, Limiter: l, Classify: classify})
		require.NoError(t, err)
		cause := errors.New("a sibling has failed")
		for name, ask := range map[string]func(context.Context) error{
			"allow":   func(ctx context.Context) error { _, _, err := b.Allow(ctx); return err },
			"acquire": func(ctx context.Context) error { _, err := l.Acquire(ctx, "acme", 0); return err },
			"peek":    func(ctx context.Context) error { _, _, err := l.Peek(ctx, "acme"); return err },
			"reset":   b.Reset,
			"do": func(ctx context.Context) error {
				return g.Do(ctx, aCall, func(context.Context) (int64, error) { panic("called") })
			},
		} {
			ctx, leave := context.WithCancelCause(t.Context())
			time.AfterFunc(time.Millisecond, func() { leave(cause) })
			require.Same(t, context.Canceled, ask(ctx), name)

			ctx, end := context.WithTimeoutCause(t.Context(), time.Millisecond, cause)
			require.Equal(t, context.DeadlineExceeded, ask(ctx), name)
			end()
		}
	})
}
