package tagger

import (
	_ "embed"
	"slices"
	"strings"
)

//go:embed lexicon.txt
var lexiconText string

// plainList is the list that only marks words as common.
const plainList = "plain"

// newModel returns a model that knows its word lists and nothing else.
func newModel() *Model {
	return &Model{lexicon: newLexicon(), acronyms: listBits("acronym"), demonyms: listBits("demonym"),
		nameLists: listBits("firstname", "country", "demonym", "place", "company", "tech")}
}

// newLexicon returns, for the hash of a lower-case word, the set of lists it
// stands on, as a number made of one bit per list.
func newLexicon() map[uint64]uint64 {
	out := map[uint64]uint64{}
	bit := uint64(1)
	for name, words := range lists {
		if name == plainList {
			continue
		}
		for _, w := range words {
			out[hashString(w)] |= bit
		}
		bit <<= 1
	}
	return out
}

// IsCommon reports a word, in lower case, that is ordinarily written so.
func (m *Model) IsCommon(word string) bool { return m.common[uint32(hashString(word))] }

// IsListed reports a word, in lower case, that is on some list of names.
func (m *Model) IsListed(word string) bool { return m.lexicon[hashString(word)]&m.nameLists != 0 }

// IsDemonym reports a word, in lower case, like polish or dutch.
func (m *Model) IsDemonym(word string) bool { return m.lexicon[hashString(word)]&m.demonyms != 0 }

// IsAcronym reports an abbreviation, in lower case, that names nothing: pdf, api.
func (m *Model) IsAcronym(word string) bool { return m.lexicon[hashString(word)]&m.acronyms != 0 }

// listBits returns the bits of the named lists.
func listBits(names ...string) uint64 {
	bits, bit := uint64(0), uint64(1)
	for name := range lists {
		if name == plainList {
			continue
		}
		if slices.Contains(names, name) {
			bits |= bit
		}
		bit <<= 1
	}
	return bits
}

func plainWords() []string {
	for name, words := range lists {
		if name == plainList {
			return words
		}
	}
	return nil
}

// lists yields the word lists in the order of the file.
func lists(yield func(string, []string) bool) {
	for line := range strings.Lines(lexiconText) {
		if name, words, ok := strings.Cut(line, ":"); ok && !strings.HasPrefix(line, "#") {
			if !yield(name, strings.Fields(words)) {
				return
			}
		}
	}
}
