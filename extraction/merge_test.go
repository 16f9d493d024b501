package extraction_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// part grounds a draft as the chunk with an index of a document.
func part(document string, index int, text string, d extraction.Draft) extraction.Part {
	p := extraction.Part{DocumentID: document, ChunkID: extraction.ChunkID(document, index, text), Index: index}
	p.Extraction.Model = "test/" + document
	p.Extraction.Entities, p.Extraction.Relationships, p.Extraction.Counters = extraction.Ground("acme", text, d)
	return p
}

func related(d extraction.Draft, source, typ, target, quote string) extraction.Draft {
	d.Relationships = append(d.Relationships, extraction.DraftRelationship{Source: source, Target: target, Type: typ, Quote: quote})
	return d
}

// R37: across chunks and documents, by normalised name and type, with sources.
func TestMergeByNormalisedNameAndType(t *testing.T) {
	low, high := 0.3, 0.8
	a := drafted("ada lovelace", "person", "", "London", "city", "in London")
	a.Entities[0].Description, a.Entities[0].Confidence = "A mathematician.", &high
	b := drafted("Ada Lovelace", "Person", "", "Babbage", "person", "nowhere")
	b.Entities[0].Description, b.Entities[0].Confidence = "One.", &low
	c := drafted("Ada LOVELACE", "person", "", "Ada Lovelace", "program", "")
	d := drafted("Ada Lovelace", "person", "Ada Lovelace", "London", "city", "")
	g := extraction.Merge(
		part("two", 0, "Ada Lovelace lived in London.", related(d, "Ada Lovelace", "lived in", "London", "lived in London")),
		part("one", 1, "Ada Lovelace met him.", b),
		part("one", 0, "ada lovelace was in London.", related(a, "Ada Lovelace", "LivedIn", "london", "was in London")),
		part("one", 2, "Ada LOVELACE.", c),
	)
	require.Equal(t, []string{"one", "two"}, g.Documents)
	require.Equal(t, []string{"test/one", "test/two"}, g.Models)
	require.Equal(t, 4, g.Chunks)

	var list []string
	for _, e := range g.Entities {
		list = append(list, e.Type+"/"+e.Name)
	}
	require.Equal(t, []string{"city/London", "person/Ada Lovelace", "person/Babbage", "program/Ada Lovelace"}, list)
	ada := g.Entities[1]
	require.Equal(t, extraction.EntityID("acme", "Ada Lovelace", "person"), ada.ID)
	require.Equal(t, []string{"ada lovelace", "Ada LOVELACE"}, ada.Aliases)
	require.Equal(t, "A mathematician.", ada.Description)
	require.Equal(t, 0.8, *ada.Confidence)
	var sources []string
	for _, s := range ada.Sources {
		sources = append(sources, fmt.Sprint(s.DocumentID, s.Index, s.Evidence.Quote, s.Model))
	}
	require.Equal(t, []string{"one0ada lovelacetest/one", "one1Ada Lovelacetest/one", "one2Ada LOVELACEtest/one", "two0Ada Lovelacetest/two"}, sources)

	require.Len(t, g.Relationships, 1)
	require.Equal(t, "lived_in", g.Relationships[0].Type)
	require.Len(t, g.Relationships[0].Sources, 2)
	require.Equal(t, "was in London", g.Relationships[0].Sources[0].Evidence.Quote)
	require.Equal(t, 1, g.Counters.Ungrounded)
}

// R37: the same name with another type is two entities, and reported.
func TestMergeReportsConflicts(t *testing.T) {
	g := extraction.Merge(
		part("d", 0, "Mercury shines.", drafted("Mercury", "planet", "")),
		part("d", 1, "MERCURY is a metal.", drafted("MERCURY", "element", "")),
		part("d", 2, "Venus shines.", drafted("Venus", "planet", "")),
	)
	require.Len(t, g.Entities, 3)
	require.Equal(t, []extraction.Conflict{{
		Name: "MERCURY", Types: []string{"element", "planet"},
		EntityIDs: []string{extraction.EntityID("acme", "mercury", "element"), extraction.EntityID("acme", "mercury", "planet")},
	}}, g.Conflicts)
}

func TestMergeCountsAChunkOnce(t *testing.T) {
	p := part("d", 0, "Ada met Bob.", related(drafted("Ada", "person", "", "Bob", "person", ""), "Ada", "met", "Bob", "Ada met Bob"))
	require.Equal(t, extraction.Merge(p), extraction.Merge(p, p, p))
}

// A fact is found again in its document: by the place of its chunk there, and by
// what the chunk says of it.
func TestMergeKeepsPlaces(t *testing.T) {
	p := part("d", 3, "Ada met Bob.", related(drafted("Ada", "person", "", "Bob", "person", ""), "Ada", "met", "Bob", "Ada met Bob"))
	p.ByteStart, p.Metadata = 9000, map[string]string{"page": "7"}
	g := extraction.Merge(p)
	for _, source := range []extraction.Source{g.Entities[0].Sources[0], g.Relationships[0].Sources[0]} {
		require.Equal(t, 9000, source.ChunkStart)
		require.Equal(t, p.Metadata, source.Metadata)
	}
}

