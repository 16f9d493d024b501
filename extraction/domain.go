package extraction

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Domain is what to look for in one kind of document. The zero value but for an
// ID is an open domain: any type goes, as in [DefaultDomain].
type Domain struct {
	ID          string // recorded in results: lower-case letters, digits, - and _, at most 64
	Title       string // a few words, for people
	Description string // one or two sentences, from which a model tells this kind of document
	Guidance    string // added to the prompt

	// Keywords are words and short phrases by which [Keywords] tells this kind of
	// document.
	Keywords []string

	// Entities and Relationships are the types to look for. An empty list means
	// that any type goes.
	Entities      []EntityType
	Relationships []RelationshipType

	// Strict drops what is of none of these types. Otherwise it is kept. Both
	// ways it is counted as off schema.
	Strict bool
}

// EntityType is one kind of thing. Type is in the form of [NormalizeType].
type EntityType struct {
	Type        string
	Description string
}

// RelationshipType is one kind of statement. From and To are the entity types
// that it may link; an empty list means any.
type RelationshipType struct {
	Type        string
	Description string
	From, To    []string
}

// Bounds of a domain, so that its prompt fits a model. Texts are in runes.
const (
	MaxDomains         = 64
	MaxDomainTypes     = 64 // of entities, and as many of relationships
	MaxDomainKeywords  = 256
	MaxDomainText      = 512  // title, description, keyword
	MaxDomainGuidance  = 4096 //
	domainIDBound      = 64
	keywordWordsAtMost = 4
)

var domainID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// DomainError says which field of which domain is wrong, and why.
type DomainError struct {
	Index  int    // the domain's place in the list, counted from 0
	Domain string // its ID; empty if that is what is wrong
	Field  string // such as relationships[2].from
	Reason string
}

func (e *DomainError) Error() string {
	return "domain " + cmp.Or(e.Domain, fmt.Sprintf("number %d", e.Index+1)) + ": " + e.Field + " " + e.Reason
}

// Domains are the domains that a pipeline knows. They are immutable and safe for
// concurrent use.
type Domains struct {
	list     []Domain
	fallback int
	only     bool // the fallback is the one domain that was given
}

// NewDomains checks the domains and puts them together. fallback is the ID of
// the one that documents are read with whose domain nobody knows; empty is
// [DefaultDomain], or the only domain if the list has one. An open domain of the ID
// [DefaultDomain] is added if the list has none. The error is a [*DomainError] or an
// [*ArgumentError].
func NewDomains(fallback string, list ...Domain) (*Domains, error) {
	if len(list) > MaxDomains {
		return nil, &ArgumentError{Argument: "domains", Reason: fmt.Sprintf("are more than %d", MaxDomains)}
	}
	d := &Domains{list: slices.Clone(list), fallback: -1}
	for i, domain := range d.list {
		if err := domain.check(); err != nil {
			err.Index = i
			return nil, err
		}
		if slices.ContainsFunc(d.list[:i], func(other Domain) bool { return other.ID == domain.ID }) {
			return nil, &DomainError{Index: i, Domain: domain.ID, Field: "id", Reason: "is there twice"}
		}
	}
	if !d.has(DefaultDomain) {
		d.list = append(d.list, Domain{ID: DefaultDomain, Title: "Anything"})
	}
	switch {
	case fallback != "":
	case len(list) == 1:
		fallback = list[0].ID
	default:
		fallback = DefaultDomain
	}
	if d.fallback = d.index(fallback); d.fallback < 0 {
		return nil, &ArgumentError{Argument: "fallback", Reason: fmt.Sprintf("is %q, which is none of the domains", fallback)}
	}
	d.only = len(list) == 1 && d.fallback == 0
	return d, nil
}

// All returns the domains in the order they were given in.
func (d *Domains) All() []Domain { return slices.Clone(d.list) }

// Fallback is the domain of documents whose domain nobody knows.
func (d *Domains) Fallback() Domain { return d.list[d.fallback] }

// Find returns the domain of an ID, in any case and with white space around it.
func (d *Domains) Find(id string) (Domain, bool) {
	if i := d.index(id); i >= 0 {
		return d.list[i], true
	}
	return Domain{}, false
}

