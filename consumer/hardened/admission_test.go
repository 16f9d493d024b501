package hardened_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// slow answers after a second, or when its context ends.
type slow struct{ running, most int }

func (s *slow) Model() string { return "slow/one" }

func (s *slow) Extract(ctx context.Context, _ extraction.Request) (extraction.Completion, error) {
	s.running++
	s.most = max(s.most, s.running)
	defer func() { s.running-- }()
	select {
	case <-time.After(time.Second):
		return extraction.Completion{Content: "{}", Usage: extraction.Usage{PromptTokens: 7}}, nil
	case <-ctx.Done():
		return extraction.Completion{}, ctx.Err()
	}
}

// TestA1AdmissionStandsBeforeTheGuard: a call that waits for its turn in the
// process has used nothing of the fleet's allowance, and one whose deadline
// passes says in which phase.
func TestA1AdmissionStandsBeforeTheGuard(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		controller, err := admission.New(admission.WithConcurrency(1))
		require.NoError(t, err)
		defer func() { require.NoError(t, controller.Close()) }()
		runner, err := admission.NewRunner(controller)
		require.NoError(t, err)
		limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 10, Tokens: 100}})
		require.NoError(t, err)
		breaker, err := resilience.NewBreaker(resilience.DefaultBreakerConfig())
		require.NoError(t, err)
		guard, err := resilience.NewGuard(resilience.GuardConfig{Breaker: breaker, Limiter: limiter, Classify: hardened.Classify})
		require.NoError(t, err)
		model := &slow{}
		p := hardened.New(model, guard, hardened.WithAdmission(runner),
			hardened.WithTokenEstimate(func(extraction.Request) int64 { return 40 }))
		remaining := func() int {
			n, err := limiter.Remaining(t.Context(), "acme")
			require.NoError(t, err)
			return n
		}

		results := make(chan error, 2)
		for range 2 {
			go func() {
				answer, err := p.Extract(t.Context(), extraction.Request{Tenant: "acme", Text: "Ada met Charles."})
				require.Equal(t, "{}", answer.Content)
				results <- err
			}()
		}
		synctest.Wait()
		require.Equal(t, 9, remaining(), "the second call waits for its turn")
		require.Equal(t, 1, controller.Snapshot().Queued)

		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		var late *admission.DeadlineExceeded
		_, err = p.Extract(ctx, extraction.Request{Tenant: "acme", Text: "Grace."})
		require.ErrorAs(t, err, &late)
		require.Equal(t, admission.PhaseRate, late.Phase, "it stood in line behind the second")

		require.NoError(t, <-results)
		require.NoError(t, <-results)
		require.Equal(t, 1, model.most)
		require.Equal(t, 8, remaining())

		ctx, cancel = context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		_, err = p.Extract(ctx, extraction.Request{Tenant: "acme", Text: "Grace."})
		require.ErrorAs(t, err, &late)
		require.Equal(t, admission.PhaseTransport, late.Phase)
		snapshot, err := breaker.Snapshot(t.Context())
		require.NoError(t, err)
		require.Equal(t, 1, snapshot.Failures, "a server that does not answer in time has failed")
	})
}

// TestA6UsageIsSettledThroughAdmission: the estimate of tokens gives way to what
// the call used, as it does without admission.
func TestA6UsageIsSettledThroughAdmission(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		controller, err := admission.New()
		require.NoError(t, err)
		defer func() { require.NoError(t, controller.Close()) }()
		runner, err := admission.NewRunner(controller)
		require.NoError(t, err)
		limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 10, Tokens: 100}})
		require.NoError(t, err)
		guard, err := resilience.NewGuard(resilience.GuardConfig{Limiter: limiter, Classify: hardened.Classify})
		require.NoError(t, err)
		p := hardened.New(&slow{}, guard, hardened.WithAdmission(runner),
			hardened.WithTokenEstimate(func(extraction.Request) int64 { return 60 }))
		for range 6 { // 60 would fit once; 7, six times
			_, err := p.Extract(t.Context(), extraction.Request{Tenant: "acme", Text: "Ada met Charles."})
			require.NoError(t, err)
		}
	})
}

// half answers, and fails beside it.
type half struct{}

func (half) Model() string { return "half/one" }

func (half) Extract(context.Context, extraction.Request) (extraction.Completion, error) {
	return extraction.Completion{Content: "{"}, &extraction.ProviderError{Kind: extraction.KindTruncated}
}

// TestNoAnswerBesideAnError: with admission and without.
func TestNoAnswerBesideAnError(t *testing.T) {
	guard, err := resilience.NewGuard(resilience.GuardConfig{Classify: hardened.Classify})
	require.NoError(t, err)
	controller, err := admission.New()
	require.NoError(t, err)
	defer func() { require.NoError(t, controller.Close()) }()
	runner, err := admission.NewRunner(controller)
	require.NoError(t, err)
	for _, p := range []extraction.Provider{hardened.New(half{}, guard), hardened.New(half{}, guard, hardened.WithAdmission(runner))} {
		answer, err := p.Extract(t.Context(), extraction.Request{Text: "Ada met Charles."})
		require.ErrorIs(t, err, extraction.ErrTruncated)
		require.Zero(t, answer)
	}
}
