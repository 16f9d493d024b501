package extraction

import (
	"context"
	"strings"
)

// DefaultDomain is the domain of a chunk that names none.
const DefaultDomain = "general"

// Pipeline asks a provider about chunks and turns the answers into grounded
// extractions. It is safe for concurrent use.
type Pipeline struct {
	provider Provider
	version  string
	prompt   string
	domain   string
}

// PipelineOption changes a default of [NewPipeline].
type PipelineOption func(*Pipeline) error

// WithPrompt replaces [SystemPrompt] and [PromptVersion]. The prompt must ask
// for the form of [AnswerSchema].
func WithPrompt(version, prompt string) PipelineOption {
	return func(p *Pipeline) error {
		if version == "" || prompt == "" {
			return &ArgumentError{Argument: "prompt", Reason: "needs a version and a text"}
		}
		p.version, p.prompt = version, prompt
		return nil
	}
}

// WithDefaultDomain replaces [DefaultDomain].
func WithDefaultDomain(id string) PipelineOption {
	return func(p *Pipeline) error {
		if id == "" {
			return &ArgumentError{Argument: "domain", Reason: "must not be empty"}
		}
		p.domain = id
		return nil
	}
}

// NewPipeline returns a pipeline on a provider. What is wrong with an argument
// is an [*ArgumentError].
func NewPipeline(provider Provider, opts ...PipelineOption) (*Pipeline, error) {
	if provider == nil {
		return nil, &ArgumentError{Argument: "provider", Reason: "must not be nil"}
	}
	p := &Pipeline{provider: provider, version: PromptVersion, prompt: SystemPrompt, domain: DefaultDomain}
	for _, opt := range opts {
		if err := opt(p); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Extract asks the model about one chunk, in one call, for a tenant.
//
// A text that cannot be worked on is refused before the call, see [CheckText].
// Errors of the provider are returned as they are. An answer that is cut off,
// refused, empty or malformed is a [*ProviderError], also if the provider
// let it through. The extraction is partial if rows of the answer were dropped.
func (p *Pipeline) Extract(ctx context.Context, tenant string, c Chunk) (Extraction, error) {
	if err := CheckText(c.Text); err != nil {
		return Extraction{}, err
	}
	done, err := p.provider.Extract(ctx, Request{
		Tenant: tenant, SystemPrompt: p.prompt, Text: c.Text, Schema: AnswerSchema(),
	})
	if err != nil {
		return Extraction{}, err
	}
	draft, err := read(done)
	if err != nil {
		return Extraction{}, err
	}
	x := Extraction{
		Status: StatusOK, Model: p.provider.Model(), PromptVersion: p.version,
		OutputMode: done.OutputMode, FinishReason: done.FinishReason, Usage: done.Usage,
		Domain: p.domainOf(c),
	}
	x.Entities, x.Relationships, x.Counters = Ground(tenant, c.Text, draft)
	x.Excerpts = Excerpts(c.Text, x.Entities, x.Relationships)
	if x.Counters.Dropped > 0 {
		x.Status = StatusPartial
	}
	return x, nil
}

// read checks how a completion ended before it looks at the content: half an
// answer can be whole JSON.
func read(done Completion) (Draft, error) {
	fail := func(kind Kind, detail string) (Draft, error) {
		return Draft{}, &ProviderError{Kind: kind, FinishReason: done.FinishReason, Detail: detail}
	}
	switch {
	case done.FinishReason == "length":
		return fail(KindTruncated, "the answer was cut off at the token limit")
	case done.FinishReason == "content_filter":
		return fail(KindRefused, "the answer was withheld by a content filter")
	case strings.TrimSpace(done.Content) == "":
		return fail(KindEmpty, "the answer has no content")
	}
	draft, err := Parse(done.Content)
	if e, ok := err.(*ProviderError); ok {
		e.FinishReason = done.FinishReason
	}
	return draft, err
}

// domainOf takes the domain that came with the chunk: nothing here reads the
// text to choose one.
func (p *Pipeline) domainOf(c Chunk) DomainChoice {
	if c.Domain != "" {
		return DomainChoice{ID: c.Domain}
	}
	return DomainChoice{ID: p.domain, FallbackReason: "the chunk names no domain"}
}
