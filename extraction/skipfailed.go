package extraction

import (
	"context"
	"errors"
	"fmt"
)

// Part is what one chunk yielded, with the chunk's identity.
type Part struct {
	DocumentID string
	ChunkID    string
	Index      int
	Total      int    // chunks of the document, 0 if it is not known
	Title      string // of the document, if it is known
	ByteStart  int    // of the chunk, in the document's own bytes
	ByteEnd    int    // 0 if it is not known
	Metadata   map[string]string
	Extraction Extraction
}

// ChunkFailure is a chunk that yielded nothing, and why.
type ChunkFailure struct {
	Chunk Chunk
	Err   error
}

func (f ChunkFailure) Error() string {
	return fmt.Sprintf("chunk %d of %d of document %q: %v", f.Chunk.Index, f.Chunk.Total, f.Chunk.DocumentID, f.Err)
}

func (f ChunkFailure) Unwrap() error { return f.Err }

// DocumentExtraction is what a document yielded. Parts and Failures together
// are the chunks that were tried, each in order; Skipped are those that were
// not, because the model server would answer nobody or the context ended.
type DocumentExtraction struct {
	DocumentID string
	Parts      []Part
	Failures   []ChunkFailure
	Skipped    []Chunk
}

// Err joins the failures, nil if there is none.
func (d DocumentExtraction) Err() error {
	var errs []error
	for _, f := range d.Failures {
		errs = append(errs, f)
	}
	return errors.Join(errs...)
}

// ExtractDocument splits a document and extracts its chunks one after another.
// A chunk that fails does not lose the others: it is reported in Failures
// (R35). The error says why the work ended early: the document cannot be split,
// the context ended, or the server refuses the credentials or the account
// ([ErrAuth], [ErrQuota]), which no other chunk would change. What was found
// until then is returned with it.
func (p *Pipeline) ExtractDocument(ctx context.Context, tenant string, s *Splitter, doc Document) (DocumentExtraction, error) {
	if s == nil {
		return DocumentExtraction{}, &ArgumentError{Argument: "splitter", Reason: "must not be nil"}
	}
	chunks, err := s.Split(doc)
	if err != nil {
		return DocumentExtraction{}, err
	}
	out := DocumentExtraction{DocumentID: chunks[0].DocumentID}
	for i, c := range chunks {
		if err := ctx.Err(); err != nil {
			out.Skipped = chunks[i:]
			return out, err
		}
		x, err := p.Extract(ctx, tenant, c)
		switch {
		case err == nil:
			out.Parts = append(out.Parts, Part{DocumentID: c.DocumentID, ChunkID: c.ChunkID, Index: c.Index, Title: c.Title, ByteStart: c.ByteStart, ByteEnd: c.ByteEnd, Metadata: c.Metadata, Extraction: x})
		case ctx.Err() != nil:
			out.Skipped = chunks[i:]
			return out, ctx.Err()
		case errors.Is(err, ErrAuth) || errors.Is(err, ErrQuota):
			out.Failures = append(out.Failures, ChunkFailure{Chunk: c, Err: err})
			out.Skipped = chunks[i+1:]
			return out, err
		default:
			out.Failures = append(out.Failures, ChunkFailure{Chunk: c, Err: err})
		}
	}
	return out, nil
}