func TestMergeListsModelsOnce(t *testing.T) {
	parts := []extraction.Part{part("a", 0, "x", extraction.Draft{}), part("b", 0, "x", extraction.Draft{}), part("c", 0, "x", extraction.Draft{})}
	parts[0].Extraction.Model, parts[1].Extraction.Model, parts[2].Extraction.Model = "m/2", "m/1", "m/2"
	require.Equal(t, []string{"m/1", "m/2"}, extraction.Merge(parts...).Models)
}

// A reader sees which domain each document was read with, and why it was not another.
func TestMergeTellsTheDomainsOfEachDocument(t *testing.T) {
	sure, unsure := 0.9, extraction.DomainChoice{ID: "general", FallbackReason: "the classifier is not sure"}
	var parts []extraction.Part
	for i, choice := range []extraction.DomainChoice{{ID: "news", Confidence: &sure}, unsure, {ID: "news", Confidence: &sure}, {}} {
		p := part("b", i, "x", extraction.Draft{})
		p.Extraction.Domain = choice
		parts = append(parts, p)
	}
	other := part("a", 0, "x", extraction.Draft{})
	other.Extraction.Domain = extraction.DomainChoice{ID: "news"}
	g := extraction.Merge(append(parts, other)...)
	require.Equal(t, []extraction.GraphDomain{
		{DocumentID: "a", Chunks: 1, DomainChoice: extraction.DomainChoice{ID: "news"}},
		{DocumentID: "b", Chunks: 1, DomainChoice: unsure},
		{DocumentID: "b", Chunks: 2, DomainChoice: extraction.DomainChoice{ID: "news", Confidence: &sure}},
	}, g.Domains)
	out, err := json.Marshal(g.Domains[1])
	require.NoError(t, err)
	require.JSONEq(t, `{"document_id":"b","chunks":1,"id":"general","confidence":null,"fallback_reason":"the classifier is not sure"}`, string(out))
}

func TestMergeLeavesOutRelationshipsToNowhere(t *testing.T) {
	p := part("d", 0, "Ada met Bob.", related(drafted("Ada", "person", "", "Bob", "person", ""), "Ada", "met", "Bob", "Ada met Bob"))
	p.Extraction.Entities = p.Extraction.Entities[:1]
	g := extraction.Merge(p)
	require.Empty(t, g.Relationships)
	require.Equal(t, 1, g.Counters.Unresolved)
}

func TestMergeKeepsTitlesAndExcerpts(t *testing.T) {
	first, second := part("a", 0, "Ada.", extraction.Draft{}), part("a", 1, "Mary.", extraction.Draft{})
	second.Title = "Letters"
	second.Extraction.Excerpts = []extraction.Excerpt{{ByteStart: 2, Text: "ry"}}
	g := extraction.Merge(second, first, part("b", 0, "x", extraction.Draft{}))
	require.Equal(t, map[string]string{"a": "Letters"}, g.Titles)
	require.Equal(t, []extraction.GraphExcerpt{{
		DocumentID: "a", ChunkID: second.ChunkID, Index: 1, Excerpt: extraction.Excerpt{ByteStart: 2, Text: "ry"},
	}}, g.Excerpts)
}

func TestMergeOfNothingIsAnEmptyGraph(t *testing.T) {
	out, err := json.Marshal(extraction.Merge())
	require.NoError(t, err)
	require.Contains(t, string(out), `{"documents":[],"chunks":0,"models":[],"domains":[],"entities":[],"relationships":[],"conflicts":[],`)
}

// The order in which results arrive does not matter, and the parts are left alone.
func TestMergeIsDeterministic(t *testing.T) {
	name := rapid.SampledFrom([]string{"Ada", "ada", "ADA", "Bob", "bob ", "Eve", "東京"})
	typ := rapid.SampledFrom([]string{"person", "Person", "place"})
	rapid.Check(t, func(t *rapid.T) {
		var parts []extraction.Part
		for i := range rapid.IntRange(0, 8).Draw(t, "parts") {
			var d extraction.Draft
			for range rapid.IntRange(0, 5).Draw(t, "rows") {
				d = related(d, name.Draw(t, "source"), typ.Draw(t, "relation"), name.Draw(t, "target"), "Ada")
				d.Entities = append(d.Entities, extraction.DraftEntity{Name: name.Draw(t, "name"), Type: typ.Draw(t, "type")})
			}
			parts = append(parts, part(fmt.Sprint("d", i%3), i/3, "Ada saw Bob in 東京.", d))
		}
		want := extraction.Merge(parts...)
		require.Equal(t, want, extraction.Merge(rapid.Permutation(parts).Draw(t, "order")...))
		facts, sources := 0, 0
		for _, p := range parts {
			facts += len(p.Extraction.Entities)
		}
		for _, e := range want.Entities {
			sources += len(e.Sources)
		}
		require.Equal(t, facts, sources, "every fact of every chunk keeps its source")
	})
}

func BenchmarkMerge(b *testing.B) {
	var parts []extraction.Part
	for i := range 1000 {
		d := extraction.Draft{}
		for j := range 20 {
			d.Entities = append(d.Entities, extraction.DraftEntity{Name: fmt.Sprint("Entity ", (i*7+j*13)%3000), Type: "thing"})
			d = related(d, fmt.Sprint("Entity ", (i*7)%3000), "of", fmt.Sprint("Entity ", (i*7+j*13)%3000), "")
		}
		parts = append(parts, part("d", i, "Entity 1", d))
	}
	b.ResetTimer()
	for b.Loop() {
		extraction.Merge(parts...)
	}
}
