package scoring

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

// Count is what a figure is made of.
type Count struct {
	Right int // answers that are right
	Given int // answers
	Found int // things in gold that were found
	Gold  int // things in gold
}

// Precision is the share of answers that are right, 0 without answers.
func (c Count) Precision() float64 { return share(c.Right, c.Given) }

// Recall is the share of gold that was found, 0 without gold.
func (c Count) Recall() float64 { return share(c.Found, c.Gold) }

// F1 is the harmonic mean of precision and recall.
func (c Count) F1() float64 {
	p, r := c.Precision(), c.Recall()
	if p+r == 0 {
		return 0
	}
	return 2 * p * r / (p + r)
}

func share(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

func (c *Count) add(right, given, found, gold int) {
	c.Right, c.Given, c.Found, c.Gold = c.Right+right, c.Given+given, c.Found+found, c.Gold+gold
}

// Report is the outcome over all documents.
type Report struct {
	Model     string
	Documents int
	Failed    map[string]int // documents without an answer, by the kind of failure
	Elapsed   time.Duration

	Names, NamesTyped       Count
	Entities, EntitiesTyped Count
	Relations               Count
	ByType                  map[string]Count // names, typed

	Answers  int // entities and relationships in all answers
	Grounded int // of them, with a quote that stands in the text
	Counters extraction.Counters
}

// Options choose what is scored.
type Options struct {
	Types []string         // only these types, in gold and in answers; all that gold marks if empty
	Now   func() time.Time // the clock of Elapsed; time.Now if nil
}

// Run asks the provider about every document, one after the other, through the
// same pipeline as the worker. A document that fails counts as one with an
// empty answer. The only error is the context's, or of a nil provider.
func Run(ctx context.Context, p extraction.Provider, docs []gold.Document, opt Options) (Report, error) {
	pipeline, err := extraction.NewPipeline(p)
	if err != nil {
		return Report{}, err
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if len(opt.Types) == 0 {
		opt.Types = typesIn(docs)
	}
	r := Report{Model: p.Model(), Failed: map[string]int{}, ByType: map[string]Count{}}
	for _, d := range docs {
		start := opt.Now()
		got, err := pipeline.Extract(ctx, "eval", extraction.Chunk{Text: d.Text})
		r.Elapsed += opt.Now().Sub(start)
		r.Documents++
		if ctx.Err() != nil {
			return r, ctx.Err()
		}
		if err != nil {
			r.Failed[failure(err)]++
		}
		r.judge(d, got, opt.Types)
	}
	return r, nil
}

func failure(err error) string {
	var known *extraction.ProviderError
	if errors.As(err, &known) {
		return string(known.Kind)
	}
	return fmt.Sprintf("%T", err)
}

func typesIn(docs []gold.Document) []string {
	var out []string
	for _, d := range docs {
		for _, e := range d.Entities {
			if !slices.Contains(out, e.Type) {
				out = append(out, e.Type)
			}
		}
	}
	slices.Sort(out)
	return out
}

type typedName struct{ name, kind string }

// judge adds one document to the report.
func (r *Report) judge(d gold.Document, got extraction.Extraction, types []string) {
	r.count(got)
	wantNames, wantTyped := map[string]bool{}, map[typedName]bool{}
	owners := map[string][]int{} // name to the gold entities it is a spelling of
	for i, e := range d.Entities {
		for _, n := range e.Names() {
			owners[n] = append(owners[n], i)
			if slices.Contains(types, e.Type) {
				wantNames[n], wantTyped[typedName{n, e.Type}] = true, true
			}
		}
	}
	gotNames, gotTyped := map[string]bool{}, map[typedName]bool{}
	nameOf := map[string]string{}
	for _, e := range got.Entities {
		nameOf[e.ID] = e.Name
		if slices.Contains(types, e.Type) {
			gotNames[e.Name], gotTyped[typedName{e.Name, e.Type}] = true, true
		}
	}
	hits := common(gotNames, wantNames)
	r.Names.add(hits, len(gotNames), hits, len(wantNames))
	hits = common(gotTyped, wantTyped)
	r.NamesTyped.add(hits, len(gotTyped), hits, len(wantTyped))
	r.byType(gotTyped, wantTyped)

	found, foundTyped := map[int]bool{}, map[int]bool{}
	right, rightTyped := 0, 0
	for n := range gotTyped {
		ok, okTyped := false, false
		for _, i := range owners[n.name] {
			if slices.Contains(types, d.Entities[i].Type) {
				found[i], ok = true, true
				if d.Entities[i].Type == n.kind {
					foundTyped[i], okTyped = true, true
				}
			}
		}
		right, rightTyped = right+one(ok), rightTyped+one(okTyped)
	}
	want := 0
	for _, e := range d.Entities {
		want += one(slices.Contains(types, e.Type))
	}
	r.Entities.add(right, len(gotTyped), len(found), want)
	r.EntitiesTyped.add(rightTyped, len(gotTyped), len(foundTyped), want)
	r.relations(d, got, owners, nameOf)
}

func (r *Report) byType(got, want map[typedName]bool) {
	for n := range want {
		c := r.ByType[n.kind]
		c.add(0, 0, one(got[n]), 1)
		r.ByType[n.kind] = c
	}
	for n := range got {
		c := r.ByType[n.kind]
		c.add(one(want[n]), 1, 0, 0)
		r.ByType[n.kind] = c
	}
}

func (r *Report) relations(d gold.Document, got extraction.Extraction, owners map[string][]int, nameOf map[string]string) {
	type pair [2]int
	want, found := map[pair]bool{}, map[pair]bool{}
	order := func(a, b int) pair { return pair{min(a, b), max(a, b)} }
	for _, rel := range d.Relationships {
		for _, a := range owners[rel.Source] {
			for _, b := range owners[rel.Target] {
				want[order(a, b)] = true
			}
		}
	}
	if len(want) == 0 {
		return
	}
	asked, right := map[[2]string]bool{}, 0
	for _, rel := range got.Relationships {
		names := [2]string{nameOf[rel.SourceID], nameOf[rel.TargetID]}
		if names[0] > names[1] {
			names[0], names[1] = names[1], names[0]
		}
		if asked[names] {
			continue
		}
		asked[names] = true
		ok := false
		for _, a := range owners[names[0]] {
			for _, b := range owners[names[1]] {
				if p := order(a, b); want[p] {
					found[p], ok = true, true
				}
			}
		}
		right += one(ok)
	}
	r.Relations.add(right, len(asked), len(found), len(want))
}

// count adds up what is known without gold.
func (r *Report) count(got extraction.Extraction) {
	r.Answers += len(got.Entities) + len(got.Relationships)
	for _, e := range got.Entities {
		r.Grounded += one(e.Evidence != nil)
	}
	for _, rel := range got.Relationships {
		r.Grounded += one(rel.Evidence != nil)
	}
	c := &r.Counters
	c.Dropped += got.Counters.Dropped
	c.Unresolved += got.Counters.Unresolved
	c.SelfLoops += got.Counters.SelfLoops
	c.Ungrounded += got.Counters.Ungrounded
	c.Clipped += got.Counters.Clipped
}

func common[K comparable](a, b map[K]bool) int {
	n := 0
	for k := range a {
		n += one(b[k])
	}
	return n
}

func one(ok bool) int {
	if ok {
		return 1
	}
	return 0
}
