package modelserver

import (
	"regexp"
	"strings"
)

// Entity is a row of the model-side JSON.
type Entity struct {
	Name        string   `json:"name"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Confidence  *float64 `json:"confidence"`
	Quote       string   `json:"quote"`
}

// Relationship is a row of the model-side JSON.
type Relationship struct {
	Source      string   `json:"source"`
	Target      string   `json:"target"`
	Type        string   `json:"type"`
	Description string   `json:"description"`
	Confidence  *float64 `json:"confidence"`
	Quote       string   `json:"quote"`
}

// Facts is the model-side JSON: what a model is asked to write.
type Facts struct {
	Entities      []Entity       `json:"entities"`
	Relationships []Relationship `json:"relationships"`
}

// JSON is what the model writes.
func (f Facts) JSON() string { return encode(f) }

const (
	maxEntities = 40  // a bound on the size of an answer
	maxApart    = 200 // bytes from the first to the last of two neighbours
)

// Answer is the true answer to a text: each run of capitalised words is an
// entity, two that follow each other closely are related. The same text always
// gives the same answer, and every quote stands in it.
func Answer(text string) Facts {
	facts := Facts{Entities: []Entity{}, Relationships: []Relationship{}}
	confidence := 0.9
	seen := map[string]bool{}
	related := map[[2]string]bool{}
	var last string
	var lastStart int
	for _, span := range capitalised.FindAllStringIndex(text, -1) {
		name := text[span[0]:span[1]]
		if !seen[name] {
			if len(facts.Entities) == maxEntities {
				break
			}
			seen[name] = true
			facts.Entities = append(facts.Entities, Entity{
				Name: name, Type: "thing", Description: "named in the text", Confidence: &confidence, Quote: name,
			})
		}
		pair := [2]string{last, name}
		if last != "" && last != name && !related[pair] && span[1]-lastStart <= maxApart {
			related[pair] = true
			facts.Relationships = append(facts.Relationships, Relationship{
				Source: last, Target: name, Type: "near", Description: "named together",
				Confidence: &confidence, Quote: text[lastStart:span[1]],
			})
		}
		last, lastStart = name, span[0]
	}
	return facts
}

// capitalised matches runs of words that start with a capital, in any script
// that has them, joined by single spaces.
var capitalised = regexp.MustCompile(`\p{Lu}[\p{L}\p{M}\p{N}]*(?: \p{Lu}[\p{L}\p{M}\p{N}]*)*`)

// tokens is a plausible count: four bytes a token.
func tokens(parts ...string) int { return (len(strings.Join(parts, "")) + 3) / 4 }
