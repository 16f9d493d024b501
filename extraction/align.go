package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// aligner finds quotes in one text. It is not safe for concurrent use.
type aligner struct {
	text string

	// Its folded form and where each byte of that comes from, made when the
	// first quote needs it.
	folded string
	from   []int32

	letters     string  // its loose form, see [loosen], made when the first quote needs it
	lettersFrom []int32 // and where each byte of that comes from in folded

	looked int // at occurrences so far
}

// quote finds where the text says s, in whole words and with a letter or a digit: a
// scrap stands in every text and says nothing. The text's own bytes count: an exact
// occurrence first, then one that differs in white space, case, Unicode form
// or typographic marks only, then the same without the marks that models put
// around a quote, then one that differs in what is no letter, see [loosen].
func (a *aligner) quote(s string) (span, bool) {
	s = strings.TrimSpace(s)
	if blank(s) || !utf8.ValidString(s) {
		return span{}, false
	}
	if !saysAnything(s) {
		return span{}, false
	}
	if at, ok := a.occurrence(a.text, s); ok {
		return at, true
	}
	f := fold(s)
	if at, ok := a.inFolded(f); ok {
		return at, true
	}
	if bare := strings.Trim(f, `"'.,;:… `); bare != f && bare != "" {
		if at, ok := a.inFolded(bare); ok {
			return at, true
		}
	}
	return a.inLetters(f)
}

// name finds where the text names something, as words of their own.
func (a *aligner) name(s string) (span, bool) {
	if at, ok := a.occurrence(a.text, s); ok {
		return at, true
	}
	return a.inFolded(fold(s))
}

func (a *aligner) inFolded(f string) (span, bool) {
	if f == "" {
		return span{}, false
	}
	if a.from == nil {
		a.folded, a.from = foldMapped(a.text)
	}
	at, ok := a.occurrence(a.folded, f)
	if !ok {
		return span{}, false
	}
	return a.original(at), true
}

// original is where a place in the folded form comes from.
func (a *aligner) original(at span) span {
	// The match ends where something else begins that is visible, less the
	// invisible that lies between.
	last := a.from[at.end-1]
	next := at.end
	for next < len(a.from) && a.from[next] == last {
		next++
	}
	end := len(a.text)
	if next < len(a.from) {
		end = int(a.from[next])
	}
	start := int(a.from[at.start])
	return span{start, start + len(strings.TrimRightFunc(a.text[start:end], invisible))}
}

// Occurrences are cheap to look at, and most texts have few. So that a hostile
// answer about a long text stays cheap, an aligner looks at lookBudget of them, some
// tens of milliseconds, and then at fewLooks for each search.
const (
	lookBudget = 1 << 20
	fewLooks   = 64
)

// occurrence finds the first occurrence of s that does not begin or end inside a
// word.
func (a *aligner) occurrence(text, s string) (span, bool) {
	for from, n := 0, 0; a.looked < lookBudget || n < fewLooks; n++ {
		i := strings.Index(text[from:], s)
		if i < 0 {
			break
		}
		at := span{from + i, from + i + len(s)}
		if !joined(text, at.start) && !joined(text, at.end) {
			return at, true
		}
		a.looked++
		_, size := utf8.DecodeRuneInString(text[at.start:])
		from = at.start + size
	}
	return span{}, false
}

// joined reports whether an offset lies inside a word: between two letters or
// digits of a script that puts spaces between words, or before a mark.
func joined(text string, at int) bool {
	if at == 0 || at == len(text) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[at:])
	if unicode.IsMark(next) {
		return true
	}
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	return spacedLetter(before) && spacedLetter(next)
}

func spacedLetter(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return (unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}
