package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/clipperhouse/uax29/v2/sentences"
	"github.com/clipperhouse/uax29/v2/words"
)

// window is where a cut may fall: after lo, at most at hi. start is where the
// chunk begins, covered where the chunk before ended.
type window struct {
	text           string
	start, covered int
	lo, hi         int
}

const (
	// ahead is how many bytes the segmentation rules see beyond the window:
	// whether a sentence ends depends on how the next one begins.
	ahead = 64
	// near is how many bytes before a point are segmented to find a boundary
	// close to it.
	near = 256
	// longestAbbreviation is more bytes than any abbreviation has.
	longestAbbreviation = 16
)

// cut returns the best place to end a chunk.
func (w window) cut() int {
	// White space after a boundary is not part of the chunk, so a boundary may
	// have as much of it as there is.
	end := skipSpace(w.text, w.hi)
	if at, ok := lastParagraph(w.text, w.lo, end); ok {
		return at
	}
	if at, ok := w.lastSentence(end); ok {
		return at
	}
	if i := strings.LastIndexByte(w.text[w.lo:end], '\n'); i > 0 {
		return w.lo + i
	}
	if i := strings.LastIndexFunc(w.text[w.lo:end], unicode.IsSpace); i > 0 {
		return w.lo + i
	}
	from := w.safe(w.hi - near)
	if at := last(words.FromString(w.ahead(from)), from, w.hi); at > w.lo {
		return at
	}
	from = w.safe(w.hi)
	if at := last(graphemes.FromString(w.ahead(from)), from, w.hi); at > w.covered {
		return at
	}
	return w.hi // one grapheme cluster larger than a chunk
}

// first returns the best place to begin: the earliest sentence, else word, else
// grapheme cluster, else the text after the window.
func (w window) first() int {
	it := sentences.FromString(w.ahead(w.lo))
	for it.Next() {
		at := w.lo + it.End()
		if at >= w.hi {
			break
		}
		if at = skipSpace(w.text, at); at < w.hi && endsSentence(w.text[w.start:at]) {
			return at
		}
	}
	if i := strings.IndexFunc(w.text[w.lo:w.hi], unicode.IsSpace); i >= 0 {
		return skipSpace(w.text, w.lo+i)
	}
	from := w.safe(w.lo - near)
	if at := next(words.FromString(w.ahead(from)), from, w.lo); at < w.hi {
		return at
	}
	from = w.safe(w.lo)
	if at := next(graphemes.FromString(w.ahead(from)), from, w.lo); at < w.hi {
		return at
	}
	return skipSpace(w.text, w.hi)
}

// safe is the last offset at or before one that is a grapheme cluster boundary
// whatever else the text holds, so that segmentation may begin there.
func (w window) safe(from int) int {
	from = max(from, w.start)
	for from > w.start && !utf8.RuneStart(w.text[from]) {
		from--
	}
	r, _ := utf8.DecodeRuneInString(w.text[from:])
	for after := standsAlone(r); from > w.start; {
		r, n := utf8.DecodeLastRuneInString(w.text[:from])
		before := standsAlone(r)
		if before && after {
			break
		}
		from, after = from-n, before
	}
	return from
}

// standsAlone reports whether a rune never forms a grapheme cluster with
// another of its kind.
func standsAlone(r rune) bool {
	if r < utf8.RuneSelf {
		return r > ' '
	}
	return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Cyrillic) && unicode.IsLetter(r)
}

// ahead is the text from an offset to a little beyond the window.
func (w window) ahead(from int) string {
	end := min(w.hi+ahead, len(w.text))
	for end < len(w.text) && !utf8.RuneStart(w.text[end]) {
		end++
	}
	return w.text[from:end]
}

// segments is an iterator over pieces of a text.
type segments interface {
	Next() bool
	End() int
}

// last is the last boundary at or before limit; the text begins at base.
func last(it segments, base, limit int) int {
	at := base
	for it.Next() && base+it.End() <= limit {
		at = base + it.End()
	}
	return at
}

