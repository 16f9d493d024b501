package graph

import (
	"fmt"
	"strings"
	"unicode"
)

// How much of a text is shown where a whole one would hide the rest, in runes.
const (
	shownName  = 80
	shownQuote = 120

	mostMarks = 8 // on a letter; Tibetan and Hebrew have up to six
)

const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// visible makes a text fit to be looked at: on one line, with the characters
// that steer a terminal or turn the writing direction spelt out, without the
// invisible ones, and cut after a number of runes. Joiners stay: Persian and
// emoji need them. Of the marks on a letter it shows the first few: hundreds would
// cover what is around.
func visible(s string, limit int) string {
	var b strings.Builder
	runes, marks, space := 0, 0, false
	for _, r := range s {
		if !unicode.IsMark(r) {
			marks = 0
		} else if marks++; marks > mostMarks {
			continue
		}
		if unicode.IsSpace(r) {
			space = runes > 0
			continue
		}
		piece := string(r)
		switch {
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r):
			piece = fmt.Sprintf("\\u{%x}", r)
		case unicode.Is(unicode.Cf, r) && r != zeroWidthJoiner && r != zeroWidthNonJoiner:
			continue
		}
		if runes >= limit {
			b.WriteRune('…')
			break
		}
		if space {
			b.WriteByte(' ')
			runes++
			space = false
		}
		b.WriteString(piece)
		runes++
	}
	return b.String()
}
