package extraction

// Difference is what another run over the same text found and did not find.
// Facts are the same if their ids are: of entities name and type, of relationships
// ends and type. The order is that of the graphs.
type Difference struct {
	Entities      Changes[GraphEntity]       `json:"entities"`
	Relationships Changes[GraphRelationship] `json:"relationships"`
}

// Changes are the facts of one sort. No list is nil.
type Changes[T any] struct {
	Appeared    []T `json:"appeared"`
	Disappeared []T `json:"disappeared"`
	Kept        int `json:"kept"` // in both
}

// Compare says what differs between two graphs of one tenant.
func Compare(before, after Graph) Difference {
	return Difference{
		Entities:      changes(before.Entities, after.Entities, func(e GraphEntity) string { return e.ID }),
		Relationships: changes(before.Relationships, after.Relationships, func(r GraphRelationship) string { return r.ID }),
	}
}

func changes[T any](before, after []T, id func(T) string) Changes[T] {
	c := Changes[T]{Appeared: []T{}, Disappeared: []T{}}
	known := make(map[string]bool, len(after))
	for _, fact := range after {
		known[id(fact)] = false
	}
	for _, fact := range before {
		if _, still := known[id(fact)]; !still {
			c.Disappeared = append(c.Disappeared, fact)
			continue
		}
		known[id(fact)] = true
		c.Kept++
	}
	for _, fact := range after {
		if !known[id(fact)] {
			c.Appeared = append(c.Appeared, fact)
		}
	}
	return c
}
