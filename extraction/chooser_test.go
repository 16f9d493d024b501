package extraction_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// classify is a classifier that a test writes as a function.
type classify func(context.Context, extraction.Sample) (extraction.Classification, error)

func (c classify) Classify(ctx context.Context, s extraction.Sample) (extraction.Classification, error) {
	return c(ctx, s)
}

// always gives the same answer.
func always(id string, confidence float64) classify {
	return func(context.Context, extraction.Sample) (extraction.Classification, error) {
		return extraction.Classification{Domain: id, Confidence: confidence}, nil
	}
}

func fails(err error) classify {
	return func(context.Context, extraction.Sample) (extraction.Classification, error) {
		return extraction.Classification{}, err
	}
}

// counted counts what a classifier is asked.
type counted struct {
	mu    sync.Mutex
	asked []extraction.Sample
	next  extraction.Classifier
}

func (c *counted) Classify(ctx context.Context, s extraction.Sample) (extraction.Classification, error) {
	c.mu.Lock()
	c.asked = append(c.asked, s)
	c.mu.Unlock()
	return c.next.Classify(ctx, s)
}

func twoDomains(t testing.TB) *extraction.Domains {
	t.Helper()
	d, err := extraction.NewDomains("", extraction.Domain{ID: "news", Description: "Reports."}, extraction.Domain{ID: "fiction", Description: "Stories."})
	require.NoError(t, err)
	return d
}

func chooser(t testing.TB, classifiers ...extraction.Classifier) *extraction.Chooser {
	t.Helper()
	c, err := extraction.NewChooser(extraction.ChooserConfig{Domains: twoDomains(t), Classifiers: classifiers, Timeout: time.Second})
	require.NoError(t, err)
	return c
}

func choose(t testing.TB, c *extraction.Chooser, chunk extraction.Chunk) extraction.DomainChoice {
	t.Helper()
	choice, _, err := c.Choose(t.Context(), "acme", chunk)
	require.NoError(t, err)
	return choice
}

// R36: whatever goes wrong with a classifier, the document is read with the
// fallback domain, and the result says why.
func TestR36EveryDoubtFallsBackWithItsReason(t *testing.T) {
	for reason, classifier := range map[string]classify{
		"failed: model call failed: unavailable (status 503)": fails(&extraction.ProviderError{Kind: extraction.KindUnavailable, Status: 503}),
		"failed: model call failed: malformed":                fails(extraction.ErrMalformed),
		"failed: rate limit of tenant acme is used up":        fails(errors.New("rate limit of tenant\nacme is used up")),
		"not sure: news at 0.59, below 0.60":                  always("news", 0.59),
		`answered "sports", which is no known domain`:         always("sports", 0.99),
		"found no domain that fits":                           always("", 0.9),
		"no confidence from 0 to 1":                           always("news", math.NaN()),
		"it has panicked":                                     func(context.Context, extraction.Sample) (extraction.Classification, error) { panic("boom") },
	} {
		choice := choose(t, chooser(t, classifier), extraction.Chunk{Text: "x"})
		require.Equal(t, extraction.DefaultDomain, choice.ID, reason)
		require.Contains(t, choice.FallbackReason, reason)
		require.Nil(t, choice.Confidence)
		require.NotContains(t, choice.FallbackReason, "\n")
	}
	long := choose(t, chooser(t, fails(errors.New(strings.Repeat("漢", 9000)))), extraction.Chunk{Text: "x"})
	require.LessOrEqual(t, len([]rune(long.FallbackReason)), 200)
	require.Equal(t, extraction.DomainChoice{ID: "general", FallbackReason: "no classifier is on"}, choose(t, chooser(t), extraction.Chunk{Text: "x"}))
}

// R36: the classifier's own deadline is enforced, also on one that does not look
// at its context. The end of the caller's is no fallback.
func TestR36TheClassifiersOwnDeadline(t *testing.T) {
	for name, stuck := range map[string]func(context.Context, <-chan struct{}){
		"obeys": func(ctx context.Context, _ <-chan struct{}) { <-ctx.Done() },
		"deaf":  func(_ context.Context, release <-chan struct{}) { <-release },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				defer close(release)
				c := chooser(t, classify(func(ctx context.Context, _ extraction.Sample) (extraction.Classification, error) {
					stuck(ctx, release)
					return extraction.Classification{}, ctx.Err()
				}), always("news", 1))
				began := time.Now()
				choice := choose(t, c, extraction.Chunk{Text: "x"})
				require.Equal(t, time.Second, time.Since(began))
				require.Equal(t, extraction.DomainChoice{ID: "general", FallbackReason: "the classifier did not answer within 1s"}, choice)

				ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
				defer cancel()
				_, _, err := c.Choose(ctx, "acme", extraction.Chunk{Text: "x"})
				require.ErrorIs(t, err, context.DeadlineExceeded)
			})
		})
	}
}

