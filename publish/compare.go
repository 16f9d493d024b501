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
	// SplitDifferently has the documents with another number of chunks in each run. Their
	// chunks are not the same, and are not compared.
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
// chunk of the same index. A document that has more chunks in one of the runs is left
// out and named. If one was written in another way, or split elsewhere into as many, its
// chunks are not the same, which cannot be seen here. Both graphs are held in memory.
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

// splitDifferently are the documents, in order, whose number of chunks is not the same
// in both.
func splitDifferently(before, after []extraction.Part) []string {
	totals := map[string]int{}
	for _, p := range before {
		totals[placeOf(p).document] = p.Total
	}
	different := []string{}
	for _, p := range after {
		document := placeOf(p).document
		if total, both := totals[document]; both && total != p.Total {
			different = append(different, document)
		}
	}
	slices.Sort(different)
	return slices.Compact(different)
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
