package admission_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fixture is a controller with its runner, and the check that every test ends
// with: nothing is owned, and Close returns. Run inside a synctest bubble, a
// goroutine that is left over fails the test.
type fixture struct {
	*admission.Controller
	run *admission.Runner
}

func newFixture(t *testing.T, runner []admission.RunnerOption, opts ...admission.Option) fixture {
	t.Helper()
	c, err := admission.New(opts...)
	require.NoError(t, err)
	r, err := admission.NewRunner(c, runner...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.Empty(t, c.Owned(), "calls left in ownership")
		require.NoError(t, c.Close())
	})
	return fixture{c, r}
}

// hold admits a call and keeps it active until the returned func is called.
func (f fixture) hold(t *testing.T, opts ...admission.CallOption) (call *admission.Call, done func()) {
	t.Helper()
	call = admission.NewCall(opts...)
	started, finish, over := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		_, _ = admission.Invoke(context.Background(), f.run, call, func(ctx context.Context) (int, error) {
			close(started)
			select {
			case <-finish:
			case <-ctx.Done():
			}
			return 0, ctx.Err()
		})
	}()
	<-started
	return call, func() { close(finish); <-over }
}

// start invokes a call in the background; its result comes on the channel.
func (f fixture) start(ctx context.Context, call *admission.Call, order func()) <-chan error {
	result := make(chan error, 1)
	go func() {
		_, err := admission.Invoke(ctx, f.run, call, func(context.Context) (int, error) {
			if order != nil {
				order()
			}
			return 1, nil
		})
		result <- err
	}()
	return result
}

func bubble(t *testing.T, name string, f func(t *testing.T)) {
	t.Helper()
	t.Run(name, func(t *testing.T) { synctest.Test(t, f) })
}

// TestConfiguration: A2, absent is the sole spelling of unlimited.
func TestConfiguration(t *testing.T) {
	for argument, option := range map[string]func(int) admission.Option{
		"queue capacity": func(n int) admission.Option { return admission.WithQueueCapacity(n) },
		"refresh":        func(n int) admission.Option { return admission.WithRefresh(time.Duration(n)) },
		"interval":       func(n int) admission.Option { return admission.WithInterval(time.Duration(n)) },
		"request limit":  func(n int) admission.Option { return admission.WithRequestLimit(int64(n)) },
		"token limit":    func(n int) admission.Option { return admission.WithTokenLimit(int64(n)) },
		"concurrency":    func(n int) admission.Option { return admission.WithConcurrency(int64(n)) },
	} {
		for _, n := range []int{0, -1} {
			_, err := admission.New(option(n))
			var bad *admission.ConfigError
			require.ErrorAs(t, err, &bad)
			require.Equal(t, argument, bad.Argument)
		}
	}
	for _, option := range []admission.Option{admission.WithClock(nil), admission.WithSleep(nil)} {
		_, err := admission.New(option)
		var bad *admission.ConfigError
		require.ErrorAs(t, err, &bad)
	}
	c, err := admission.New()
	require.NoError(t, err)
	s := c.Snapshot()
	require.Equal(t, 100, s.QueueCapacity)
	require.Nil(t, s.AvailableRequests)
	require.Nil(t, s.AvailableTokens)
	require.Nil(t, s.ConcurrencyLimit)
}

// TestStrictFIFO: A3, a later small call never bypasses an earlier large one.
func TestStrictFIFO(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithTokenLimit(100), admission.WithConcurrency(1))
		var order []string
		note := func(s string) func() { return func() { order = append(order, s) } }
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(admission.WithTokens(60)), note("first")))

		large := f.start(t.Context(), admission.NewCall(admission.WithTokens(80)), note("large"))
		synctest.Wait()
		small := f.start(t.Context(), admission.NewCall(admission.WithTokens(10)), note("small"))
		synctest.Wait()
		require.Equal(t, []string{"first"}, order, "40 tokens are left, but the large call is first in line")
		require.Equal(t, 2, f.Snapshot().Queued)

		require.NoError(t, <-large)
		require.NoError(t, <-small)
		require.Equal(t, []string{"first", "large", "small"}, order)
	})
}

// TestFixedWindow: A7, counters go back to the limits at each refresh; A6, what a
// failed call used stays used.
func TestFixedWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithRequestLimit(2), admission.WithRefresh(10*time.Second))
		boom := errors.New("boom")
		begin := time.Now()
		_, err := admission.Invoke(t.Context(), f.run, admission.NewCall(), func(context.Context) (int, error) { return 0, boom })
		require.ErrorIs(t, err, boom)
		require.EqualValues(t, 1, *f.Snapshot().AvailableRequests)
		for range 3 {
			require.NoError(t, <-f.start(t.Context(), admission.NewCall(), nil))
		}
		require.Equal(t, 10*time.Second, time.Since(begin))
		require.EqualValues(t, 0, *f.Snapshot().AvailableRequests)
		time.Sleep(10 * time.Second)
		require.EqualValues(t, 2, *f.Snapshot().AvailableRequests)
	})
}

// TestInterval: A2, an explicit interval is used as written.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithRequestLimit(1), admission.WithRefresh(time.Minute), admission.WithInterval(time.Second))
		begin := time.Now()
		for range 4 {
			require.NoError(t, <-f.start(t.Context(), admission.NewCall(), nil))
		}
		require.Equal(t, 3*time.Second, time.Since(begin))
	})
}

