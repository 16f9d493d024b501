package extraction

import (
	"cmp"
	"slices"
)

// Graph is what many chunks say together. Its order is fixed: the same parts give
// the same graph, in whatever order they come.
type Graph struct {
	Documents     []string            `json:"documents"`
	Chunks        int                 `json:"chunks"`
	Models        []string            `json:"models"`
	Domains       []GraphDomain       `json:"domains"`       // by document, then ID
	Entities      []GraphEntity       `json:"entities"`      // by type, then name
	Relationships []GraphRelationship `json:"relationships"` // by source, then type, then target
	Conflicts     []Conflict          `json:"conflicts"`
	Counters      Counters            `json:"counters"`           // summed over the parts
	Titles        map[string]string   `json:"titles,omitempty"`   // of the documents that have one
	Excerpts      []GraphExcerpt      `json:"excerpts,omitempty"` // by document, index and place
}

// GraphDomain is a domain that chunks of a document were read with. A document has
// several if its chunks came to workers that chose otherwise, for other reasons or from
// other domain files.
type GraphDomain struct {
	DocumentID   string `json:"document_id"`
	Chunks       int    `json:"chunks"`
	DomainChoice        // of the first of these chunks
}

// GraphExcerpt is a passage of a chunk that evidence of the graph stands in.
type GraphExcerpt struct {
	DocumentID string `json:"document_id"`
	ChunkID    string `json:"chunk_id"`
	Index      int    `json:"index"`
	Excerpt
}

// Source is where a fact of a graph comes from.
type Source struct {
	DocumentID string    `json:"document_id"`
	ChunkID    string    `json:"chunk_id"`
	Index      int       `json:"index"`
	Model      string    `json:"model"`
	Evidence   *Evidence `json:"evidence"` // offsets are in the chunk's text

	// ChunkStart and ChunkEnd are the chunk's range in the document's own bytes, 0 if that is
	// not known. With the evidence's offsets ChunkStart adds up to a place there, unless the
	// text was extracted: then TextStart of the metadata does, to one in that text.
	ChunkStart int               `json:"chunk_start"`
	ChunkEnd   int               `json:"chunk_end,omitempty"`
	Metadata   map[string]string `json:"metadata,omitempty"` // the chunk's, such as its page
}

// GraphEntity is an entity with every place that speaks of it.
type GraphEntity struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"` // the spelling used most
	Type        string   `json:"type"`
	Aliases     []string `json:"aliases,omitempty"` // the other spellings
	Description string   `json:"description"`       // the longest
	Confidence  *float64 `json:"confidence"`        // the highest
	Sources     []Source `json:"sources"`
}

