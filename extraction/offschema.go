package extraction

import "slices"

// hold counts the facts whose type the domain does not name, and relationships
// between things that it does not let them link. A strict domain drops them, and
// the relationships of what was dropped. Either way each fact counts once, as
// off schema.
func (d *Domain) hold(entities []Entity, relationships []Relationship, c *Counters) ([]Entity, []Relationship) {
	if len(d.Entities) == 0 && len(d.Relationships) == 0 {
		return entities, relationships
	}
	types := make(map[string]string, len(entities)) // of what is kept, by ID
	drops := func(off bool, evidence *Evidence) bool {
		if !off {
			return false
		}
		c.OffSchema++
		if d.Strict && evidence == nil {
			c.Ungrounded-- // it counts what is kept
		}
		return d.Strict
	}
	entities = slices.DeleteFunc(entities, func(e Entity) bool {
		if drops(!d.names(e.Type), e.Evidence) {
			return true
		}
		types[e.ID] = e.Type
		return false
	})
	relationships = slices.DeleteFunc(relationships, func(r Relationship) bool {
		source, hasSource := types[r.SourceID]
		target, hasTarget := types[r.TargetID]
		return drops(!hasSource || !hasTarget || !d.links(r.Type, source, target), r.Evidence)
	})
	return entities, relationships
}

// names reports whether an entity type is one of the domain's.
func (d *Domain) names(typ string) bool {
	return len(d.Entities) == 0 || slices.ContainsFunc(d.Entities, func(e EntityType) bool { return e.Type == typ })
}

// links reports whether the domain has a relationship of this type between
// entities of these types.
func (d *Domain) links(typ, source, target string) bool {
	if len(d.Relationships) == 0 {
		return true
	}
	i := slices.IndexFunc(d.Relationships, func(r RelationshipType) bool { return r.Type == typ })
	if i < 0 {
		return false
	}
	r := d.Relationships[i]
	return (len(r.From) == 0 || slices.Contains(r.From, source)) && (len(r.To) == 0 || slices.Contains(r.To, target))
}
