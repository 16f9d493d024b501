package publish

import (
	"context"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Observer hears of everything that a [Publisher] sends, for traces. It decides
// nothing. It is called by the goroutine that called Send.
type Observer interface {
	// Document is told that the chunks of a document come next. They are sent under
	// the context that it returns; handed is called when the last one is on its way, or
	// with the error that kept it from being sent.
	Document(ctx context.Context, d PlannedDocument) (inner context.Context, handed func(error))

	// Chunk is told of a chunk that is about to be sent, and may add to its header.
	// stored is called when the stream has it, or with the error; duplicate says that it
	// was waiting there before.
	Chunk(ctx context.Context, c extraction.Chunk, bytes int, header map[string][]string) (stored func(duplicate bool, err error))
}

// Observe has o hear of what is sent from now on. nil is nobody.
func (p *Publisher) Observe(o Observer) {
	if o == nil {
		o = unobserved{}
	}
	p.observer = o
}

type unobserved struct{}

func (unobserved) Document(ctx context.Context, _ PlannedDocument) (context.Context, func(error)) {
	return ctx, documentHanded
}

func (unobserved) Chunk(context.Context, extraction.Chunk, int, map[string][]string) func(bool, error) {
	return chunkStored
}

func documentHanded(error)    {}
func chunkStored(bool, error) {}
