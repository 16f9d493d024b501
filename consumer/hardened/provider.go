package hardened

import (
	"context"
	"hash/fnv"
	"io"
	"strconv"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// Option adjusts [New].
type Option func(*provider)

// WithTokenEstimate replaces [EstimateTokens]. It must be safe for concurrent
// use.
func WithTokenEstimate(estimate func(extraction.Request) int64) Option {
	return func(p *provider) {
		if estimate != nil {
			p.estimate = estimate
		}
	}
}

// New returns p behind the guard g, which decides by [Classify]. Both must not
// be nil. Its errors are those of p, the refusals of [resilience.Guard.Do], and
// [*resilience.RetryExhausted] around the former.
//
// The tenant of a request is whose allowance it uses. A text that was refused
// and comes back finds the place that it was promised; an optional request is
// promised none, see [resilience.AsOptional].
func New(p extraction.Provider, g *resilience.Guard, opts ...Option) extraction.Provider {
	h := &provider{next: p, guard: g, estimate: EstimateTokens}
	for _, opt := range opts {
		opt(h)
	}
	return h
}

type provider struct {
	next     extraction.Provider
	guard    *resilience.Guard
	estimate func(extraction.Request) int64
	runner   *admission.Runner
}

// Extract implements [extraction.Provider].
func (p *provider) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	call := resilience.Call{
		Tenant:    req.Tenant,
		Operation: p.Model(),
		Tokens:    p.estimate(req),
		Optional:  req.Optional,
	}
	if !req.Optional {
		call.Waiter = nameOf(req.Text)
	}
	if p.runner != nil {
		return p.admitted(ctx, call, req)
	}
	var answer extraction.Completion
	err := p.guard.Do(ctx, call, func(ctx context.Context) (int64, error) {
		var err error
		answer, err = p.next.Extract(ctx, req)
		return used(answer), err
	})
	if err != nil { // whose answer would that be, after several attempts?
		return extraction.Completion{}, err
	}
	return answer, nil
}

// nameOf is what a text is called while it waits: the same in every process, since a
// chunk that is refused here may come back elsewhere.
func nameOf(text string) string {
	h := fnv.New64a()
	_, _ = io.WriteString(h, text) // never fails
	return strconv.FormatUint(h.Sum64(), 36)
}

func used(answer extraction.Completion) int64 {
	return answer.Usage.PromptTokens + answer.Usage.CompletionTokens
}

// Model implements [extraction.Provider]: a wrapper is no provenance.
func (p *provider) Model() string { return p.next.Model() }
