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
// chunk begins, covered where its new text begins.
type window struct {
	text           string
	blocks         *blocks
	start, covered int
	lo, hi         int
	inside         *block // the block on both sides of hi, nil if there is none
}

const (
	// ahead is how many bytes the segmentation rules see beyond the window:
	// whether a sentence ends depends on how the next one begins.
	ahead = 64
	// near is how many bytes before a point are segmented to find a boundary
	// close to it.
	near = 256
)

// cut returns the best place to end a chunk.
func (w window) cut() int {
	// White space after a boundary is not part of the chunk, so a boundary may
	// have as much of it as there is.
	end := skipSpace(w.text, w.hi)
	if at, ok := w.lastEdge(end); ok {
		return at
	}
	if at, ok := w.lastLineInside(end); ok {
		return at
	}
	at, ok := w.lastSentence(end)
	if !ok {
		at = w.lo + strings.LastIndexByte(w.text[w.lo:end], '\n')
		ok = at > w.lo
	}
	if !ok {
		at = lastSpace(w.text, w.lo, end)
		ok = at > w.lo
	}
	if ok {
		if above := trimSpace(w.text, w.lo, max(w.lo, w.blocks.headingBefore(at))); above > w.lo {
			return above
		}
		return at
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

// lastEdge finds the last place between two blocks: a blank line, or where a
// heading, a table or a fence begins or ends. A place below a heading is none:
// the heading belongs to what follows.
func (w window) lastEdge(end int) (int, bool) {
	best := w.lastParagraph(end)
	for _, b := range w.blocks.list {
		if b.start > w.lo && b.start <= end {
			best = max(best, w.edge(b.start))
		}
		if b.kind != heading && b.end > w.lo && b.end <= end {
			best = max(best, w.edge(b.end))
		}
	}
	return best, best > w.lo
}

// edge is the end of the text before offset and before the headings there.
func (w window) edge(offset int) int {
	return trimSpace(w.text, w.start, max(w.start, w.blocks.headingBefore(offset)))
}

// lastParagraph finds the last blank line before end that is not inside a block.
func (w window) lastParagraph(end int) int {
	for end > w.lo {
		nl := strings.LastIndexByte(w.text[w.lo:end], '\n')
		if nl < 0 {
			break
		}
		end = w.lo + nl
		above := strings.TrimRight(w.text[w.lo:end], " \t\r")
		if !strings.HasSuffix(above, "\n") {
			continue
		}
		at := w.lo + len(strings.TrimRight(above, " \t\r\n"))
		if b, ok := w.blocks.holding(at); ok {
			end = b.start
		} else if end = w.blocks.headingBefore(at); end == at {
			return at
		}
	}
	return w.lo
}

// lastLineInside finds the last place to cut the block around the end of the
// window: a blank line in code, else the end of a line, or of a row.
func (w window) lastLineInside(end int) (int, bool) {
	if w.inside == nil {
		return 0, false
	}
	lo, body := max(w.lo, w.inside.start), w.text[:end]
	if w.inside.kind == table {
		lo = max(lo, w.inside.body)
	} else if i := lastBlankLine(body[min(lo, end):]); i > 0 {
		return lo + i, true
	}
	i := strings.LastIndexByte(body[min(lo, end):], '\n')
	return lo + i, i > 0
}

// lastBlankLine returns the end of what stands above the last blank line of
// text, 0 if there is none.
func lastBlankLine(text string) int {
	for {
		i := strings.LastIndexByte(text, '\n')
		if i < 0 {
			return 0
		}
		above := strings.TrimRight(text[:i], " \t\r")
		if strings.HasSuffix(above, "\n") {
			return len(strings.TrimRight(above, " \t\r\n"))
		}
		text = text[:i]
	}
}

// first returns the best place to begin: the earliest line of a block, else
// sentence, else word, else grapheme cluster, else the text after the window.
func (w window) first() int {
	if b, ok := w.blocks.holding(w.lo); ok {
		at := b.end
		if i := strings.IndexByte(w.text[w.lo:w.hi], '\n'); i >= 0 && b.end >= w.hi {
			at = w.lo + i
		}
		return skipSpace(w.text, min(at, w.hi))
	}
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
// another of its kind. It need not know every such rune: those of the scripts
// that write long runs without a space are what counts.
func standsAlone(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r > ' '
	case 0xC0 <= r && r <= 0x24F, // Latin
		0x370 <= r && r <= 0x587,   // Greek, Cyrillic, Armenian
		0x5D0 <= r && r <= 0x64A,   // Hebrew, Arabic
		0x904 <= r && r <= 0x939,   // Devanagari
		0x985 <= r && r <= 0x9B9,   // Bengali
		0xB85 <= r && r <= 0xBB9,   // Tamil
		0xE01 <= r && r <= 0xE30,   // Thai
		0xE81 <= r && r <= 0xEB0,   // Lao
		0x1000 <= r && r <= 0x1021, // Burmese
		0x10A0 <= r && r <= 0x10FF, // Georgian
		0x1200 <= r && r <= 0x135A, // Ethiopic
		0x1780 <= r && r <= 0x17A2, // Khmer
		0x3041 <= r && r <= 0x30FA, // kana
		0x3400 <= r && r <= 0x9FFF, // ideographs
		0xAC00 <= r && r <= 0xD7A3, // Hangul
		0x20000 <= r && r <= 0x3FFFF:
		return unicode.IsLetter(r)
	}
	return false
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

// lastSentence finds the last end of a sentence before end, which is where white
// space after the window ends.
func (w window) lastSentence(end int) (int, bool) {
	mark := lastTerminal(w.text, w.lo, end)
	if mark < 0 {
		return 0, false
	}
	if at := w.lastSentenceFrom(max(w.lo, mark-near), end); at > w.lo {
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

func isCloser(r rune) bool {
	return r == '"' || r == '\'' || unicode.In(r, unicode.Pe, unicode.Pf, unicode.Pi)
}
