package publish

import (
	"context"
	"slices"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Comparison is what two runs made of the same chunks.
type Comparison struct {
	From RunSummary `json:"from"`
	To   RunSummary `json:"to"`
	// Documents and Chunks have a result in both runs, and only these are compared:
	// what a run has not done, or has dead-lettered, has not disappeared.
	Documents int `json:"documents"`
	Chunks    int `json:"chunks"`
	// SplitDifferently has the documents with another number of chunks in each run, or with
	// one that is another part of the document. Their chunks are not the same, and are not
	// compared.
	SplitDifferently []string `json:"split_differently"`
	extraction.Difference

	// Before and After are the graphs that were compared.
	Before, After extraction.Graph `json:"-"`
}

// RunSummary is one of the runs.
type RunSummary struct {
	Run     string   `json:"run"` // empty for what was published without one
	Models  []string `json:"models"`
	Prompts []string `json:"prompts"`
	// ChunksOnlyHere have no result in the other run.
	ChunksOnlyHere int `json:"chunks_only_here"`
}

// Compare reads documents (all for none) in two runs and compares them, chunk by
// chunk of the same index. A document that was split differently is left out and named.
// That is seen by the number of its chunks and by their places, as far as who published
// them gave any; that a text of the same length was written in another way cannot be
// seen here. Both graphs are held in memory.
func (r *Reader) Compare(ctx context.Context, from, to string, documents ...string) (Comparison, error) {
	before, err := r.RunParts(ctx, from, documents...)
	if err != nil {
		return Comparison{}, err
	}
	after, err := r.RunParts(ctx, to, documents...)
	if err != nil {
		return Comparison{}, err
	}
	c := Comparison{From: summary(from, before), To: summary(to, after), SplitDifferently: splitDifferently(before, after)}
	before, after = c.comparable(before), c.comparable(after)
	before, c.From.ChunksOnlyHere = inBoth(before, after)
	after, c.To.ChunksOnlyHere = inBoth(after, before)
	c.Before, c.After = extraction.Merge(before...), extraction.Merge(after...)
	c.Documents, c.Chunks = len(c.Before.Documents), len(before)
	c.Difference = extraction.Compare(c.Before, c.After)
	return c, nil
}

func placeOf(p extraction.Part) chunkKey {
	document, _ := wire.SplitRun(p.DocumentID)
	return chunkKey{document, p.Index}
}

// splitDifferently are the documents, in order, whose chunks are not the same in both.
func splitDifferently(before, after []extraction.Part) []string {
	totals, chunks := map[string]int{}, map[chunkKey]extraction.Part{}
	for _, p := range before {
		totals[placeOf(p).document] = p.Total
		chunks[placeOf(p)] = p
	}
	different := []string{}
	for _, p := range after {
		at := placeOf(p)
		total, both := totals[at.document]
		if earlier, same := chunks[at]; both && total != p.Total || same && stretchOf(earlier).differs(stretchOf(p)) {
			different = append(different, at.document)
		}
	}
	slices.Sort(different)
	return slices.Compact(different)
}

// stretch is where a chunk stands, in the document's own bytes and in the text that was
// extracted from it, as far as it is known.
type stretch struct {
	start, end         int
	textStart, textEnd string
}

func stretchOf(p extraction.Part) stretch {
	return stretch{p.ByteStart, p.ByteEnd, p.Metadata[extraction.TextStart], p.Metadata[extraction.TextEnd]}
}

// differs reports whether two chunks cannot be the same part of a document.
func (s stretch) differs(t stretch) bool {
	own := s.end > 0 && t.end > 0 && (s.start != t.start || s.end != t.end)
	text := s.textEnd != "" && t.textEnd != "" && (s.textStart != t.textStart || s.textEnd != t.textEnd)
	return own || text
}

// comparable are the parts of documents that are not split differently.
func (c *Comparison) comparable(parts []extraction.Part) []extraction.Part {
	return slices.DeleteFunc(slices.Clone(parts), func(p extraction.Part) bool {
		_, different := slices.BinarySearch(c.SplitDifferently, placeOf(p).document)
		return different
	})
}

// inBoth returns those of parts whose chunk is in other too, and how many are not.
func inBoth(parts, other []extraction.Part) (both []extraction.Part, missing int) {
	there := map[chunkKey]bool{}
	for _, p := range other {
		there[placeOf(p)] = true
	}
	for _, p := range parts {
		if there[placeOf(p)] {
			both = append(both, p)
		}
	}
	return both, len(parts) - len(both)
}

func summary(run string, parts []extraction.Part) RunSummary {
	s := RunSummary{Run: run, Models: []string{}, Prompts: []string{}}
	for _, p := range parts {
		s.Models = append(s.Models, p.Extraction.Model)
		s.Prompts = append(s.Prompts, p.Extraction.PromptVersion)
	}
	for _, list := range []*[]string{&s.Models, &s.Prompts} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return s
}
