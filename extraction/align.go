package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// quote finds where the text says s, in whole words and with a letter or a digit: a
// scrap stands in every text and says nothing. The text's own bytes count: an exact
// occurrence first, then one that differs in white space, case, Unicode form
// or typographic marks only, then the same without the marks that models put
// around a quote, then one that differs in what is no letter, see [loosen],
// and one that leaves something out.
func (t *indexed) quote(s string) (span, bool) {
	s = strings.TrimSpace(s)
	if blank(s) || !utf8.ValidString(s) {
		return span{}, false
	}
	if !saysAnything(s) {
		return span{}, false
	}
	if at, ok := t.occurrence(t.text, s); ok {
		return at, true
	}
	f := fold(s)
	if at, ok := t.inFolded(f); ok {
		return at, true
	}
	if bare := strings.Trim(f, `"'.,;:… `); bare != f && bare != "" {
		if at, ok := t.inFolded(bare); ok {
			return at, true
		}
	}
	if at, ok := t.inLetters(f); ok {
		return at, true
	}
	return t.inParts(f)
}

func (t *indexed) inFolded(f string) (span, bool) {
	if f == "" {
		return span{}, false
	}
	t.fold()
	at, ok := t.occurrence(t.folded, f)
	if !ok {
		return span{}, false
	}
	return t.original(at), true
}

// Occurrences are cheap to look at, and most texts have few. So that a hostile
// answer about a long text stays cheap, an indexed text looks at lookBudget of them, and of words,
// some tens of milliseconds, and then at fewLooks for each search.
const (
	lookBudget = 1 << 20
	fewLooks   = 64
)

// occurrence finds the first occurrence of s that does not begin or end inside a
// word.
func (t *indexed) occurrence(text, s string) (span, bool) {
	for from, n := 0, 0; t.looked < lookBudget || n < fewLooks; n++ {
		i := strings.Index(text[from:], s)
		if i < 0 {
			break
		}
		at := span{from + i, from + i + len(s)}
		if !joined(text, at.start) && !joined(text, at.end) {
			return at, true
		}
		t.looked++
		_, size := utf8.DecodeRuneInString(text[at.start:])
		from = at.start + size
	}
	return span{}, false
}

// joined reports whether an offset lies inside a word or a number: between two letters or
// digits of a script that puts spaces between words, before a mark, or at a dot between
// two digits.
func joined(text string, at int) bool {
	if at == 0 || at == len(text) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[at:])
	if unicode.IsMark(next) || splitsNumber(text, at) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return spacedLetter(before) && spacedLetter(next)
}
