package hardened_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// scripted is a provider whose calls end as listed, the last one repeated.
type scripted struct {
	results []error
	calls   int
	usage   extraction.Usage
}

func (s *scripted) Model() string { return "scripted/one" }

func (s *scripted) Extract(context.Context, extraction.Request) (extraction.Completion, error) {
	err := s.results[min(s.calls, len(s.results)-1)]
	s.calls++
	if err != nil {
		return extraction.Completion{}, err
	}
	return extraction.Completion{Content: "{}", Usage: s.usage}, nil
}

type bench struct {
	t       *testing.T
	model   *scripted
	breaker *resilience.Breaker
	limiter *resilience.Limiter
	extraction.Provider
}

func newBench(t *testing.T, results ...error) *bench {
	b := &bench{t: t, model: &scripted{results: results}}
	cfg := resilience.DefaultBreakerConfig()
	cfg.FailureThreshold = 2
	var err error
	b.breaker, err = resilience.NewBreaker(cfg)
	require.NoError(t, err)
	b.limiter, err = resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: 100, Tokens: 1000}})
	require.NoError(t, err)
	policy := resilience.DefaultRetryPolicy()
	guard, err := resilience.NewGuard(resilience.GuardConfig{
		Breaker: b.breaker, Limiter: b.limiter, Retry: &policy, Classify: hardened.Classify,
		RetryOptions: []resilience.RetryOption{resilience.WithSleep(func(context.Context, time.Duration) error { return nil })},
	})
	require.NoError(t, err)
	b.Provider = hardened.New(b.model, guard)
	return b
}

func (b *bench) extract(tenant string) error {
	_, err := b.Extract(b.t.Context(), extraction.Request{Tenant: tenant, Text: "Ada met Charles."})
	return err
}

func (b *bench) snapshot() resilience.Snapshot {
	b.t.Helper()
	s, err := b.breaker.Snapshot(b.t.Context())
	require.NoError(b.t, err)
	return s
}

func TestR33ModelIsDelegated(t *testing.T) {
	require.Equal(t, "scripted/one", newBench(t, nil).Model())
}

// R2 of docs/clauses.md.
func TestR2ErrorsOfTheProviderKeepTheirFamily(t *testing.T) {
	b := newBench(t, &extraction.ProviderError{Kind: extraction.KindUnavailable, Status: 503})
	err := b.extract("acme")
	require.ErrorIs(t, err, extraction.ErrUnavailable)
	var exhausted *resilience.RetryExhausted
	require.ErrorAs(t, err, &exhausted)
	require.Equal(t, "scripted/one", exhausted.Operation)
	require.Equal(t, 4, b.model.calls)
}

func TestUnavailableOpensTheCircuit(t *testing.T) {
	b := newBench(t, &extraction.ProviderError{Kind: extraction.KindUnavailable, Status: 503})
	require.Error(t, b.extract("acme"))
	require.Equal(t, 1, b.snapshot().Failures)
	require.Error(t, b.extract("acme"))
	s := b.snapshot()
	require.Equal(t, resilience.Open, s.State)
	require.Contains(t, s.Reason, "503")
	calls := b.model.calls
	var open *resilience.CircuitOpen
	require.ErrorAs(t, b.extract("other"), &open)
	require.Equal(t, calls, b.model.calls)
}

func TestR31PermanentAnswersAreNeverRetriedAndNeverCount(t *testing.T) {
	for _, kind := range []extraction.Kind{
		extraction.KindMalformed, extraction.KindEmpty, extraction.KindTruncated, extraction.KindRefused,
		extraction.KindContextTooLong, extraction.KindInvalidRequest,
	} {
		t.Run(string(kind), func(t *testing.T) {
			failed := &extraction.ProviderError{Kind: kind}
			down := &extraction.ProviderError{Kind: extraction.KindUnavailable}
			b := newBench(t, down, down, down, down, failed)
			require.Error(t, b.extract("acme"))
			for range 10 {
				require.Same(t, failed, b.extract("acme"))
			}
			require.Equal(t, 4+10, b.model.calls)
			require.Equal(t, resilience.Snapshot{Circuit: "default", State: resilience.Closed}, b.snapshot(),
				"R28: the server answered, which also clears its failure of before")
		})
	}
}

func TestR31WrongKeyLooksLikeOneAtOnce(t *testing.T) {
	for _, kind := range []extraction.Kind{extraction.KindAuth, extraction.KindQuota} {
		failed := &extraction.ProviderError{Kind: kind, Status: 401, Detail: "no such key"}
		b := newBench(t, failed)
		require.Same(t, failed, b.extract("acme"))
		require.Equal(t, 1, b.model.calls)
		s := b.snapshot()
		require.Equal(t, resilience.Open, s.State)
		require.Contains(t, s.Reason, string(kind))
		require.Contains(t, s.Reason, "no such key")
	}
}

func TestRateLimitCoolsTheTenantAndNothingElse(t *testing.T) {
	for _, tc := range []struct{ server, cooled time.Duration }{
		{0, hardened.MinCooldown}, {10 * time.Millisecond, hardened.MinCooldown}, {time.Minute, time.Minute},
	} {
		limited := &extraction.ProviderError{Kind: extraction.KindRateLimited, RetryAfter: tc.server}
		b := newBench(t, limited, nil)
		require.Same(t, limited, b.extract("acme"))
		require.Equal(t, 1, b.model.calls, "not retried in hand")
		require.Equal(t, resilience.Snapshot{Circuit: "default", State: resilience.Closed}, b.snapshot())
		var refused *resilience.RateLimitExceeded
		require.ErrorAs(t, b.extract("acme"), &refused)
		require.InDelta(t, tc.cooled, refused.RetryAfter, float64(500*time.Millisecond))
		require.Equal(t, 1, b.model.calls)
		require.NoError(t, b.extract("other"))
	}
}

