package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// name is a name taken apart, once, so that passages can be searched for it.
type name struct {
	folded   string   // see [NormalizeName]
	own      []string // its own words, without accents
	dense    []string // its parts in scripts without spaces, less what kind of thing they are
	common   []string // where it has none of both: its words that mean something
	initials string   // "UN" for "United Nations"
	dotted   string   // "U.N"
	capitals string   // itself, if it may be the initials of something
}

// newName takes a name apart, which is given as written and normalised.
func newName(written, folded string) name {
	n := name{folded: folded}
	for at, spaced := range eachWord(folded) {
		word := folded[at.start:at.end]
		if !spaced {
			n.dense = append(n.dense, withoutSuffix(word))
			continue
		}
		switch word = unaccented(word); {
		case word == "" || function(word):
		case generic(word):
			n.common = append(n.common, word)
		default:
			n.own = append(n.own, word)
		}
	}
	if len(n.own)+len(n.dense) > 0 {
		n.common = nil
	}
	var short, dotted [64]byte
	initials, apart := short[:0], dotted[:0]
	for at := range eachWord(written) {
		word := written[at.start:at.end]
		first, _ := utf8.DecodeRuneInString(word)
		if !unicode.IsUpper(first) {
			if function(word) {
				continue
			}
			first = ' '
		}
		if len(apart) > 0 {
			apart = append(apart, '.')
		}
		initials, apart = utf8.AppendRune(initials, first), utf8.AppendRune(apart, first)
	}
	if len(initials) > 1 {
		n.initials, n.dotted = string(initials), string(apart)
		return n
	}
	capitals := strings.ReplaceAll(written, ".", "")
	if utf8.RuneCountInString(capitals) > 1 && strings.IndexFunc(capitals, func(r rune) bool { return !unicode.IsUpper(r) }) < 0 {
		n.capitals = capitals
	}
	return n
}