// R36: a known domain of the publisher is not questioned; an unknown one is
// reported, whoever chooses instead.
func TestR36ThePublishersDomainComesFirst(t *testing.T) {
	asked := &counted{next: always("fiction", 0.8)}
	c := chooser(t, asked)
	require.Equal(t, extraction.DomainChoice{ID: "news"}, choose(t, c, extraction.Chunk{Text: "x", Domain: "news"}))
	require.Equal(t, extraction.DomainChoice{ID: "news"}, choose(t, c, extraction.Chunk{Text: "x", Domain: " News "}))
	require.Empty(t, asked.asked)

	choice := choose(t, c, extraction.Chunk{Text: "x"})
	require.Equal(t, "fiction", choice.ID)
	require.Equal(t, 0.8, *choice.Confidence)
	require.Empty(t, choice.FallbackReason)

	choice = choose(t, c, extraction.Chunk{Text: "x", Domain: "sports"})
	require.Equal(t, "fiction", choice.ID)
	require.Equal(t, `the publisher's domain "sports" is not known`, choice.FallbackReason)
	choice = choose(t, chooser(t), extraction.Chunk{Text: "x", Domain: "sports"})
	require.Equal(t, "general", choice.ID)
	require.Equal(t, `the publisher's domain "sports" is not known; no classifier is on`, choice.FallbackReason)
}

// R36: where there is one domain to choose, nobody is asked and no document falls out of it, so
// that what is strict holds for all. A fallback of its own, or the publisher, may say otherwise.
func TestR36TheOnlyDomainIsNotAQuestion(t *testing.T) {
	tiny := extraction.Domain{ID: "tiny", Keywords: []string{"engine"}, Entities: []extraction.EntityType{{Type: "person"}}}
	of := func(fallback string, list ...extraction.Domain) (*extraction.Chooser, *counted) {
		d, err := extraction.NewDomains(fallback, list...)
		require.NoError(t, err)
		d = d.Strict()
		require.True(t, d.Fallback().Strict)
		asked := &counted{next: always("tiny", 0.1)}
		c, err := extraction.NewChooser(extraction.ChooserConfig{Domains: d, Classifiers: []extraction.Classifier{asked}})
		require.NoError(t, err)
		return c, asked
	}
	for _, fallback := range []string{"", "tiny"} {
		c, asked := of(fallback, tiny)
		require.Equal(t, extraction.DomainChoice{ID: "tiny", FallbackReason: "it is the only domain"}, choose(t, c, extraction.Chunk{Text: "x"}))
		require.Equal(t, extraction.DomainChoice{ID: "tiny", FallbackReason: `the publisher's domain "sea" is not known; it is the only domain`},
			choose(t, c, extraction.Chunk{Text: "x", Domain: "sea"}))
		require.Equal(t, extraction.DomainChoice{ID: "general"}, choose(t, c, extraction.Chunk{Text: "x", Domain: "general"}))
		require.Empty(t, asked.asked)
	}
	c, asked := of("general", tiny)
	require.Equal(t, "general", choose(t, c, extraction.Chunk{Text: "x"}).ID)
	require.Len(t, asked.asked, 1)
	c, asked = of("", tiny, extraction.Domain{ID: "sea"})
	require.Equal(t, "general", choose(t, c, extraction.Chunk{Text: "x"}).ID)
	require.Len(t, asked.asked, 1)
}

func TestClassifiersAreAskedUntilOneIsSure(t *testing.T) {
	second, third := &counted{next: always("news", 0.7)}, &counted{next: always("fiction", 1)}
	choice := choose(t, chooser(t, always("fiction", 0.5), fails(errors.New("broken")), second, third), extraction.Chunk{Text: "x"})
	require.Equal(t, "news", choice.ID)
	require.Len(t, second.asked, 1)
	require.Empty(t, third.asked)
}

func TestClassifiersSeeTheBeginning(t *testing.T) {
	asked := &counted{next: always("news", 1)}
	choose(t, chooser(t, asked), extraction.Chunk{Text: strings.Repeat("漢", 5000), Title: strings.Repeat("é", 5000)})
	require.Equal(t, []extraction.Sample{{Tenant: "acme", Title: strings.Repeat("é", 256), Text: strings.Repeat("漢", extraction.SampleRunes)}}, asked.asked)
}

