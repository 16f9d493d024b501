package publish

import (
	"cmp"
	"context"
	"slices"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Parts reads what the chunks of documents yielded, for none all documents of the
// tenant that were published without a run, in the order of document and index. Of a
// document that was published again only the newest version is read.
func (r *Reader) Parts(ctx context.Context, documents ...string) ([]extraction.Part, error) {
	return r.RunParts(ctx, "", documents...)
}

// RunParts is [Reader.Parts] of one run, see [wire.RunDocument].
func (r *Reader) RunParts(ctx context.Context, run string, documents ...string) ([]extraction.Part, error) {
	inRun := make([]string, 0, len(documents))
	for _, document := range documents {
		inRun = append(inRun, wire.RunDocument(document, run))
	}
	byID := map[string][]stored[wire.Result]{}
	for result, err := range r.results(ctx, inRun, 0) {
		if err != nil {
			return nil, err
		}
		id := result.value.DocumentID
		if _, of := wire.SplitRun(id); len(documents) == 0 && of != run {
			continue
		}
		byID[id] = append(byID[id], result)
	}
	var parts []extraction.Part
	for id, results := range byID {
		t := newTally()
		for _, result := range results {
			t.version(fateOf(result))
		}
		byIndex := map[int]extraction.Part{}
		for _, result := range results {
			if t.counts(result.value.Total) {
				byIndex[result.value.Index] = extraction.Part{
					DocumentID: id, ChunkID: result.value.ChunkID, Index: result.value.Index, Total: result.value.Total, Title: result.value.Title,
					ByteStart: result.value.ByteStart, ByteEnd: result.value.ByteEnd, Metadata: result.value.Metadata, Extraction: result.value.Extraction,
				}
			}
		}
		for _, part := range byIndex {
			parts = append(parts, part)
		}
	}
	slices.SortFunc(parts, func(a, b extraction.Part) int {
		return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Index, b.Index))
	})
	return parts, nil
}
