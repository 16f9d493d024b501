package extraction

// Ground holds a draft against the chunk's text, which must have passed
// [CheckText], and names what it finds for the tenant. Quotes become offsets of
// real bytes; rows that say the same are merged; relationships are tied to the
// listed entities.
//
// An entity without a quote in the text is grounded by its name, if that stands
// there. What cannot be grounded at all is kept without evidence and counted:
// it may be a paraphrase, but also an example out of a prompt, or what
// instructions inside the text made the model say. Relationships to something
// that is not listed, or to itself, are left out and counted.
func Ground(tenant, text string, d Draft) ([]Entity, []Relationship, Counters) {
	g := grounder{
		tenant: tenant, align: aligner{text: text}, counters: d.Counters,
		entities: make([]Entity, 0, len(d.Entities)), relationships: make([]Relationship, 0, len(d.Relationships)),
		byID: make(map[string]int, len(d.Entities)+len(d.Relationships)), byName: make(map[string]string, len(d.Entities)),
	}
	for _, e := range d.Entities {
		g.entity(e)
	}
	for _, r := range d.Relationships {
		g.relationship(r)
	}
	for _, e := range g.entities {
		if e.Evidence == nil {
			g.counters.Ungrounded++
		}
	}
	for _, r := range g.relationships {
		if r.Evidence == nil {
			g.counters.Ungrounded++
		}
	}
	return g.entities, g.relationships, g.counters
}

type grounder struct {
	tenant        string
	align         aligner
	counters      Counters
	entities      []Entity
	relationships []Relationship
	byID          map[string]int    // place in its slice
	byName        map[string]string // normalised name to ID of the first entity of that name
}

func (g *grounder) entity(d DraftEntity) {
	name, typ := NormalizeName(d.Name), NormalizeType(d.Type)
	if name == "" || typ == "" {
		g.counters.Dropped++ // a draft that does not come from Parse
		return
	}
	id := entityID(g.tenant, name, typ)
	at, found := g.align.quote(d.Quote)
	if !found {
		at, found = g.align.name(d.Name)
	}
	evidence := g.evidence(at, found)
	if i, again := g.byID[id]; again {
		e := &g.entities[i]
		complete(&e.Description, &e.Confidence, &e.Evidence, d.Description, d.Confidence, evidence)
		return
	}
	g.byID[id] = len(g.entities)
	if _, taken := g.byName[name]; !taken {
		g.byName[name] = id
	}
	g.entities = append(g.entities, Entity{
		ID: id, Name: d.Name, Type: typ, Description: d.Description, Confidence: d.Confidence, Evidence: evidence,
	})
}

func (g *grounder) relationship(d DraftRelationship) {
	source, target := NormalizeName(d.Source), NormalizeName(d.Target)
	if source == target {
		g.counters.SelfLoops++
		return
	}
	sourceID, targetID := g.byName[source], g.byName[target]
	if sourceID == "" || targetID == "" {
		g.counters.Unresolved++
		return
	}
	typ := NormalizeType(d.Type)
	if typ == "" {
		g.counters.Dropped++
		return
	}
	id := RelationshipID(g.tenant, sourceID, typ, targetID)
	evidence := g.evidence(g.align.quote(d.Quote))
	if i, again := g.byID[id]; again {
		r := &g.relationships[i]
		complete(&r.Description, &r.Confidence, &r.Evidence, d.Description, d.Confidence, evidence)
		return
	}
	g.byID[id] = len(g.relationships)
	g.relationships = append(g.relationships, Relationship{
		ID: id, SourceID: sourceID, TargetID: targetID, Type: typ,
		Description: d.Description, Confidence: d.Confidence, Evidence: evidence,
	})
}

// evidence quotes the text at a place, cut to the bound of a quote.
func (g *grounder) evidence(at span, found bool) *Evidence {
	if !found {
		return nil
	}
	if end := at.start + skipRunes(g.align.text[at.start:at.end], 0, MaxQuoteRunes); end < at.end {
		at.end = end
		g.counters.Clipped++
	}
	return &Evidence{Quote: g.align.text[at.start:at.end], ByteStart: at.start, ByteEnd: at.end}
}

// complete fills what a fact lacks from another statement of it. The higher
// confidence counts.
func complete(description *string, confidence **float64, evidence **Evidence, d string, c *float64, e *Evidence) {
	if *description == "" {
		*description = d
	}
	if *confidence == nil || c != nil && *c > **confidence {
		*confidence = c
	}
	if *evidence == nil {
		*evidence = e
	}
}