// next is the first boundary at or after floor; the text begins at base.
func next(it segments, base, floor int) int {
	at := base
	for at < floor && it.Next() {
		at = base + it.End()
	}
	return at
}

// lastParagraph finds the last blank line in text[lo:end]. A blank line after a
// Markdown heading does not count: the heading belongs to what follows.
func lastParagraph(text string, lo, end int) (int, bool) {
	for end > lo {
		nl := strings.LastIndexByte(text[lo:end], '\n')
		if nl < 0 {
			return 0, false
		}
		end = lo + nl
		above := strings.TrimRight(text[lo:end], " \t\r")
		if !strings.HasSuffix(above, "\n") {
			continue
		}
		above = strings.TrimRight(above, " \t\r\n")
		line := above[strings.LastIndexByte(above, '\n')+1:]
		if len(above) > 0 && !strings.HasPrefix(line, "#") {
			return lo + len(above), true
		}
		end = lo + len(above)
	}
	return 0, false
}

// lastSentence finds the last end of a sentence before end, which is where white
// space after the window ends.
func (w window) lastSentence(end int) (int, bool) {
	mark := strings.LastIndexFunc(w.text[w.lo:end], isTerminal)
	if mark < 0 {
		return 0, false
	}
	if at := w.lastSentenceFrom(max(w.lo, w.lo+mark-near), end); at > w.lo {
		return at, true
	}
	at := w.lastSentenceFrom(w.lo, end)
	return at, at > w.lo
}

func (w window) lastSentenceFrom(from, end int) int {
	for from < end && !utf8.RuneStart(w.text[from]) {
		from++
	}
	w.hi = end
	at := 0
	it := sentences.FromString(w.ahead(from))
	for it.Next() && from+it.End() <= end {
		if b := from + it.End(); endsSentence(w.text[w.start:b]) {
			at = b
		}
	}
	return at
}

// endsSentence reports whether a piece that ends at a Unicode sentence boundary
// ends like a sentence. The boundaries alone would also cut at every line end
// of hard-wrapped text and after every "Dr.".
func endsSentence(piece string) bool {
	piece = strings.TrimRightFunc(piece, unicode.IsSpace)
	piece = strings.TrimRightFunc(piece, isCloser)
	mark, n := utf8.DecodeLastRuneInString(piece)
	if !isTerminal(mark) {
		return false
	}
	return mark != '.' || !endsAbbreviated(piece[:len(piece)-n])
}

func isTerminal(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '.' || r == '!' || r == '?'
	}
	if 'ぁ' <= r && r <= '\u9fff' { // kana and ideographs, of which dense text has many
		return false
	}
	return unicode.Is(unicode.Sentence_Terminal, r)
}

func isCloser(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Pi)
}

// endsAbbreviated reports whether the full stop after text marks an
// abbreviation. A wrong yes costs a place to cut, a wrong no cuts a name.
func endsAbbreviated(text string) bool {
	text = text[max(0, len(text)-longestAbbreviation):]
	word := text[strings.LastIndexFunc(text, func(r rune) bool {
		return r != '.' && !unicode.IsLetter(r)
	})+1:]
	if i := strings.LastIndexByte(word, '.'); i >= 0 && len(word)-i <= 2 {
		return true // "e.g", "U.S", "J.R.R"
	}
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r) // an initial
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "rev", "hon", "gen", "col", "capt", "cpt", "lt", "sgt", "gov", "sen", "rep",
		"vs", "etc", "cf", "al", "fig", "figs", "eq", "eqs", "sec", "ch", "vol", "no", "nos", "art", "ed", "eds", "pp", "ca", "approx",
		"inc", "ltd", "co", "corp", "dept", "est", "univ", "mt", "ave", "blvd",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"bzw", "hr", "nr", "str", "usw", "vgl", "mme", "mlle", "sra", "núm", "pág":
		return true
	}
	return false
}
