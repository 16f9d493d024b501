// Package htmltext reduces an HTML page to the text that a reader sees.
package htmltext

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Text returns the readable text of an HTML source: markup, scripts, styles and
// other invisible parts are left out, block elements end a line, white space is
// folded as a browser does outside <pre>. It never fails: broken HTML has text
// too. Offsets into the result are not offsets into the source.
func Text(source string) string {
	var out writer
	var hidden atom.Atom // the invisible element that we are inside, if any
	depth, pre := 0, 0
	tokens := html.NewTokenizer(strings.NewReader(source))
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			return strings.TrimSpace(out.String())
		}
		token := tokens.Token()
		if hidden != 0 {
			switch {
			case token.DataAtom != hidden:
			case kind == html.StartTagToken:
				depth++
			case kind == html.EndTagToken:
				if depth--; depth == 0 {
					hidden = 0
				}
			}
			continue
		}
		switch kind {
		case html.TextToken:
			out.text(token.Data, pre > 0)
		case html.StartTagToken, html.SelfClosingTagToken:
			if isHidden(token.DataAtom) && kind == html.StartTagToken {
				hidden, depth = token.DataAtom, 1
				continue
			}
			if token.DataAtom == atom.Pre && kind == html.StartTagToken {
				pre++
			}
			out.boundary(token.DataAtom)
		case html.EndTagToken:
			if token.DataAtom == atom.Pre && pre > 0 {
				pre--
			}
			out.boundary(token.DataAtom)
		}
	}
}

// writer holds back white space until something visible follows it.
type writer struct {
	strings.Builder
	pending string
}

func (w *writer) text(s string, pre bool) {
	if pre {
		w.visible(s)
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

func (w *writer) visible(s string) {
	if w.Len() > 0 {
		w.WriteString(w.pending)
	}
	w.pending = ""
	w.WriteString(s)
}

// gap asks for white space before what comes next; the widest request wins.
func (w *writer) gap(s string) {
	if len(s) > len(w.pending) || w.pending == " " {
		w.pending = s
	}
}

func (w *writer) boundary(a atom.Atom) {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Ul, atom.Ol, atom.Dl,
		atom.Table, atom.Pre, atom.Blockquote, atom.Section, atom.Article, atom.Header, atom.Footer, atom.Main, atom.Nav, atom.Aside, atom.Figure:
		w.gap("\n\n")
	case atom.Br, atom.Div, atom.Li, atom.Dt, atom.Dd, atom.Tr, atom.Hr, atom.Figcaption, atom.Title, atom.Option:
		if w.pending != "\n\n" {
			w.gap("\n")
		}
	case atom.Td, atom.Th:
		if w.pending == "" {
			w.gap(" ")
		}
	}
}

func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Svg, atom.Head:
		return true
	}
	return false
}
