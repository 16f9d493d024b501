package extraction

import (
	"strings"
	"unicode"
)

// Align is the place in a text that a quote is found at.
func Align(text, quote string) (start, end int, found bool) {
	t := indexed{text: text}
	at, found := t.quote(quote)
	return at.start, at.end, found
}

// Scrap reports whether a piece out of a text can be no quote of it.
func Scrap(before, piece, after string) bool {
	text := before + piece + after
	start := len(before) + len(piece) - len(strings.TrimLeftFunc(piece, unicode.IsSpace))
	end := len(before) + len(strings.TrimRightFunc(piece, unicode.IsSpace))
	return blank(piece) || !saysAnything(piece) || joined(text, start) || joined(text, end)
}

// Mentions tells of a passage whether it speaks of a name.
var Mentions = func(text, name string) bool {
	t, n := indexed{text: text}, newName(name, NormalizeName(name))
	return t.mentions(t.passage(span{0, len(text)}), &n)
}

// Looks is how many words and occurrences grounding looks at more closely.
func Looks(text string, d Draft) int {
	g := newGrounder("acme", text, d)
	g.ground(d)
	return g.text.looked
}