// GraphRelationship is a relationship with every place that states it.
type GraphRelationship struct {
	ID          string   `json:"id"`
	SourceID    string   `json:"source_id"`
	TargetID    string   `json:"target_id"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Confidence  *float64 `json:"confidence"`
	Sources     []Source `json:"sources"`
}

// Conflict is one name with several types: two things, or one that models do not
// agree on. Nothing is merged; a reader decides.
type Conflict struct {
	Name      string   `json:"name"`
	Types     []string `json:"types"`
	EntityIDs []string `json:"entity_ids"` // in the order of Types
}

// Merge joins the extractions of one tenant's chunks, of one document or many.
// Entities of the same normalised name and type are one, as are relationships of
// the same ends and type (R37). A chunk that is given twice counts once, and a
// relationship whose ends are in no part is left out and counted as unresolved.
func Merge(parts ...Part) Graph {
	parts = slices.Clone(parts)
	slices.SortStableFunc(parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.Index, b.Index), cmp.Compare(a.ChunkID, b.ChunkID))
	})
	parts = slices.CompactFunc(parts, func(a, b Part) bool {
		return a.ChunkID != "" && a.ChunkID == b.ChunkID && a.DocumentID == b.DocumentID
	})

	m := merger{entities: map[string]*mergedEntity{}, relationships: map[string]*GraphRelationship{}}
	g := Graph{Documents: []string{}, Models: []string{}, Domains: []GraphDomain{}, Chunks: len(parts)}
	for _, part := range parts {
		m.add(part)
		g.Documents = append(g.Documents, part.DocumentID)
		g.Models = append(g.Models, part.Extraction.Model)
		g.Counters = g.Counters.plus(part.Extraction.Counters)
		g.addDomain(part)
		g.addTexts(part)
	}
	slices.SortStableFunc(g.Domains, func(a, b GraphDomain) int {
		return cmp.Or(cmp.Compare(a.DocumentID, b.DocumentID), cmp.Compare(a.ID, b.ID), cmp.Compare(a.FallbackReason, b.FallbackReason))
	})
	g.Documents = slices.Compact(g.Documents) // sorted above
	slices.Sort(g.Models)
	g.Models = slices.Compact(g.Models)

	var place map[string]int
	g.Entities, place = m.sortedEntities()
	g.Relationships = m.sortedRelationships(place)
	g.Counters.Unresolved += len(m.relationships) - len(g.Relationships)
	g.Conflicts = conflicts(g.Entities)
	return g
}

// addDomain counts a part to the domain that it was read with. Parts come document by
// document.
func (g *Graph) addDomain(part Part) {
	choice := part.Extraction.Domain
	if choice.ID == "" {
		return
	}
	for i := len(g.Domains) - 1; i >= 0 && g.Domains[i].DocumentID == part.DocumentID; i-- {
		if have := &g.Domains[i]; have.ID == choice.ID && have.FallbackReason == choice.FallbackReason {
			have.Chunks++
			return
		}
	}
	g.Domains = append(g.Domains, GraphDomain{part.DocumentID, 1, choice})
}

// addTexts takes over what a part knows of the text that it came from.
func (g *Graph) addTexts(part Part) {
	if part.Title != "" {
		if g.Titles == nil {
			g.Titles = map[string]string{}
		}
		if g.Titles[part.DocumentID] == "" {
			g.Titles[part.DocumentID] = part.Title
		}
	}
	for _, e := range part.Extraction.Excerpts {
		g.Excerpts = append(g.Excerpts, GraphExcerpt{DocumentID: part.DocumentID, ChunkID: part.ChunkID, Index: part.Index, Excerpt: e})
	}
}

func (c Counters) plus(d Counters) Counters {
	return Counters{
		Dropped: c.Dropped + d.Dropped, Unresolved: c.Unresolved + d.Unresolved, SelfLoops: c.SelfLoops + d.SelfLoops,
		Ungrounded: c.Ungrounded + d.Ungrounded, Clipped: c.Clipped + d.Clipped, Repaired: c.Repaired + d.Repaired,
		OffSchema: c.OffSchema + d.OffSchema,
	}
}

type merger struct {
	entities      map[string]*mergedEntity
	relationships map[string]*GraphRelationship
}

type mergedEntity struct {
	GraphEntity
	normal    string
	spellings []string // in order of appearance
	uses      map[string]int
}

func (m *merger) add(part Part) {
	source := func(e *Evidence) Source {
		return Source{DocumentID: part.DocumentID, ChunkID: part.ChunkID, Index: part.Index, Model: part.Extraction.Model, Evidence: e,
			ChunkStart: part.ByteStart, ChunkEnd: part.ByteEnd, Metadata: part.Metadata}
	}
	for _, e := range part.Extraction.Entities {
		have := m.entities[e.ID]
		if have == nil {
			have = &mergedEntity{GraphEntity: GraphEntity{ID: e.ID, Type: e.Type}, normal: NormalizeName(e.Name), uses: map[string]int{}}
			m.entities[e.ID] = have
		}
		if have.uses[e.Name]++; have.uses[e.Name] == 1 {
			have.spellings = append(have.spellings, e.Name)
		}
		have.Description, have.Confidence = better(have.Description, have.Confidence, e.Description, e.Confidence)
		have.Sources = append(have.Sources, source(e.Evidence))
	}
	for _, r := range part.Extraction.Relationships {
		have := m.relationships[r.ID]
		if have == nil {
			have = &GraphRelationship{ID: r.ID, SourceID: r.SourceID, TargetID: r.TargetID, Type: r.Type}
			m.relationships[r.ID] = have
		}
		have.Description, have.Confidence = better(have.Description, have.Confidence, r.Description, r.Confidence)
		have.Sources = append(have.Sources, source(r.Evidence))
	}
}

// better keeps the longer description and the higher confidence.
func better(d string, c *float64, d2 string, c2 *float64) (string, *float64) {
	if len(d2) > len(d) {
		d = d2
	}
	if c == nil || c2 != nil && *c2 > *c {
		c = c2
	}
	return d, c
}

// sortedEntities returns the entities in order, and the place of each by ID.
func (m *merger) sortedEntities() ([]GraphEntity, map[string]int) {
	merged := make([]*mergedEntity, 0, len(m.entities))
	for _, e := range m.entities {
		// Stable: the spelling seen first wins among equals.
		slices.SortStableFunc(e.spellings, func(a, b string) int { return cmp.Compare(e.uses[b], e.uses[a]) })
		e.Name, e.Aliases = e.spellings[0], e.spellings[1:]
		merged = append(merged, e)
	}
	slices.SortFunc(merged, func(a, b *mergedEntity) int {
		return cmp.Or(cmp.Compare(a.Type, b.Type), cmp.Compare(a.normal, b.normal), cmp.Compare(a.ID, b.ID))
	})
	out := make([]GraphEntity, len(merged))
	place := make(map[string]int, len(merged))
	for i, e := range merged {
		out[i], place[e.ID] = e.GraphEntity, i
	}
	return out, place
}

func (m *merger) sortedRelationships(place map[string]int) []GraphRelationship {
	out := make([]GraphRelationship, 0, len(m.relationships))
	for _, r := range m.relationships {
		_, source := place[r.SourceID]
		_, target := place[r.TargetID]
		if source && target {
			out = append(out, *r)
		}
	}
	slices.SortFunc(out, func(a, b GraphRelationship) int {
		return cmp.Or(
			cmp.Compare(place[a.SourceID], place[b.SourceID]), cmp.Compare(a.Type, b.Type),
			cmp.Compare(place[a.TargetID], place[b.TargetID]), cmp.Compare(a.ID, b.ID))
	})
	return out
}

// conflicts finds the names that entities of several types share.
func conflicts(entities []GraphEntity) []Conflict {
	byName := map[string][]int{}
	var order []string
	for i, e := range entities {
		name := NormalizeName(e.Name)
		if byName[name] = append(byName[name], i); len(byName[name]) == 2 {
			order = append(order, name)
		}
	}
	slices.Sort(order)
	out := make([]Conflict, 0, len(order))
	for _, name := range order {
		c := Conflict{Name: entities[byName[name][0]].Name}
		for _, i := range byName[name] {
			c.Types = append(c.Types, entities[i].Type)
			c.EntityIDs = append(c.EntityIDs, entities[i].ID)
		}
		out = append(out, c)
	}
	return out
}
