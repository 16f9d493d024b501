package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// name is a name taken apart, once, so that passages can be searched for it.
type name struct {
	folded    string   // see [NormalizeName]
	words     []string // its words, without accents, of scripts that put spaces between them
	own       []string // those of them that are its own
	dense     []string // its parts in scripts without spaces, less what kind of thing they are
	short     []string // what these are shortened to
	common    []string // where it has neither own nor dense: its words that mean something
	initials  string   // "UN" for "United Nations"
	dotted    string   // "U.N", also for the name "UN"
	capitals  string   // itself, if it may be the initials of something
	plainTail bool     // its last word has no capital, so that it is no person
	capital   bool     // it begins with a capital, or its last word does
	numbers   []string // what must stand beside the words, see [numbersOf]
	numeral   string   // the last Roman numeral, which tells the name from others: "II" for "Henry II"
}

// newName takes a name apart, which is given as written and normalised.
func newName(written, folded string) name {
	n := name{folded: folded, words: make([]string, 0, 4), own: make([]string, 0, 4), numbers: numbersOf(folded)}
	for at, spaced := range eachWord(folded) {
		word := folded[at.start:at.end]
		if !spaced {
			n.dense = append(n.dense, withoutSuffix(word))
			if short := shortened(word); short != "" {
				n.short = append(n.short, short)
			}
			continue
		}
		if word = unaccented(word); word == "" {
			continue
		}
		n.words = append(n.words, word)
		switch {
		case function(word):
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
		n.plainTail = unicode.IsLower(first)
		n.capital = n.capital || unicode.IsUpper(first)
		if at.start > 0 && isNumeral(word) {
			n.numeral = word
		}
		if !unicode.IsUpper(first) && function(word) {
			continue
		}
		if len(apart) > 0 {
			apart = append(apart, '.')
		}
		first = unicode.ToUpper(first)
		initials, apart = utf8.AppendRune(initials, first), utf8.AppendRune(apart, first)
	}
	if utf8.RuneCount(initials) > 1 {
		n.initials, n.dotted = string(initials), string(apart)
		return n
	}
	capitals := strings.ReplaceAll(written, ".", "")
	if utf8.RuneCountInString(capitals) > 1 && strings.IndexFunc(capitals, func(r rune) bool { return !unicode.IsUpper(r) }) < 0 {
		n.capitals, n.dotted = capitals, strings.Join(strings.Split(capitals, ""), ".")
	}
	return n
}

// shortened is what a Chinese or Japanese name is shortened to: the first characters of
// its first two words of two characters, as in 東大 for 東京大学; "" if it is too short
// or begins with the same.
func shortened(name string) string {
	r := []rune(name)
	if len(r) < 4 || !unicode.Is(unicode.Han, r[0]) || !unicode.Is(unicode.Han, r[2]) || r[1] == r[2] {
		return ""
	}
	return string([]rune{r[0], r[2]})
}
