package extraction

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentions reports whether a passage speaks of what has this name: by one of its words
// that are its own, as it is or inflected ("Lovelace's" for "Ada Lovelace"), by part of
// a name in a script without spaces or what it is shortened to, or by its initials ("UN"
// for "United Nations", and the other way round). A name that has no word of its own
// ("World Bank") must be there as a whole, with or without a legal form, or with all of
// its words. Of several names with a slash between, one is enough. Its numbers must be
// there, and no other letter in the place of one that tells it apart.
func (t *indexed) mentions(p passage, n *name) bool {
	for i := range n.either {
		if t.mentions(p, &n.either[i]) {
			return true
		}
	}
	if p.start == p.end || !t.hasNumbers(p, n) || t.hasOtherLetter(p, n) {
		return false
	}
	if t.hasOwn(p, n) || n.onlyNumbers() {
		return true
	}
	said := t.folded[p.start:p.end]
	for _, part := range n.dense {
		if sharesPart(said, part) {
			return true
		}
	}
	for _, short := range n.short {
		if strings.Contains(said, short) {
			return true
		}
	}
	if len(n.own)+len(n.dense) == 0 && (t.stands(said, n.folded) || t.stands(said, withoutForm(n.folded)) || t.hasAll(p, n.common)) {
		return true
	}
	return t.abbreviates(p, n)
}

// hasOwn reports whether a passage has an own word of a name where it is not another's:
// "Charles" of "Charles Babbage" does not speak of Charles Manson.
func (t *indexed) hasOwn(p passage, n *name) bool {
	for at := p.words.start; at < p.words.end; at++ {
		i := t.oneOf(at, n.own)
		if i < 0 || !t.asName(at, n, n.own[i]) || !t.onItsSide(at, n, n.own[i]) || t.countsOn(at, n) {
			continue
		}
		if i == len(n.own)-1 && n.ownLast || !t.goesOn(at, n) {
			return true
		}
	}
	return false
}

// onItsSide reports whether a word of the text, which is one of a name's, has in front of it
// what tells the name from others of that word: "North" in "North Korea", also in "North and
// South Korea". A name that has nothing there is another one behind "New".
func (t *indexed) onItsSide(at int, n *name, word string) bool {
	if word != n.sided {
		return word != n.words[0] || !t.isRenewed(at)
	}
	for i := at - 1; i >= 0 && !t.words[i+1].opens; i-- {
		before := t.plain(&t.words[i])
		if before == n.side {
			return true
		}
		if before != "and" && before != "or" && !isSide(before) {
			break
		}
	}
	return false
}

// isRenewed reports whether "New" stands in front of a word, with a capital that no beginning
// of a sentence accounts for.
func (t *indexed) isRenewed(at int) bool {
	if at == 0 || at == len(t.words) || t.words[at].opens {
		return false
	}
	before := &t.words[at-1]
	return t.written(before) == "new" && t.isCapital(before) && !before.opens
}

// goesOn reports whether the text goes on behind a word with a capitalised one, as a
// surname follows a given name, that begins like none of this name.
func (t *indexed) goesOn(at int, n *name) bool {
	if at+1 == len(t.words) {
		return false
	}
	w, next := &t.words[at], &t.words[at+1]
	if next.start != w.end+1 || t.folded[w.end] != ' ' || next.opens {
		return false
	}
	first, _ := utf8.DecodeRuneInString(t.text[next.at:])
	plain := t.plain(next)
	return unicode.IsUpper(first) && !function(plain) && !generic(plain) && !t.inHeadline(at) && !slices.ContainsFunc(n.own, func(word string) bool {
		return strings.HasPrefix(plain, word[:skipRunes(word, 0, 3)])
	})
}

// inHeadline reports whether a word stands in a row of five capitalised words or more with no
// mark between, where capitals say nothing: "Xi Meets Putin In Moscow".
func (t *indexed) inHeadline(at int) bool {
	const row = 5
	first, last := at, at
	for last+1 < len(t.words) && last-at < row && t.capitalsGoOn(last) {
		last++
	}
	for first > 0 && at-first < row && t.capitalsGoOn(first-1) {
		first--
	}
	return last-first+1 >= row
}

// capitalsGoOn reports whether a word and the next have capitals, with one space between, in
// one sentence.
func (t *indexed) capitalsGoOn(at int) bool {
	w, next := &t.words[at], &t.words[at+1]
	return next.start == w.end+1 && t.folded[w.end] == ' ' && !next.opens && t.isCapital(w) && t.isCapital(next)
}

func (t *indexed) isCapital(w *word) bool {
	first, _ := utf8.DecodeRuneInString(t.text[w.at:])
	return unicode.IsUpper(first)
}