// Strict returns the same domains, all of them strict.
func (d *Domains) Strict() *Domains {
	strict := &Domains{list: slices.Clone(d.list), fallback: d.fallback, only: d.only}
	for i := range strict.list {
		strict.list[i].Strict = true
	}
	return strict
}

func (d *Domains) has(id string) bool { return d.index(id) >= 0 }

func (d *Domains) index(id string) int {
	id = strings.TrimSpace(id)
	return slices.IndexFunc(d.list, func(domain Domain) bool { return strings.EqualFold(domain.ID, id) })
}

// open reports whether the domain asks for nothing in particular.
func (d *Domain) open() bool {
	return len(d.Entities) == 0 && len(d.Relationships) == 0 && d.Guidance == ""
}

// check returns what is wrong with a domain, nil if nothing is.
func (d *Domain) check() *DomainError {
	wrong := func(field, reason string) *DomainError {
		return &DomainError{Domain: d.ID, Field: field, Reason: reason}
	}
	if len(d.ID) > domainIDBound || !domainID.MatchString(d.ID) {
		id := d.ID
		d.ID = "" // not fit to be named
		return wrong("id", fmt.Sprintf("is %.80q: want 1 to %d lower-case letters, digits, - and _", id, domainIDBound))
	}
	for _, text := range []struct {
		field, value string
		bound        int
	}{{"title", d.Title, MaxDomainText}, {"description", d.Description, MaxDomainText}, {"guidance", d.Guidance, MaxDomainGuidance}} {
		if reason := badText(text.value, text.bound); reason != "" {
			return wrong(text.field, reason)
		}
	}
	if len(d.Keywords) > MaxDomainKeywords {
		return wrong("keywords", fmt.Sprintf("has more than %d", MaxDomainKeywords))
	}
	for i, keyword := range d.Keywords {
		if n := len(wordsOf(keyword)); n == 0 || n > keywordWordsAtMost {
			return wrong(fmt.Sprintf("keywords[%d]", i), fmt.Sprintf("is %.80q: want 1 to %d words", keyword, keywordWordsAtMost))
		}
		if reason := badText(keyword, MaxDomainText); reason != "" {
			return wrong(fmt.Sprintf("keywords[%d]", i), reason)
		}
	}
	return d.checkTypes(wrong)
}

func (d *Domain) checkTypes(wrong func(field, reason string) *DomainError) *DomainError {
	if len(d.Entities) > MaxDomainTypes {
		return wrong("entities", fmt.Sprintf("has more than %d types", MaxDomainTypes))
	}
	if len(d.Relationships) > MaxDomainTypes {
		return wrong("relationships", fmt.Sprintf("has more than %d types", MaxDomainTypes))
	}
	entities, relationships := map[string]bool{}, map[string]bool{}
	for i, e := range d.Entities {
		field := fmt.Sprintf("entities[%d].", i)
		if reason := badType(e.Type, entities); reason != "" {
			return wrong(field+"type", reason)
		}
		if reason := badText(e.Description, MaxDomainText); reason != "" {
			return wrong(field+"description", reason)
		}
	}
	for i, r := range d.Relationships {
		field := fmt.Sprintf("relationships[%d].", i)
		if reason := badType(r.Type, relationships); reason != "" {
			return wrong(field+"type", reason)
		}
		if reason := badText(r.Description, MaxDomainText); reason != "" {
			return wrong(field+"description", reason)
		}
		for _, ends := range []struct {
			name  string
			types []string
		}{{"from", r.From}, {"to", r.To}} {
			for _, typ := range ends.types {
				if !entities[typ] {
					return wrong(field+ends.name, fmt.Sprintf("names %.80q, which is no entity type of this domain", typ))
				}
			}
		}
	}
	return nil
}

func badType(typ string, seen map[string]bool) string {
	switch normal := NormalizeType(typ); {
	case normal == "":
		return fmt.Sprintf("is %.80q: want a word or two in lower_snake_case", typ)
	case normal != typ:
		return fmt.Sprintf("is %.80q: write %q", typ, normal)
	case seen[typ]:
		return fmt.Sprintf("is %q, which is there twice", typ)
	}
	seen[typ] = true
	return ""
}

func badText(text string, bound int) string {
	switch {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return "is not clean UTF-8"
	case utf8.RuneCountInString(text) > bound:
		return fmt.Sprintf("is longer than %d characters", bound)
	}
	return ""
}