// A document is classified once, and its chunks are read alike; another tenant's,
// or another version, is another document.
func TestADocumentIsClassifiedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := &counted{next: classify(func(context.Context, extraction.Sample) (extraction.Classification, error) {
			time.Sleep(100 * time.Millisecond)
			return extraction.Classification{Domain: "news", Confidence: 1}, nil
		})}
		c := chooser(t, asked)
		var together sync.WaitGroup
		for i := range 8 {
			together.Go(func() {
				choice := choose(t, c, extraction.Chunk{Text: fmt.Sprint("chunk ", i), DocumentID: "d", Index: i})
				require.Equal(t, "news", choice.ID)
			})
		}
		together.Wait()
		require.Len(t, asked.asked, 1)
		choose(t, c, extraction.Chunk{Text: "x", DocumentID: "d", DocumentSHA256: "other"})
		_, _, err := c.Choose(t.Context(), "other", extraction.Chunk{Text: "x", DocumentID: "d"})
		require.NoError(t, err)
		require.Len(t, asked.asked, 3)
		for range 2 {
			choose(t, c, extraction.Chunk{Text: "a chunk without a document"})
		}
		require.Len(t, asked.asked, 5)
	})
}

// What may pass is tried again with the next chunk; what would be answered the
// same again is not.
func TestOnlyPassingFailuresAreTriedAgain(t *testing.T) {
	for _, c := range []struct {
		classifier classify
		asked      int
	}{
		{fails(extraction.ErrUnavailable), 3},
		{fails(errors.New("refused by a limit")), 3},
		{fails(extraction.ErrMalformed), 1},
		{fails(extraction.ErrRefused), 1},
		{always("news", 0.1), 1},
		{always("", 0), 1},
	} {
		asked := &counted{next: c.classifier}
		chooser := chooser(t, asked)
		for i := range 3 {
			choose(t, chooser, extraction.Chunk{Text: "x", DocumentID: "d", Index: i})
		}
		require.Len(t, asked.asked, c.asked)
	}
}

// One who waits for another's answer gets a turn when that one has gone.
func TestACancelledChunkTakesNobodyWithIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := &counted{next: classify(func(ctx context.Context, _ extraction.Sample) (extraction.Classification, error) {
			select {
			case <-ctx.Done():
				return extraction.Classification{}, ctx.Err()
			case <-time.After(500 * time.Millisecond):
				return extraction.Classification{Domain: "news", Confidence: 1}, nil
			}
		})}
		c := chooser(t, asked)
		ctx, cancel := context.WithCancel(t.Context())
		var together sync.WaitGroup
		together.Go(func() {
			_, _, err := c.Choose(ctx, "acme", extraction.Chunk{Text: "first", DocumentID: "d"})
			require.ErrorIs(t, err, context.Canceled)
		})
		synctest.Wait()
		together.Go(func() {
			require.Equal(t, "news", choose(t, c, extraction.Chunk{Text: "second", DocumentID: "d"}).ID)
		})
		impatient, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		_, _, err := c.Choose(impatient, "acme", extraction.Chunk{Text: "third", DocumentID: "d"})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		cancel()
		together.Wait()
		require.Len(t, asked.asked, 2)
	})
}

func TestTheChooserForgetsTheOldestDocuments(t *testing.T) {
	asked := &counted{next: always("news", 1)}
	c := chooser(t, asked)
	for i := range 1025 {
		choose(t, c, extraction.Chunk{Text: "x", DocumentID: fmt.Sprint(i)})
	}
	choose(t, c, extraction.Chunk{Text: "x", DocumentID: "1024"})
	require.Len(t, asked.asked, 1025)
	choose(t, c, extraction.Chunk{Text: "x", DocumentID: "0"})
	require.Len(t, asked.asked, 1026)
}

func TestChooserArguments(t *testing.T) {
	d := twoDomains(t)
	for want, config := range map[string]extraction.ChooserConfig{
		"Domains":     {},
		"Timeout":     {Domains: d, Timeout: -1},
		"Sureness":    {Domains: d, Sureness: math.NaN()},
		"Classifiers": {Domains: d, Classifiers: []extraction.Classifier{nil}},
	} {
		_, err := extraction.NewChooser(config)
		var argument *extraction.ArgumentError
		require.ErrorAs(t, err, &argument)
		require.Equal(t, want, argument.Argument)
	}
	_, err := extraction.NewPipeline(says("", ""), extraction.WithChooser(nil))
	require.ErrorContains(t, err, "chooser")
}
