package extraction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Defaults of a [Chooser].
const (
	DefaultClassifyTimeout = 15 * time.Second
	DefaultSureness        = 0.6
)

// ChooserConfig says how domains are chosen.
type ChooserConfig struct {
	// Domains are what there is to choose from. Required.
	Domains *Domains
	// Classifiers are asked in order until one is sure enough. Without any, a
	// document whose publisher names no known domain is read with the fallback.
	Classifiers []Classifier
	// Timeout is for all classifiers together. It is enforced also on one that does
	// not look at its context. Defaults to [DefaultClassifyTimeout].
	Timeout time.Duration
	// Sureness is the least confidence that is followed, 0 to 1. Defaults to
	// [DefaultSureness].
	Sureness float64
}

// Chooser decides which domain a chunk is read with. It is safe for concurrent
// use.
//
// The first chunk of a document that comes along decides for those that follow,
// so that a document is read as one and classified once: the last 1,024 documents
// are remembered. What a passing failure made of a document is not.
type Chooser struct {
	config ChooserConfig
	known  choices
}

// NewChooser checks the configuration; what is wrong is an [*ArgumentError].
func NewChooser(config ChooserConfig) (*Chooser, error) {
	switch {
	case config.Domains == nil:
		return nil, &ArgumentError{Argument: "Domains", Reason: "must not be nil"}
	case config.Timeout < 0:
		return nil, &ArgumentError{Argument: "Timeout", Reason: "must not be negative"}
	case !(config.Sureness >= 0 && config.Sureness <= 1):
		return nil, &ArgumentError{Argument: "Sureness", Reason: "must be from 0 to 1"}
	case slices.Contains(config.Classifiers, nil):
		return nil, &ArgumentError{Argument: "Classifiers", Reason: "must not hold nil"}
	}
	config.Classifiers = slices.Clone(config.Classifiers)
	config.Timeout = cmp.Or(config.Timeout, DefaultClassifyTimeout)
	config.Sureness = cmp.Or(config.Sureness, DefaultSureness)
	return &Chooser{config: config}, nil
}

// Choose takes the publisher's domain if it is known, else what the classifiers
// are sure of, else the fallback, with the reason (R36). Where there is only one domain
// nobody is asked: it is the fallback. It also says what asking has cost. Its only
// error is that of ctx.
func (c *Chooser) Choose(ctx context.Context, tenant string, chunk Chunk) (DomainChoice, Usage, error) {
	if domain, ok := c.config.Domains.Find(chunk.Domain); ok {
		return DomainChoice{ID: domain.ID}, Usage{}, nil
	}
	var spent Usage
	find := func() (choice DomainChoice, lasting bool, err error) {
		choice, spent, lasting, err = c.classify(ctx, tenant, chunk)
		return choice, lasting, err
	}
	choice, err := c.known.get(ctx, documentKey(tenant, chunk), find)
	if err == nil && chunk.Domain != "" {
		choice.FallbackReason = strings.TrimSuffix(fmt.Sprintf("the publisher's domain %.80q is not known; %s", chunk.Domain, choice.FallbackReason), "; ")
	}
	return choice, spent, err
}

// classify asks one classifier after the other until one is sure. lasting says
// that asking again would bring the same.
func (c *Chooser) classify(ctx context.Context, tenant string, chunk Chunk) (choice DomainChoice, spent Usage, lasting bool, err error) {
	if c.config.Domains.only {
		return DomainChoice{ID: c.config.Domains.Fallback().ID, FallbackReason: "it is the only domain"}, Usage{}, true, nil
	}
	sample := Sample{Tenant: tenant, Title: beginning(chunk.Title, MaxNameRunes), Text: beginning(chunk.Text, SampleRunes)}
	limited, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()
	reason := "no classifier is on"
	lasting = true
	for _, classifier := range c.config.Classifiers {
		got, err := within(limited, classifier, sample)
		spent = spent.Plus(got.Usage)
		if ctx.Err() != nil {
			return DomainChoice{}, spent, false, ctx.Err()
		}
		if err != nil {
			lasting = lasting && settled(err)
			if limited.Err() != nil {
				reason = fmt.Sprintf("the classifier did not answer within %v", c.config.Timeout)
				break
			}
			reason = beginning(oneLine("the classifier failed: "+err.Error()), longestReason)
			continue
		}
		if reason = c.doubt(got); reason == "" {
			domain, _ := c.config.Domains.Find(got.Domain)
			return DomainChoice{ID: domain.ID, Confidence: &got.Confidence}, spent, true, nil
		}
	}
	return DomainChoice{ID: c.config.Domains.Fallback().ID, FallbackReason: reason}, spent, lasting, nil
}

// longestReason bounds a fallback's reason, in runes.
const longestReason = 200

// doubt says why a classification is not followed; empty if it is.
func (c *Chooser) doubt(got Classification) string {
	switch {
	case !(got.Confidence >= 0 && got.Confidence <= 1):
		return "the classifier gave no confidence from 0 to 1"
	case got.Domain == "":
		return "the classifier found no domain that fits"
	case !c.config.Domains.has(got.Domain):
		return fmt.Sprintf("the classifier answered %.80q, which is no known domain", got.Domain)
	case got.Confidence < c.config.Sureness:
		return fmt.Sprintf("the classifier is not sure: %s at %.2f, below %.2f", got.Domain, got.Confidence, c.config.Sureness)
	}
	return ""
}

// settled reports errors that asking the same again would bring again.
func settled(err error) bool {
	var failed *ProviderError
	if !errors.As(err, &failed) {
		return false
	}
	switch failed.Kind {
	case KindMalformed, KindEmpty, KindTruncated, KindRefused, KindContextTooLong, KindInvalidRequest:
		return true
	}
	return false
}

// beginning is the first runes of a text.
func beginning(s string, runes int) string {
	if len(s) <= runes {
		return s
	}
	return s[:skipRunes(s, 0, runes)]
}
