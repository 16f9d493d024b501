package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentions reports whether a passage speaks of what has this name: by one of its words
// that are its own, as it is or inflected ("Lovelace's" for "Ada Lovelace"), by part of
// a name in a script without spaces, or by its initials ("UN" for "United Nations", and
// the other way round). A name that has no word of its own ("World Bank") must be there
// as a whole, with or without a legal form, or with all of its words.
func (t *indexed) mentions(p passage, n *name) bool {
	if p.start == p.end {
		return false
	}
	for _, word := range n.own {
		if t.has(p, word) {
			return true
		}
	}
	said := t.folded[p.start:p.end]
	for _, part := range n.dense {
		if sharesHalf(said, part) {
			return true
		}
	}
	if len(n.own)+len(n.dense) == 0 && (t.stands(said, n.folded) || t.stands(said, withoutForm(n.folded)) || t.hasAll(p, n.common)) {
		return true
	}
	return t.abbreviates(p, n)
}

// stands reports whether s stands in a part of the text as words of their own.
func (t *indexed) stands(part, s string) bool {
	_, found := t.occurrence(part, s)
	return found
}

// has reports whether a passage has a word, or what looks like another form of it.
func (t *indexed) has(p passage, word string) bool {
	words := t.in(p)
	for i := range words {
		w := &words[i]
		if !w.spaced {
			continue
		}
		plain := t.plain(w)
		if plain == word {
			return true
		}
		if t.looked++; t.looked < lookBudget && isForm(plain, word) {
			return true
		}
	}
	return false
}

func (t *indexed) hasAll(p passage, words []string) bool {
	for _, word := range words {
		if !t.has(p, word) {
			return false
		}
	}
	return len(words) > 0
}

// sharesHalf reports whether a text has half of a name that is written without
// spaces, and two characters at least.
func sharesHalf(text, name string) bool {
	half := max(2, (utf8.RuneCountInString(name)+1)/2)
	end := skipRunes(name, 0, half)
	if utf8.RuneCountInString(name) < half {
		return strings.Contains(text, name) // of one character
	}
	for start := 0; ; {
		if strings.Contains(text, name[start:end]) {
			return true
		}
		if end == len(name) {
			return false
		}
		start, end = skipRunes(name, start, 1), skipRunes(name, end, 1)
	}
}

// abbreviates reports whether the passage has the initials of the name, in capitals, or
// the name is the initials of words that follow each other in the passage: of
// capitalised ones, and if it has three letters, of any.
func (t *indexed) abbreviates(p passage, n *name) bool {
	switch {
	case n.initials != "":
		at := t.original(p.span)
		said := t.text[at.start:at.end]
		return t.stands(said, n.initials) || t.stands(said, n.dotted)
	case n.capitals == "":
		return false
	}
	return strings.Contains(t.initials(p, false), n.capitals) ||
		utf8.RuneCountInString(n.capitals) > 2 && strings.Contains(t.initials(p, true), n.capitals)
}

// initials are the capitals that words of a passage begin with, or the first letters of
// all words as capitals, and a space for other words that mean something.
func (t *indexed) initials(p passage, all bool) string {
	var b strings.Builder
	for _, w := range t.in(p) {
		first, _ := utf8.DecodeRuneInString(t.text[t.from[w.start]:])
		if all {
			first = unicode.ToUpper(first)
		}
		if unicode.IsUpper(first) {
			b.WriteRune(first)
		} else if !function(t.written(&w)) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
