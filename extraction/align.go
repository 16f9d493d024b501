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
}

// quote finds where the text says s. The text's own bytes count: an exact
// occurrence first, then one that differs in white space, case, Unicode form
// or typographic marks only, then the same without the marks that models put
// around a quote.
func (a *aligner) quote(s string) (span, bool) {
	s = strings.TrimSpace(s)
	if blank(s) || !utf8.ValidString(s) {
		return span{}, false
	}
	if at, ok := occurrence(a.text, s, false); ok {
		return at, true
	}
	f := fold(s)
	if at, ok := a.inFolded(f); ok {
		return at, true
	}
	if bare := strings.Trim(f, `"'.,;:… `); bare != f && bare != "" {
		return a.inFolded(bare)
	}
	return span{}, false
}

// name finds where the text names something, as words of their own.
func (a *aligner) name(s string) (span, bool) {
	if at, ok := occurrence(a.text, s, true); ok {
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
	at, ok := occurrence(a.folded, f, true)
	if !ok {
		return span{}, false
	}
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
	return span{start, start + len(strings.TrimRightFunc(a.text[start:end], invisible))}, true
}

// tries bounds how many occurrences are looked at for one that stands as words
// of its own, so that a short quote in a long text stays cheap.
const tries = 64

// occurrence finds the first occurrence of s that does not begin or end inside a
// word. If there is none, and words need not be whole, it is the first one.
func occurrence(text, s string, whole bool) (span, bool) {
	var first span
	found := false
	for from, n := 0, 0; n < tries; n++ {
		i := strings.Index(text[from:], s)
		if i < 0 {
			break
		}
		at := span{from + i, from + i + len(s)}
		if !joined(text, at.start) && !joined(text, at.end) {
			return at, true
		}
		if !found {
			first, found = at, true
		}
		_, size := utf8.DecodeRuneInString(text[at.start:])
		from = at.start + size
	}
	return first, found && !whole
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
