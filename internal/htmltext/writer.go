package htmltext

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/weirkeeper/weirkeeper/internal/origin"
)

// writer holds back white space until something visible follows it.
type writer struct {
	strings.Builder
	origin  origin.Map
	pending string
}

func (w *writer) text(r run, pre bool) {
	if pre {
		w.preformatted(r)
		return
	}
	s := r.text
	start, end := nextWord(s, 0)
	if start == end || strings.TrimLeft(s, " \t\r\n\f") != s {
		w.gap(" ")
	}
	for start < end {
		w.visible(r, start, end)
		if start, end = nextWord(s, end); start < end {
			w.gap(" ")
		}
	}
	if strings.TrimRight(s, " \t\r\n\f") != s {
		w.gap(" ")
	}
}

// nextWord finds the next word in s from an offset, an empty one if there is none.
func nextWord(s string, at int) (start, end int) {
	start = -1
	for i, c := range s[at:] {
		if unicode.IsSpace(c) {
			if start >= 0 {
				return start, at + i
			}
		} else if start < 0 {
			start = at + i
		}
	}
	if start < 0 {
		return len(s), len(s)
	}
	return start, len(s)
}

// preformatted writes white space as it is, but for that at the beginning and at
// the end of everything.
func (w *writer) preformatted(r run) {
	s := r.text
	start, end := 0, len(strings.TrimRightFunc(s, unicode.IsSpace))
	if w.Len() == 0 {
		start = len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	}
	if start < end {
		w.visible(r, start, end)
	}
	if w.Len() > 0 {
		w.pending += s[end:]
	}
}

// visible writes r.text[start:end].
func (w *writer) visible(r run, start, end int) {
	if w.Len() > 0 {
		w.WriteString(w.pending)
	}
	w.pending = ""
	r.place(&w.origin, w.Len(), start, end)
	w.WriteString(r.text[start:end])
}

// gap asks for white space before what comes next; the request with the most
// line ends wins.
func (w *writer) gap(s string) {
	if w.pending == "" || strings.Count(s, "\n") > strings.Count(w.pending, "\n") {
		w.pending = s
	}
}

// boundary asks for the white space that an element puts around itself: what HTML's
// own style sheet makes a block is apart from what is around it.
func (w *writer) boundary(a atom.Atom) {
	switch a {
	case atom.Br, atom.Div, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Optgroup, atom.Option:
		w.gap("\n")
	case atom.Td, atom.Th, atom.Button, atom.Select, atom.Input, atom.Marquee,
		atom.Textarea, atom.Audio, atom.Canvas, atom.Iframe, atom.Object, atom.Video: // boxes in the line
		w.gap(" ")
	case atom.Caption, atom.Legend:
		w.gap("\n\n")
	default:
		if endsParagraph(a) {
			w.gap("\n\n")
		}
	}
}

// printable drops what is no text: U+0000 could not even be sent.
func printable(r rune) rune {
	switch {
	case r == '\t' || r == '\n' || r == '\f':
		return r
	case r == '\r':
		return '\n'
	case r < ' ' || 0x7F <= r && r < 0xA0 && r != 0x85:
		return -1
	}
	return r
}

func isGap(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// visibleBytes is how much there is to read in a text.
func visibleBytes(s string) (n int) {
	for _, c := range s {
		if !isGap(c) {
			n += utf8.RuneLen(c)
		}
	}
	return n
}
