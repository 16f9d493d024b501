package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// name is a name taken apart, once, so that passages can be searched for it.
type name struct {
	written  string
	folded   string    // see [NormalizeName]
	words    []string  // its words, without accents, of scripts that put spaces between them
	own      []string  // those of them that are its own
	ownLast  bool      // the last of them is the name's last word that means something
	dense    []string  // its parts in scripts without spaces, less what kind of thing they are
	short    []string  // what these are shortened to
	common   []string  // where it has neither own nor dense: its words that mean something
	capital  bool      // one of its words has a capital
	numbers  []string  // what must stand beside the words, see [numbersOf]
	side     string    // what tells it from others of a word: "north"
	sided    string    // that word: "korea"
	either   []name    // what it consists of, if that is several names with a slash between
	numeral  string    // the last Roman numeral, which tells the name from others: "II" for "Henry II"
	letter   string    // what tells it from others of a word: "B" for "Patient B"
	lettered string    // that word: "patient"
	initials *initials // nil until somebody asks
}

// newName takes a name apart, which is given as written and normalised.
func newName(written, folded string) name {
	n := name{written: written, folded: folded, words: make([]string, 0, 4), own: make([]string, 0, 4), numbers: numbersOf(folded)}
	before := ""
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
			n.ownLast = false
		default:
			if isSide(before) && n.side == "" {
				n.side, n.sided = before, word
			}
			n.own = append(n.own, word)
			n.ownLast = true
		}
		before = word
	}
	if len(n.own)+len(n.dense) > 0 {
		n.common = nil
	}
	last := ""
	for at := range eachWord(written) {
		word := written[at.start:at.end]
		if isLetter(word) && standsApart(written, at) {
			if n.lettered = unaccented(fold(last)); n.lettered != "" { // a mark alone is none
				n.letter = word
			}
		}
		last = word
		first, _ := utf8.DecodeRuneInString(word)
		upper := unicode.IsUpper(first)
		n.capital = n.capital || upper
		if at.start > 0 && isNumeral(word) {
			n.numeral = word
		}
		if !upper && (word == n.side || word == n.sided) {
			n.side, n.sided = "", "" // "a new vaccine"
		}
	}
	if strings.Contains(written, "/") {
		n.either = namesOf(strings.Split(written, "/"))
	}
	return n
}

// namesOf takes apart what stands between slashes, if each has a word of its own and they are
// few.
func namesOf(parts []string) []name {
	const most = 4
	if len(parts) > most {
		return nil
	}
	var names []name
	for _, part := range parts {
		n := newName(part, NormalizeName(part))
		if len(n.own)+len(n.dense) == 0 || n.onlyNumbers() {
			return nil
		}
		names = append(names, n)
	}
	return names
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
