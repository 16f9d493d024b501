package offline

import (
	"context"
	_ "embed"
	"fmt"
	"sync"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
)

//go:embed weights.gz
var weights []byte

// rulesVersion changes whenever the same weights give other answers.
const rulesVersion = "1"

// outputMode is what a completion of this provider reports: nobody was asked
// for JSON.
const outputMode = "offline"

// Provider finds entities and relations in English text. It is immutable and
// safe for concurrent use.
type Provider struct {
	model         func() (*tagger.Model, error) // unpacked by the first who asks
	name          string
	everySurface  bool
	minConfidence float64
}

var _ extraction.Provider = (*Provider)(nil)

// Option changes how a provider answers.
type Option func(*Provider) error

// EverySurface makes every spelling an entity of its own: "Lovelace" beside
// "Ada Lovelace". Scores over names need it; a graph is better without.
func EverySurface() Option {
	return func(p *Provider) error {
		p.everySurface = true
		return nil
	}
}

// MinConfidence leaves out entities below it, 0 to 1. Defaults to 0.
func MinConfidence(least float64) Option {
	return func(p *Provider) error {
		if !(least >= 0 && least <= 1) {
			return fmt.Errorf("min confidence must be between 0 and 1, not %v", least)
		}
		p.minConfidence = least
		return nil
	}
}

// New returns a provider. One serves a process: its weights, up to 0.1 s and 25 MB,
// are unpacked by the first text.
func New(opts ...Option) (*Provider, error) {
	fingerprint, err := tagger.Fingerprint(weights)
	if err != nil {
		return nil, fmt.Errorf("offline provider: %w", err)
	}
	model := sync.OnceValues(func() (*tagger.Model, error) {
		model, _, err := tagger.Decode(weights)
		return model, err
	})
	p := &Provider{model: model, name: "offline/perceptron-" + rulesVersion + "-" + fingerprint}
	for _, opt := range opts {
		if err := opt(p); err != nil {
			return nil, fmt.Errorf("offline provider: %w", err)
		}
	}
	return p, nil
}

// Model is "offline/perceptron-<rules>-<weights>": equal names give equal answers.
func (p *Provider) Model() string { return p.name }

// Extract answers with the names it finds and what the text says between them.
// It charges nothing, so the usage is zero, and never fails but by the context.
func (p *Provider) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	found, err := p.read(ctx, req.Text)
	if err != nil {
		return extraction.Completion{}, err
	}
	content, err := found.answer()
	if err != nil {
		return extraction.Completion{}, err
	}
	return extraction.Completion{Content: content, FinishReason: "stop", OutputMode: outputMode}, nil
}

// read runs all steps over a text.
func (p *Provider) read(ctx context.Context, text string) (*findings, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f := &findings{text: text, sentences: prose.Split(text)}
	if !isEnglish(text, f.sentences) {
		return f, nil
	}
	model, err := p.model()
	if err != nil {
		return nil, fmt.Errorf("offline provider: %w", err)
	}
	tagged, err := model.Tag(ctx, text, f.sentences)
	if err != nil {
		return nil, err
	}
	f.collect(tagged)
	f.keep(model, p.minConfidence)
	if !p.everySurface {
		f.mergeShortNames()
	}
	for i := range f.sentences {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f.relate(i)
	}
	return f, nil
}