// countsOn reports whether a name has a Roman numeral and behind a word of the text stands
// another one.
func (t *indexed) countsOn(at int, n *name) bool {
	if n.numeral == "" || at+1 == len(t.words) {
		return false
	}
	next := &t.words[at+1]
	where := t.original(span{int(next.start), int(next.end)})
	written := t.text[where.start:where.end]
	return isNumeral(written) && written != n.numeral
}

// stands reports whether s stands in a part of the text as words of their own.
func (t *indexed) stands(part, s string) bool {
	_, found := t.occurrence(part, s)
	return found
}

// isForm reports whether a word of the text is a given one, or looks like a form of it.
func (t *indexed) isForm(at int, word string) bool {
	w := &t.words[at]
	if !w.spaced {
		return false
	}
	plain := t.plain(w)
	if plain == word {
		return true
	}
	if !mayBeForm(plain, word) {
		return false
	}
	if rest, ok := strings.CutPrefix(word, plain); ok && t.follows(at, rest) {
		return true
	}
	t.looked++
	return t.looked < lookBudget && isForm(plain, word, w.bare > 0)
}

// follows reports whether behind a word, one character further, stands a given one: "COVID-19"
// is "COVID19".
func (t *indexed) follows(at int, word string) bool {
	return at+1 < len(t.words) && t.words[at+1].start == t.words[at].end+1 && t.plain(&t.words[at+1]) == word
}

// oneOf is the first of some words that a word of the text is or looks like a form of, or
// -1.
func (t *indexed) oneOf(at int, words []string) int {
	for i, word := range words {
		if t.isForm(at, word) {
			return i
		}
	}
	return -1
}

func (t *indexed) hasAll(p passage, words []string) bool {
	for _, word := range words {
		at := p.words.start
		for at < p.words.end && !t.isForm(at, word) {
			at++
		}
		if at == p.words.end {
			return false
		}
	}
	return len(words) > 0
}

// asName reports whether a word of the text that is one of a name's, or a form of it, is
// written as a name. If the name has capitals, it must have one where it is the whole name,
// so that "she will" is no Will, and where it has another form. A text of several sentences
// without capitals, or a script without, tells nothing.
func (t *indexed) asName(at int, n *name, word string) bool {
	w := &t.words[at]
	if plain := t.plain(w); !n.capital || len(n.words) > 1 && (plain == word || isPlural(plain, word)) {
		return true
	}
	first, _ := utf8.DecodeRuneInString(t.text[w.at:])
	return !unicode.IsLower(first) || t.lowerOnly()
}

// lowerOnly reports whether the text has several sentences and no capital.
func (t *indexed) lowerOnly() bool {
	if t.capitals == 0 {
		t.capitals = 1
		sentences := 0
		for i := range t.words {
			if t.words[i].opens {
				sentences++
			}
		}
		if sentences > 1 && !strings.ContainsFunc(t.text, unicode.IsUpper) {
			t.capitals = -1
		}
	}
	return t.capitals < 0
}

// spelt finds where the text has all words of a name, one behind the other, with other
// accents or marks between them, or the last in the plural; or in whatever form, if it is of
// a script where forms of a name look like no other name.
func (t *indexed) spelt(n *name) (span, bool) {
	if len(n.own) == 0 || len(n.dense) > 0 {
		return span{}, false
	}
	t.split()
	for first := 0; first+len(n.words) <= len(t.words); first++ {
		same := 0
		for same < len(n.words) && t.isSpelt(first+same, n, same) && (same == 0 || !t.words[first+same].opens) {
			same++
		}
		if same == len(n.words) && (n.words[0] == n.sided || !t.isRenewed(first)) && !joined(t.folded, int(t.words[first].start)) && !joined(t.folded, int(t.words[first+same-1].end)) {
			return t.original(t.between(first, first+same).span), true
		}
	}
	return span{}, false
}

func (t *indexed) isSpelt(at int, n *name, i int) bool {
	w, word := &t.words[at], n.words[i]
	plain := t.plain(w)
	return w.spaced && (plain == word || i == len(n.words)-1 && isPlural(plain, word) || !isLatin(word) && t.isForm(at, word)) && t.asName(at, n, word)
}

// sharesPart reports whether a text has enough of a name that is written without spaces for
// no other to be meant: its beginning, two thirds of it, and two characters at least. What
// many names begin with, a country or a city or "university", is not enough. Of three
// characters it may be the last two, a given name.
func sharesPart(text, name string) bool {
	runes := utf8.RuneCountInString(name)
	if runes <= 2 {
		return strings.Contains(text, name)
	}
	if strings.Contains(text, name[:skipRunes(name, 0, (2*runes+2)/3)]) {
		return true
	}
	return runes == 3 && strings.Contains(text, name[skipRunes(name, 0, 1):])
}