func TestClassifyWhatIsNoProviderError(t *testing.T) {
	for _, tc := range []struct {
		err  error
		want resilience.Outcome
	}{
		{fmt.Errorf("call: %w", context.Canceled), resilience.Neutral},
		{fmt.Errorf("chunk: %w", extraction.BlankTextError{}), resilience.Neutral},
		{context.DeadlineExceeded, resilience.Failure},
		{errors.New("a provider that breaks its promise"), resilience.Failure},
		{&extraction.ProviderError{Kind: "a kind of tomorrow"}, resilience.Failure},
	} {
		class := hardened.Classify(tc.err)
		require.Equal(t, tc.want, class.Outcome, "%v", tc.err)
		require.False(t, class.Retry)
		require.False(t, class.Cool)
	}
}

func TestTokensAreEstimatedThenSettled(t *testing.T) {
	b := newBench(t, nil)
	b.model.usage = extraction.Usage{PromptTokens: 700, CompletionTokens: 200}
	require.NoError(t, b.extract("acme"))
	_, err := b.limiter.Acquire(t.Context(), "acme", 101)
	require.Error(t, err)
	_, err = b.limiter.Acquire(t.Context(), "acme", 100)
	require.NoError(t, err)

	_, err = b.Extract(t.Context(), extraction.Request{Tenant: "other", Text: strings.Repeat("word ", 1000)})
	var too *resilience.RequestExceedsWindow
	require.ErrorAs(t, err, &too)
	require.EqualValues(t, 2500, too.Tokens)
}

func TestEstimateTokens(t *testing.T) {
	for text, want := range map[string]int64{
		"": 0, "four": 2, "a few words": 6, "日本語": 6, "한국어": 6, "ёж": 2, "→": 2,
	} {
		require.Equal(t, want, hardened.EstimateTokens(extraction.Request{Text: text}), text)
	}
	require.EqualValues(t, 3, hardened.EstimateTokens(extraction.Request{
		SystemPrompt: "1234", Schema: extraction.Schema{JSON: []byte("12345678")}}))

	b := newBench(t, nil)
	guard, err := resilience.NewGuard(resilience.GuardConfig{Limiter: b.limiter, Classify: hardened.Classify})
	require.NoError(t, err)
	p := hardened.New(b.model, guard, hardened.WithTokenEstimate(func(extraction.Request) int64 { return 4321 }))
	_, err = p.Extract(t.Context(), extraction.Request{Tenant: "acme", Text: "x"})
	var too *resilience.RequestExceedsWindow
	require.ErrorAs(t, err, &too)
	require.EqualValues(t, 4321, too.Tokens)
}

// R36: a question that can be done without, such as a classification, is one call
// like any other: the limit and the circuit count it, and have the say. It never
// takes the last place.
func TestR36OptionalCallsAreLimitedAndCounted(t *testing.T) {
	b := newBench(t, nil)
	optional := func() error {
		_, err := b.Extract(t.Context(), extraction.Request{Tenant: "acme", Text: "Ada.", Optional: true})
		return err
	}
	for range 98 {
		require.NoError(t, b.extract("acme"))
	}
	require.NoError(t, optional())
	require.Equal(t, 99, b.model.calls)
	var limited *resilience.RateLimitExceeded
	require.ErrorAs(t, optional(), &limited)
	require.NoError(t, b.extract("acme"), "the last place is left")
	require.ErrorAs(t, b.extract("acme"), &limited)
	require.Equal(t, 100, b.model.calls)

	b = newBench(t, &extraction.ProviderError{Kind: extraction.KindAuth, Status: 401})
	require.ErrorIs(t, optional(), extraction.ErrAuth)
	var open *resilience.CircuitOpen
	require.ErrorAs(t, optional(), &open)
	require.ErrorAs(t, b.extract("acme"), &open)
}

// TestR19TextsAreTheSameWaitersEverywhere: a chunk that was refused by one worker and
// comes back to another still has its place.
func TestR19TextsAreTheSameWaitersEverywhere(t *testing.T) {
	now := time.Now()
	cache := kvcache.NewMemory(kvcache.WithClock(func() time.Time { return now }))
	var workers []extraction.Provider
	for range 2 {
		limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Cache: cache, Limits: resilience.Limits{Requests: 1}})
		require.NoError(t, err)
		guard, err := resilience.NewGuard(resilience.GuardConfig{Limiter: limiter, Classify: hardened.Classify})
		require.NoError(t, err)
		workers = append(workers, hardened.New(&scripted{results: []error{nil}}, guard))
	}
	refused := func(worker int, text string) time.Duration {
		_, err := workers[worker].Extract(t.Context(), extraction.Request{Tenant: "acme", Text: text})
		var limit *resilience.RateLimitExceeded
		require.ErrorAs(t, err, &limit)
		return limit.RetryAfter
	}
	_, err := workers[0].Extract(t.Context(), extraction.Request{Tenant: "acme", Text: "Ada"})
	require.NoError(t, err)
	require.Equal(t, time.Minute, refused(0, "Grace"))
	require.Equal(t, 2*time.Minute, refused(1, "Alan"))
	require.Equal(t, time.Minute, refused(1, "Grace"))
	require.Equal(t, 3*time.Minute, refused(0, "Edsger"))
}
