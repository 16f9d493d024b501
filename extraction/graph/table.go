package graph

import (
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// backing is what a table or a graph database can hold of a fact's sources.
type backing struct {
	documents []string // each once, in order
	mentions  int      // places that speak of the fact
	quote     string   // the first passage that shows it, "" if none does
}

func backingOf(sources []extraction.Source) backing {
	b := backing{mentions: len(sources), quote: quoteOf(sources), documents: []string{}}
	for _, s := range sources {
		if !slices.Contains(b.documents, s.DocumentID) {
			b.documents = append(b.documents, s.DocumentID)
		}
	}
	return b
}

// finite is a confidence that every format can write, nil for any other.
func finite(confidence *float64) *float64 {
	if confidence == nil || math.IsNaN(*confidence) || math.IsInf(*confidence, 0) {
		return nil
	}
	return confidence
}

// labelOf is a type as the name of a node label or of a relationship in a
// database: letters, digits and underscores only, whoever wrote the type.
func labelOf(typ string) string {
	if label := extraction.NormalizeType(typ); label != "" {
		return label
	}
	return "unknown"
}

// unseen reports whether a character could steer a terminal, turn the writing
// direction or end a line: formats that have escapes write it as one.
func unseen(r rune) bool {
	return unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp)
}

// clean is a text without NUL, which neither XML nor databases take, and in
// valid UTF-8: what it replaces reads as U+FFFD.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}
