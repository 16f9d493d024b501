package cli

import (
	"strconv"
	"strings"
	"unicode"
)

// Printable is text as it can be shown on one line of a terminal: a name that
// somebody else chose may hold line breaks or control sequences, and is quoted
// then.
func Printable(text string) string {
	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsGraphic(r) || r == unicode.ReplacementChar }) {
		return strconv.Quote(text)
	}
	return text
}
