package admission_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// TestFullQueueKeepsTheOrder: A3, who waits outside of a full queue is before whoever
// comes later, also when all who were in the queue have gone.
func TestFullQueueKeepsTheOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithQueueCapacity(1), admission.WithConcurrency(1))
		for range 100 {
			var order []string
			call := func(name string) {
				_, err := admission.Invoke(t.Context(), f.run, admission.NewCall(), func(context.Context) (int, error) {
					order = append(order, name)
					return 0, nil
				})
				require.NoError(t, err)
			}
			_, done := f.hold(t)
			go func() { call("queued"); call("late") }()
			synctest.Wait()
			for i := range 3 {
				go call(fmt.Sprint("outside ", i))
				synctest.Wait()
			}
			done()
			synctest.Wait()
			require.Equal(t, []string{"queued", "outside 0", "outside 1", "outside 2", "late"}, order)
		}
	})
}

// TestGivingUpMovesTheLineOn: A3, who gives up, in the queue or outside of it, leaves
// no trace, and the first outside takes a place that becomes free.
func TestGivingUpMovesTheLineOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithQueueCapacity(2), admission.WithConcurrency(1))
		_, done := f.hold(t)
		var calls []*admission.Call
		var leave []context.CancelFunc
		var results []<-chan error
		for range 6 {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			calls, leave = append(calls, admission.NewCall()), append(leave, cancel)
			results = append(results, f.start(ctx, calls[len(calls)-1], nil))
			synctest.Wait()
		}
		phases := func() (phases []admission.Phase) {
			synctest.Wait()
			require.Equal(t, min(2, len(calls)), f.Snapshot().Queued)
			for _, c := range calls {
				phases = append(phases, c.Phase())
			}
			return phases
		}
		gone := func(i int) {
			leave[i]()
			require.ErrorIs(t, <-results[i], context.Canceled)
			calls, leave, results = slices.Delete(calls, i, i+1), slices.Delete(leave, i, i+1), slices.Delete(results, i, i+1)
		}
		const first, second, outside = admission.PhaseConcurrency, admission.PhaseRate, admission.PhaseEnqueue
		require.Equal(t, []admission.Phase{first, second, outside, outside, outside, outside}, phases())
		gone(3)
		require.Equal(t, []admission.Phase{first, second, outside, outside, outside}, phases())
		gone(1)
		require.Equal(t, []admission.Phase{first, second, outside, outside}, phases())
		gone(0)
		require.Equal(t, []admission.Phase{first, second, outside}, phases())
		done()
		for _, result := range results {
			require.NoError(t, <-result)
		}
	})
}

// TestA14CancellationIsKnownWhateverItsCause: whoever gives a reason for a cancellation
// finds both in the error.
func TestA14CancellationIsKnownWhateverItsCause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, nil, admission.WithConcurrency(1))
		_, done := f.hold(t)
		cause := errors.New("a sibling has failed")
		ctx, leave := context.WithCancelCause(t.Context())
		call := admission.NewCall()
		result := f.start(ctx, call, nil)
		synctest.Wait()
		leave(cause)
		err := <-result
		require.ErrorIs(t, err, context.Canceled)
		require.ErrorIs(t, err, cause)
		require.Equal(t, admission.Cancelled, call.State())

		ctx, end := context.WithTimeoutCause(t.Context(), time.Second, cause)
		defer end()
		require.ErrorIs(t, <-f.start(ctx, admission.NewCall(), nil), context.DeadlineExceeded)
		done()
	})
}
