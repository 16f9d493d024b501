package cli

import (
	"encoding/json"
	"fmt"
	"io"
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

// Clipped is [Printable] text of at most width characters, for a column of a
// table; what is left out shows as an ellipsis.
func Clipped(text string, width int) string {
	shown := []rune(Printable(text))
	if len(shown) <= width {
		return string(shown)
	}
	return string(shown[:width-1]) + "…"
}

// Count is "1 chunk" or "2 chunks".
func Count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// WriteJSON writes v for a script or a person.
func WriteJSON(out io.Writer, v any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(v)
}