// TestCancelBeforePermitRestoresBoth: A6.
func TestCancelBeforePermitRestoresBoth(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithRequestLimit(5), admission.WithTokenLimit(50), admission.WithConcurrency(1))
		_, done := f.hold(t, admission.WithTokens(10))
		ctx, cancel := context.WithCancel(t.Context())
		waiting := admission.NewCall(admission.WithTokens(20))
		result := f.start(ctx, waiting, nil)
		synctest.Wait()
		require.Equal(t, admission.PhaseConcurrency, waiting.Phase())
		require.EqualValues(t, 3, *f.Snapshot().AvailableRequests)
		require.EqualValues(t, 20, *f.Snapshot().AvailableTokens)
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)
		require.EqualValues(t, 4, *f.Snapshot().AvailableRequests)
		require.EqualValues(t, 40, *f.Snapshot().AvailableTokens)
		done()
	})
}

// TestHeadThatWaitsAcrossARefresh: A6 and A7, a head that was charged in one
// window and starts in the next is charged to the next.
func TestHeadThatWaitsAcrossARefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithRequestLimit(2), admission.WithConcurrency(1), admission.WithRefresh(time.Second))
		_, done := f.hold(t)
		result := f.start(t.Context(), admission.NewCall(), nil)
		synctest.Wait()
		time.Sleep(1500 * time.Millisecond)
		require.EqualValues(t, 1, *f.Snapshot().AvailableRequests)
		done()
		require.NoError(t, <-result)
		require.EqualValues(t, 1, *f.Snapshot().AvailableRequests)
	})
}

// TestQueueCapacityCountsWaiters: A9, active calls are reported apart.
func TestQueueCapacityCountsWaiters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithQueueCapacity(2), admission.WithConcurrency(2))
		_, done1 := f.hold(t)
		_, done2 := f.hold(t)
		var results []<-chan error
		for range 4 {
			results = append(results, f.start(t.Context(), admission.NewCall(), nil))
		}
		synctest.Wait()
		s := f.Snapshot()
		require.Equal(t, 2, s.Queued, "two wait in the queue, two more for a place in it")
		require.Equal(t, 2, s.Active)
		require.Len(t, f.Owned(), 6)
		done1()
		done2()
		for _, r := range results {
			require.NoError(t, <-r)
		}
	})
}

// TestConflict: A4, an id that is queued or active, and a call that has ended.
func TestConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil)
		call, done := f.hold(t, admission.WithID("one"))
		twin := admission.NewCall(admission.WithID("one"))
		require.ErrorIs(t, <-f.start(t.Context(), twin, nil), admission.ErrConflict)
		require.Equal(t, admission.Failed, twin.State(), "invoke never returns a non-terminal call")
		require.ErrorIs(t, <-f.start(t.Context(), call, nil), admission.ErrConflict)
		require.Equal(t, admission.Processing, call.State(), "the refusal leaves the active call alone")
		done()
		require.Equal(t, admission.Completed, call.State())
		require.ErrorIs(t, <-f.start(t.Context(), call, nil), admission.ErrConflict)
		require.Equal(t, admission.Completed, call.State())
		require.NoError(t, <-f.start(t.Context(), admission.NewCall(admission.WithID("one")), nil))
	})
}

type secondKey struct{}

// TestSecondRunChangesNothing: A4, A15, whoever tries to run a call that somebody
// else runs gets the conflict and nothing else happens, neither to its phase and
// result nor to another controller's books.
func TestSecondRunChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refuse := admission.WithHooks(admission.Hooks{PreCreate: func(ctx context.Context, _ *admission.Call) error {
			if ctx.Value(secondKey{}) != nil {
				return errors.New("refused")
			}
			return nil
		}})
		f := newFixture(t, []admission.RunnerOption{refuse}, admission.WithConcurrency(1))
		other := newFixture(t, nil)
		_, done := f.hold(t)
		queued := admission.NewCall()
		first := f.start(t.Context(), queued, nil)
		synctest.Wait()
		phase := queued.Phase()

		second := context.WithValue(t.Context(), secondKey{}, true)
		require.ErrorIs(t, <-f.start(second, queued, nil), admission.ErrConflict)
		require.ErrorIs(t, <-other.start(t.Context(), queued, nil), admission.ErrConflict)
		require.Equal(t, phase, queued.Phase())
		require.Equal(t, admission.Pending, queued.State())

		done()
		require.NoError(t, <-first)
		require.Equal(t, admission.Completed, queued.State())
	})
}

// TestRefresherFailure: A10, a failing refresher closes admission, aborts queued
// and active work and can be seen.
func TestRefresherFailure(t *testing.T) {
	for name, sleep := range map[string]func(context.Context, time.Duration) error{
		"error": func(context.Context, time.Duration) error { return errors.New("no timer") },
		"panic": func(context.Context, time.Duration) error { panic("no timer") },
	} {
		bubble(t, name, func(t *testing.T) {
			release := make(chan struct{})
			f := newFixture(t, nil, admission.WithRequestLimit(1), admission.WithSleep(func(ctx context.Context, d time.Duration) error {
				<-release
				return sleep(ctx, d)
			}))
			active, done := f.hold(t)
			defer done()
			waiting := admission.NewCall()
			result := f.start(t.Context(), waiting, nil)
			synctest.Wait()
			close(release)
			err := <-result
			require.ErrorIs(t, err, admission.ErrClosed)
			require.ErrorContains(t, err, "no timer")
			require.Equal(t, admission.Aborted, waiting.State())
			<-f.Done()
			require.ErrorContains(t, f.Err(), "no timer")
			synctest.Wait()
			require.Equal(t, admission.Aborted, active.State())
		})
	}
}
