package gold

// Document is a text and everything that should be found in it.
type Document struct {
	ID            string         `json:"id"`
	Title         string         `json:"title,omitempty"`
	License       string         `json:"license,omitempty"`
	Text          string         `json:"text"`
	Entities      []Entity       `json:"entities"`
	Relationships []Relationship `json:"relationships"`

	// Mentions are the places of the entities, where the format has them. They
	// are sorted and do not overlap.
	Mentions []Mention `json:"-"`
}

// Entity is one thing with every name the text has for it.
type Entity struct {
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
	Type    string   `json:"type"`
}

// Names returns the name and the aliases.
func (e Entity) Names() []string { return append([]string{e.Name}, e.Aliases...) }

// Relationship is a statement about two entities, by any of their names.
type Relationship struct {
	Source string `json:"source"`
	Target string `json:"target"`
	Type   string `json:"type"`
}

// Mention is one name at its place: text[Start:End]. Raw is the type as the
// source wrote it, Type what it was mapped to, Entity an index into Entities.
type Mention struct {
	Start, End int
	Raw, Type  string
	Entity     int
}
