package admission_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// TestA21StreamHoldsItsProbeToTheEnd: over a real circuit. Chunks do not close it,
// the end does; a failure in the middle is one failure, whatever came before.
func TestA21StreamHoldsItsProbeToTheEnd(t *testing.T) {
	for name, c := range map[string]struct {
		script script
		want   resilience.State
	}{
		"normal end":         {script{chunks: []any{"a", time.Second, "b"}}, resilience.Closed},
		"failure mid-stream": {script{chunks: []any{"a", time.Second, "b"}, err: errTransient}, resilience.Open},
	} {
		bubble(t, name, func(t *testing.T) {
			cfg := resilience.DefaultBreakerConfig()
			cfg.FailureThreshold, cfg.RecoveryTimeout = 1, 10*time.Second
			breaker, err := resilience.NewBreaker(cfg)
			require.NoError(t, err)
			policy := resilience.TransportRetryPolicy()
			guard, err := resilience.NewGuard(resilience.GuardConfig{
				Breaker: breaker, Retry: &policy,
				Classify: func(err error) resilience.Class { return resilience.Class{Retry: errors.Is(err, errTransient)} },
			})
			require.NoError(t, err)
			f := newFixture(t, []admission.RunnerOption{admission.WithGuard(
				func(ctx context.Context, _ *admission.Call, attempt func(context.Context) error) error {
					return guard.Do(ctx, resilience.Call{}, func(ctx context.Context) (int64, error) { return 0, attempt(ctx) })
				})})
			permit, _, err := breaker.Allow(t.Context())
			require.NoError(t, err)
			require.NoError(t, permit.Failure(t.Context(), "down"))
			time.Sleep(10 * time.Second)

			p := &provider{t: t, scripts: []script{c.script}}
			over := make(chan outcome)
			go func() { over <- f.stream(t.Context(), p, admission.NewCall()) }()
			synctest.Wait()
			_, ok, err := breaker.Allow(t.Context())
			require.NoError(t, err)
			require.False(t, ok, "a chunk has come, and the only probe is still out")
			o := <-over
			require.Equal(t, []any{"a", "b"}, o.chunks)
			state, err := breaker.State(t.Context())
			require.NoError(t, err)
			require.Equal(t, c.want, state)
			require.EqualValues(t, 1, p.attempts.Load(), "a stream that has begun is not retried")
		})
	}
}
