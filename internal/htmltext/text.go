// Package htmltext reduces an HTML page to the text that a reader sees.
package htmltext

import (
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Page is what a reader sees of an HTML page.
type Page struct {
	Title    string // of the page, not part of the text
	Text     string
	Headings []Heading
}

// Heading is a heading and where its text begins in that of the page.
type Heading struct {
	Offset int
	Text   string
}

// Read returns the readable text of an HTML source: markup, scripts, styles and
// other invisible elements are left out, block elements end a line, white space is
// folded as a browser does outside <pre>, control characters are dropped. What the
// attribute hidden or a style makes invisible is read: pages show it later. It never
// fails: broken HTML has text, too, and an element that is never closed hides
// nothing, but for scripts and styles. Offsets into the result are not offsets into
// the source.
func Read(source string) Page { return read(source, false) }

// ReadXHTML is [Read] for XHTML, where <script/> is an element of its own.
func ReadXHTML(source string) Page { return read(source, true) }

func read(source string, xhtml bool) Page {
	var out writer
	var page Page
	var hidden atom.Atom // the invisible element that we are inside, if any
	ends := closings{source: source}
	at, depth, pre, headingFrom := 0, 0, 0, -1
	entitled := false // the token before was <title>
	tokens := html.NewTokenizer(strings.NewReader(source))
	tokens.AllowCDATA(xhtml)
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			page.Text = out.String()
			return page
		}
		at += len(tokens.Raw())
		token := tokens.Token()
		a := token.DataAtom
		opens := kind == html.StartTagToken || kind == html.SelfClosingTagToken && !xhtml && isRaw(a)
		closed := isCode(a) || ends.after(a, at)
		if kind == html.SelfClosingTagToken && xhtml || opens && isRaw(a) && (!closed || a == atom.Noframes) {
			tokens.NextIsNotRawText()
		}
		if entitled && kind == html.TextToken {
			if entitled = false; page.Title == "" && hidden != atom.Svg {
				page.Title = strings.Join(strings.FieldsFunc(token.Data, isGap), " ")
			}
			continue
		}
		entitled = opens && a == atom.Title
		if hidden == atom.Svg && opens && endsSvg(a) {
			hidden = 0
		}
		if hidden != 0 {
			switch {
			case a != hidden:
			case opens:
				depth++
			case kind == html.EndTagToken:
				if depth--; depth == 0 || !closed {
					hidden = 0
				}
			}
			continue
		}
		switch kind {
		case html.TextToken:
			out.text(token.Data, pre > 0)
		case html.StartTagToken, html.SelfClosingTagToken:
			if isHidden(a) && opens && closed {
				hidden, depth = a, 1
				continue
			}
			if a == atom.Pre && opens {
				pre++
			}
			out.boundary(a)
			if isHeading(a) && opens {
				headingFrom = out.Len()
			}
		case html.EndTagToken:
			if a == atom.Pre && pre > 0 {
				pre--
			}
			out.boundary(a)
			if isHeading(a) && headingFrom >= 0 {
				text := out.String()[headingFrom:]
				if heading := strings.TrimSpace(text); heading != "" {
					page.Headings = append(page.Headings, Heading{headingFrom + strings.Index(text, heading), heading})
					out.below = true
				}
				headingFrom = -1
			}
		}
	}
}

// writer holds back white space until something visible follows it.
type writer struct {
	strings.Builder
	pending string
	below   bool // a heading is the last that was written
}

func (w *writer) text(s string, pre bool) {
	s = strings.Map(printable, s)
	if pre {
		w.preformatted(s)
		return
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		w.gap(" ")
		return
	}
	if strings.TrimLeft(s, " \t\r\n\f") != s {
		w.gap(" ")
	}
	w.visible(strings.Join(words, " "))
	if strings.TrimRight(s, " \t\r\n\f") != s {
		w.gap(" ")
	}
}

// preformatted writes white space as it is, but for that at the beginning and at
// the end of everything.
func (w *writer) preformatted(s string) {
	start, end := 0, len(strings.TrimRightFunc(s, unicode.IsSpace))
	if w.Len() == 0 {
		start = len(s) - len(strings.TrimLeftFunc(s, unicode.IsSpace))
	}
	if start < end {
		w.visible(s[start:end])
	}
	if w.Len() > 0 {
		w.pending += s[end:]
	}
}

func (w *writer) visible(s string) {
	if w.Len() > 0 {
		// Below a heading no blank line: the heading stays with its text.
		if w.below && strings.Count(w.pending, "\n") > 1 {
			w.pending = "\n"
		}
		w.WriteString(w.pending)
	}
	w.pending, w.below = "", false
	w.WriteString(s)
}

// gap asks for white space before what comes next; the request with the most
// line ends wins.
func (w *writer) gap(s string) {
	if w.pending == "" || strings.Count(s, "\n") > strings.Count(w.pending, "\n") {
		w.pending = s
	}
}

func (w *writer) boundary(a atom.Atom) {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl,
		atom.Table, atom.Pre, atom.Blockquote, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Figure:
		w.gap("\n\n")
	case atom.Br, atom.Div, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Hr, atom.Figcaption, atom.Option:
		w.gap("\n")
	case atom.Td, atom.Th:
		w.gap(" ")
	}
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
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
