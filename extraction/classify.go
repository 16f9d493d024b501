package extraction

import (
	"context"
	"errors"
)

// SampleRunes is how much of a document's beginning a classifier is shown.
const SampleRunes = 3000

// Classifier tells which domain a document is of. Implementations must be safe
// for concurrent use. One that asks a model must go through the same hardened
// provider as the extractions: its calls count against the tenant's limit too.
type Classifier interface {
	Classify(ctx context.Context, s Sample) (Classification, error)
}

// Sample is the beginning of a document, or of the first piece of it that came.
type Sample struct {
	Tenant string
	Title  string
	Text   string // at most [SampleRunes]
}

// Classification is a classifier's answer.
type Classification struct {
	Domain     string  // the domain's ID; empty if none fits
	Confidence float64 // 0 to 1
	Usage      Usage   // what asking has cost; read after an error too
}

// within asks a classifier and leaves it alone when ctx is over: the deadline
// holds for one that does not look at its context, too. A panic is an error.
func within(ctx context.Context, classifier Classifier, sample Sample) (Classification, error) {
	type answer struct {
		got Classification
		err error
	}
	if err := ctx.Err(); err != nil {
		return Classification{}, err
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			if cause := recover(); cause != nil {
				a.err = errors.New("it has panicked")
			}
			answered <- a
		}()
		a.got, a.err = classifier.Classify(ctx, sample)
	}()
	select {
	case a := <-answered:
		return a.got, a.err
	case <-ctx.Done():
		return Classification{}, ctx.Err()
	}
}
