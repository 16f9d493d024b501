package extraction

import "strings"

// Ground holds a draft against the chunk's text, which must have passed
// [CheckText], and names what it finds for the tenant. Quotes become offsets of
// real bytes; rows that say the same are merged; relationships are tied to the
// listed entities.
//
// A quote is evidence if it stands in the text, in whole words, and has a letter or
// a digit. That of an entity must also mention it, by a word that is its own and not
// somebody else's there, or its initials. An entity without such a quote is grounded by
// its name, if that stands in the text. That of a relationship must have a word that
// means something and be more than the name of one end, its sentence or those before
// must name both ends, and both ends must be grounded. What cannot be grounded is
// kept without evidence and counted: it may be a paraphrase or a translation, but
// also an example out of a prompt, or what instructions inside the text made the
// model say. Relationships to something that is not listed, or to itself, are left
// out and counted, as is a row with a character that was lost on the way.
func Ground(tenant, text string, d Draft) ([]Entity, []Relationship, Counters) {
	g := newGrounder(tenant, text, d)
	g.ground(d)
	return g.entities, g.relationships, g.counters
}

type grounder struct {
	tenant        string
	text          indexed
	counters      Counters
	entities      []Entity
	relationships []Relationship
	byID          map[string]int // place in its slice
	byName        map[string]int // a name, as written or normalised, to the place of the first entity of that name
	names         []name         // of the entities
}

func newGrounder(tenant, text string, d Draft) *grounder {
	return &grounder{
		tenant: tenant, text: indexed{text: text}, counters: d.Counters,
		entities: make([]Entity, 0, len(d.Entities)), relationships: make([]Relationship, 0, len(d.Relationships)),
		byID: make(map[string]int, len(d.Entities)+len(d.Relationships)), byName: make(map[string]int, 2*len(d.Entities)),
		names: make([]name, 0, len(d.Entities)),
	}
}

func (g *grounder) ground(d Draft) {
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
}

func (g *grounder) entity(d DraftEntity) {
	folded, typ := NormalizeName(d.Name), NormalizeType(d.Type)
	if folded == "" || typ == "" {
		g.counters.Dropped++ // a draft that does not come from Parse
		return
	}
	if g.broken(d.Name, d.Description) {
		g.counters.Dropped++
		return
	}
	id, n := entityID(g.tenant, folded, typ), newName(d.Name, folded)
	evidence := g.evidence(d.Quote, func(p passage) bool { return g.text.mentions(p, &n) })
	if evidence == nil {
		evidence = g.named(d.Name, &n)
	}
	if i, again := g.byID[id]; again {
		e := &g.entities[i]
		complete(&e.Description, &e.Confidence, &e.Evidence, d.Description, d.Confidence, evidence)
		return
	}
	g.byID[id] = len(g.entities)
	if _, taken := g.byName[folded]; !taken {
		g.byName[folded] = len(g.entities)
	}
	g.byName[d.Name] = g.byName[folded]
	g.names = append(g.names, n)
	g.entities = append(g.entities, Entity{
		ID: id, Name: d.Name, Type: typ, Description: d.Description, Confidence: d.Confidence, Evidence: evidence,
	})
}

func (g *grounder) relationship(d DraftRelationship) {
	if g.broken(d.Source, d.Target, d.Description) {
		g.counters.Dropped++
		return
	}
	from, listed := g.find(d.Source)
	to, both := g.find(d.Target)
	switch both = both && listed; {
	case both && from == to, !both && NormalizeName(d.Source) == NormalizeName(d.Target):
		g.counters.SelfLoops++
		return
	case !both:
		g.counters.Unresolved++
		return
	}
	typ := NormalizeType(d.Type)
	if typ == "" {
		g.counters.Dropped++
		return
	}
	one, other := &g.entities[from], &g.entities[to]
	var evidence *Evidence
	if one.Evidence != nil && other.Evidence != nil {
		evidence = g.evidence(d.Quote, func(p passage) bool { return g.text.speaksOfBoth(p, &g.names[from], &g.names[to], g.names) })
	}
	id := RelationshipID(g.tenant, one.ID, typ, other.ID)
	if i, again := g.byID[id]; again {
		r := &g.relationships[i]
		complete(&r.Description, &r.Confidence, &r.Evidence, d.Description, d.Confidence, evidence)
		return
	}
	g.byID[id] = len(g.relationships)
	g.relationships = append(g.relationships, Relationship{
		ID: id, SourceID: one.ID, TargetID: other.ID, Type: typ,
		Description: d.Description, Confidence: d.Confidence, Evidence: evidence,
	})
}

// find is the place of the first entity of a name.
func (g *grounder) find(name string) (int, bool) {
	i, listed := g.byName[name]
	if !listed {
		i, listed = g.byName[NormalizeName(name)]
	}
	return i, listed
}

// broken reports whether one of the strings has the sign for a character that was
// lost on the way, such as half a surrogate pair, and the text has none.
func (g *grounder) broken(all ...string) bool {
	for _, s := range all {
		if strings.Contains(s, "\uFFFD") && !strings.Contains(g.text.text, "\uFFFD") {
			return true
		}
	}
	return false
}

// evidence is what the text says in the words of a quote, if that speaks of what
// it is to show.
func (g *grounder) evidence(quote string, speaks func(passage) bool) *Evidence {
	at, found := g.text.quote(quote)
	if !found {
		return nil
	}
	whole := at
	if at.end = at.start + skipRunes(g.text.text[at.start:at.end], 0, MaxQuoteRunes); !speaks(g.text.passage(at)) {
		return nil
	}
	if at != whole {
		g.counters.Clipped++
	}
	return g.quoted(at)
}

// named is where the text has a name. One word with a capital is not looked for without.
func (g *grounder) named(written string, n *name) *Evidence {
	at, found := g.text.occurrence(g.text.text, written)
	if !found && !(n.capital && len(n.words) == 1) {
		at, found = g.text.inFolded(n.folded)
	}
	if !found || g.text.isRenewed(g.text.passage(at).words.start) {
		at, found = g.text.spelt(n)
	}
	if !found {
		return nil
	}
	return g.quoted(at)
}

func (g *grounder) quoted(at span) *Evidence {
	return &Evidence{Quote: g.text.text[at.start:at.end], ByteStart: at.start, ByteEnd: at.end}
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
