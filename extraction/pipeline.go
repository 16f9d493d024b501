package extraction

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// DefaultDomain is the domain of a chunk that names none. Any type goes in it,
// unless [NewDomains] is given another of its name.
const DefaultDomain = "general"

// Pipeline asks a provider about chunks and turns the answers into grounded
// extractions. It is safe for concurrent use.
type Pipeline struct {
	provider Provider
	schema   Schema
	version  string // of a prompt that replaces those of the domains; empty if none does
	prompt   string
	gleaning int                                          // passes after the first answer, at most
	earlier  func(context.Context, string, Chunk) Earlier // nil if nothing is carried over
	chooser  *Chooser                                     // nil if nothing is known of domains
	readings map[string]reading                           // by domain
	stage    func(context.Context, Stage) (context.Context, func(error))
}

// reading is how the documents of one domain are read.
type reading struct {
	domain          Domain
	version, prompt string
}

// PipelineOption changes a default of [NewPipeline].
type PipelineOption func(*Pipeline) error

// WithPrompt replaces [SystemPrompt] and [PromptVersion], and the prompts of all
// domains. The prompt must ask for the form of [AnswerSchema].
func WithPrompt(version, prompt string) PipelineOption {
	return func(p *Pipeline) error {
		if version == "" || prompt == "" {
			return &ArgumentError{Argument: "prompt", Reason: "needs a version and a text"}
		}
		p.version, p.prompt = version, prompt
		return nil
	}
}

// WithChooser makes the pipeline read each document with one of the chooser's
// domains. Without it every chunk is read with [SystemPrompt], and the domain that
// it names is recorded as it is.
func WithChooser(c *Chooser) PipelineOption {
	return func(p *Pipeline) error {
		if c == nil {
			return &ArgumentError{Argument: "chooser", Reason: "must not be nil"}
		}
		p.chooser = c
		return nil
	}
}

// NewPipeline returns a pipeline on a provider. What is wrong with an argument
// is an [*ArgumentError].
func NewPipeline(provider Provider, opts ...PipelineOption) (*Pipeline, error) {
	if provider == nil {
		return nil, &ArgumentError{Argument: "provider", Reason: "must not be nil"}
	}
	p := &Pipeline{provider: provider, schema: AnswerSchema(), readings: map[string]reading{}, stage: untold}
	for _, opt := range opts {
		if err := opt(p); err != nil {
			return nil, err
		}
	}
	if p.chooser != nil {
		for _, d := range p.chooser.config.Domains.list {
			p.readings[d.ID] = p.readingOf(d)
		}
	}
	return p, nil
}

// Extract asks the model about one chunk, in one call, for a tenant. A
// classifier that asks a model makes one more for a document, and [WithGleaning] up
// to so many more for each chunk.
//
// A text that cannot be worked on is refused before the call, see [CheckText].
// Errors of the provider are returned as they are. An answer that is cut off,
// refused, empty or malformed is a [*ProviderError], also if the provider
// let it through. The extraction is partial if rows of the answer were dropped.
func (p *Pipeline) Extract(ctx context.Context, tenant string, c Chunk) (Extraction, error) {
	if err := CheckText(c.Text); err != nil {
		return Extraction{}, err
	}
	choice, spent, err := p.domainOf(ctx, tenant, c)
	if err != nil {
		return Extraction{}, err
	}
	reading, ok := p.readings[choice.ID]
	if !ok {
		reading = p.readingOf(Domain{ID: choice.ID})
	}
	prompt, carried := p.withEarlier(ctx, tenant, c, reading.prompt)
	done, err := p.provider.Extract(ctx, Request{
		Tenant: tenant, SystemPrompt: prompt, Text: c.Text, Schema: p.schema,
	})
	if err != nil {
		return Extraction{}, err
	}
	ctx, ended := p.stage(ctx, StageGround)
	draft, err := read(done)
	if err != nil {
		ended(err)
		if failed, ok := errors.AsType[*ProviderError](err); ok {
			failed.Usage = done.Usage
		}
		return Extraction{}, err
	}
	found, gleaning, more := p.glean(ctx, tenant, c.Text, prompt, draft)
	x := Extraction{
		Status: StatusOK, Model: p.provider.Model(), PromptVersion: reading.version,
		OutputMode: done.OutputMode, FinishReason: done.FinishReason,
		Usage:    done.Usage.ofOneCall().Plus(spent).Plus(more),
		Domain:   choice,
		Gleaning: gleaning, CarriedOver: carried,
		Entities: found.entities, Relationships: found.relationships, Counters: found.counters,
	}
	x.Entities, x.Relationships = reading.domain.hold(x.Entities, x.Relationships, &x.Counters)
	x.Excerpts = Excerpts(c.Text, x.Entities, x.Relationships)
	if x.Counters.Dropped > 0 {
		x.Status = StatusPartial
	}
	ended(nil)
	return x, nil
}

func (p *Pipeline) readingOf(d Domain) reading {
	version, prompt := d.Prompt()
	if p.version != "" {
		version, prompt = p.version, p.prompt
	}
	if p.earlier != nil {
		version += "+" + CarryOverPromptVersion
	}
	if p.gleaning > 0 {
		version += fmt.Sprintf("+%sx%d", GleaningPromptVersion, p.gleaning)
	}
	return reading{d, version, prompt}
}

// ended checks how a completion ended, before anything looks at the content:
// half an answer can be whole JSON.
func ended(done Completion) error {
	fail := func(kind Kind, detail string) error {
		return &ProviderError{Kind: kind, FinishReason: done.FinishReason, Detail: detail}
	}
	switch {
	case done.FinishReason == "length":
		return fail(KindTruncated, "the answer was cut off at the token limit")
	case done.FinishReason == "content_filter":
		return fail(KindRefused, "the answer was withheld by a content filter")
	case strings.TrimSpace(done.Content) == "":
		return fail(KindEmpty, "the answer has no content")
	}
	return nil
}

func read(done Completion) (Draft, error) {
	if err := ended(done); err != nil {
		return Draft{}, err
	}
	draft, err := Parse(done.Content)
	if e, ok := err.(*ProviderError); ok {
		e.FinishReason = done.FinishReason
	}
	return draft, err
}

// domainOf chooses the domain of a chunk, and says what that has cost.
func (p *Pipeline) domainOf(ctx context.Context, tenant string, c Chunk) (DomainChoice, Usage, error) {
	switch {
	case p.chooser != nil:
		ctx, ended := p.stage(ctx, StageClassify)
		choice, spent, err := p.chooser.Choose(ctx, tenant, c)
		ended(err)
		return choice, spent, err
	case c.Domain != "":
		return DomainChoice{ID: c.Domain}, Usage{}, nil
	}
	return DomainChoice{ID: DefaultDomain, FallbackReason: "the chunk names no domain"}, Usage{}, nil
}
