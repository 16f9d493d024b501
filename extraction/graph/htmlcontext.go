package graph

import (
	"github.com/weirkeeper/weirkeeper/extraction"
)

// chunkName tells chunks apart.
type chunkName struct{ document, chunk string }

// excerptsOf lists the places of a graph's excerpts by chunk.
func excerptsOf(g extraction.Graph) pageExcerpts {
	out := pageExcerpts{all: g.Excerpts, byChunk: map[chunkName][]int{}}
	for i, e := range g.Excerpts {
		name := chunkName{e.DocumentID, e.ChunkID}
		out.byChunk[name] = append(out.byChunk[name], i)
	}
	return out
}

type pageExcerpts struct {
	all     []extraction.GraphExcerpt
	byChunk map[chunkName][]int
}

// find returns the excerpt that holds the evidence, and where in its text. Other
// clients write results too: a passage that does not say what the evidence
// quotes is not its context.
func (x pageExcerpts) find(s extraction.Source) (at, start, end int, ok bool) {
	for _, at := range x.byChunk[chunkName{s.DocumentID, s.ChunkID}] {
		e := x.all[at]
		start, end := s.Evidence.ByteStart-e.ByteStart, s.Evidence.ByteEnd-e.ByteStart
		if 0 <= start && start <= end && end <= len(e.Text) && e.Text[start:end] == s.Evidence.Quote {
			return at, start, end, true
		}
	}
	return 0, 0, 0, false
}

// pageBuilder gives documents, models and the excerpts that are used their
// places in the page.
type pageBuilder struct {
	documents map[string]int
	models    map[string]int
	excerpts  pageExcerpts
	used      map[int]int
}

func placeIn[K comparable](places map[K]int, key K) int {
	i, ok := places[key]
	if !ok {
		i = len(places)
		places[key] = i
	}
	return i
}

func (b *pageBuilder) document(id string) int { return placeIn(b.documents, id) }

func (b *pageBuilder) fact(typ, description string, confidence *float64, sources []extraction.Source) pageFact {
	f := pageFact{Type: typ, Description: description, Confidence: finite(confidence), Sources: []pageSource{}}
	for _, s := range sources {
		f.Sources = append(f.Sources, b.source(s))
	}
	return f
}

func (b *pageBuilder) source(s extraction.Source) pageSource {
	p := pageSource{Document: b.document(s.DocumentID), Chunk: s.Index, Model: placeIn(b.models, s.Model)}
	if s.Evidence == nil {
		return p
	}
	at, start, end, ok := b.excerpts.find(s)
	if !ok {
		p.Quote = &s.Evidence.Quote
		return p
	}
	text := b.excerpts.all[at].Text
	excerpt := placeIn(b.used, at)
	p.Excerpt, p.Start, p.End = &excerpt, utf16Length(text[:start]), utf16Length(text[:end])
	return p
}

// utf16Length is how long a script finds a text.
func utf16Length(text string) int {
	n := 0
	for _, r := range text {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}
