package offline

import (
	"slices"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
)

// reach is how many sentences back a pronoun may find its person.
const reach = 3

// withPronouns returns the places of a sentence with "he" and "she" among them,
// as places of the person that the text is about: the one that opened the
// nearest sentence before. Without such a person they stay out.
func (f *findings) withPronouns(sentence int) []place {
	places := f.places[sentence]
	var out []place
	for i, t := range f.sentences[sentence].Tokens {
		if n := t.End - t.Start; t.Opaque || n > 3 {
			continue
		}
		if w := f.text[t.Start:t.End]; w == `"` || w == "“" || w == "”" {
			return places // in speech, "she" is whom the speakers speak of
		}
		if w := strings.ToLower(f.text[t.Start:t.End]); w != "he" && w != "she" {
			continue
		}
		if len(places) > 0 && places[0].from < i && f.entities[places[0].entity].kind == tagger.Person {
			continue // a person named before in the sentence may be meant
		}
		who, ok := f.topic(sentence)
		if !ok {
			return places
		}
		out = append(out, place{from: i, to: i + 1, entity: who, pronoun: true})
	}
	if out == nil {
		return places
	}
	out = append(out, places...)
	slices.SortStableFunc(out, func(a, b place) int { return a.from - b.from })
	return out
}

// topic is the person that opens the nearest sentence before this one.
func (f *findings) topic(sentence int) (int, bool) {
	for back := 1; back <= reach && back <= sentence; back++ {
		before := f.places[sentence-back]
		if f.sentences[sentence-back].Title || len(before) == 0 {
			continue
		}
		if first := before[0]; first.from <= 2 {
			return first.entity, f.entities[first.entity].kind == tagger.Person
		}
	}
	return 0, false
}
