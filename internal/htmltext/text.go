// Package htmltext reduces an HTML page to the text that a reader sees.
package htmltext

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/weirkeeper/weirkeeper/internal/origin"
)

// Page is what a reader sees of an HTML page.
type Page struct {
	Title    string // of the page, not part of the text
	Text     string
	Headings []Heading
	Origin   *origin.Map // where in the source the text stands
	Hidden   int         // bytes of text that attributes hide, without white space
}

// Heading is a heading and where its text begins in that of the page.
type Heading struct {
	Offset int
	Text   string
}

// Read returns the readable text of an HTML source: markup, scripts, styles and
// other invisible elements are left out, and so are drawings (<svg>) with their
// words. Block elements end a line, and headings and paragraphs have a blank line
// around them; white space is folded as a browser does outside <pre>, control
// characters are dropped. So is a <dialog> that is not open, and what an element's own
// attribute hidden or style (display: none, visibility: hidden) hides, but for
// hidden="until-found" and a body that hides itself. What style sheets and scripts do
// is not known, and aria-hidden hides nothing from a reader's eye.
//
// It never fails: broken HTML has text, too, and an invisible element that is never
// closed hides nothing, but for scripts and styles. Offsets into the result are not
// offsets into the source: see [Page.Origin].
func Read(source string) Page { return read(source, false) }

// ReadXHTML is [Read] for XHTML, where <script/> is an element of its own.
func ReadXHTML(source string) Page { return read(source, true) }

func read(source string, xhtml bool) Page {
	var page Page
	var hidden atom.Atom // the invisible element that we are inside, if any
	w := walk{page: &page, open: openElements{xhtml: xhtml}, headingFrom: -1}
	ends := closings{source: source}
	at, depth := 0, 0
	entitled := false // the token before was <title>
	tokens := html.NewTokenizer(strings.NewReader(source))
	tokens.AllowCDATA(xhtml)
	for {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			page.Text, page.Origin = w.out.String(), &w.out.origin
			return page
		}
		begin := at
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
		switch {
		case kind == html.TextToken:
			w.text(source[begin:at], token.Data, begin)
		case opens && isHidden(a) && closed:
			hidden, depth = a, 1
			w.out.boundary(a)
		case kind == html.StartTagToken || kind == html.SelfClosingTagToken:
			w.start(token, opens, kind == html.StartTagToken || !xhtml)
		case kind == html.EndTagToken:
			w.end(token)
		}
	}
}

// walk goes through the tags that can be seen.
type walk struct {
	page        *Page
	out         writer
	open        openElements
	pre         int // that we are inside of
	headingFrom int // where the heading at hand begins, or -1
}

func (w *walk) text(raw, data string, at int) {
	if l := w.open.content(); l.gone || l.unseen {
		w.page.Hidden += visibleBytes(data)
		return
	}
	w.out.text(newRun(raw, data, at), w.pre > 0)
}

func (w *walk) start(token html.Token, opens, holds bool) {
	a := token.DataAtom
	if w.open.endsParagraph(a) && !w.open.look().gone {
		w.out.boundary(atom.P) // also by what is not seen itself
	}
	if w.open.start(token, holds).gone {
		return
	}
	if a == atom.Pre && opens {
		w.pre++
	}
	w.out.boundary(a)
	if isHeading(a) && opens {
		w.headingFrom = w.out.Len()
	}
}

func (w *walk) end(token html.Token) {
	a := token.DataAtom
	if w.open.end(token).gone {
		return
	}
	if a == atom.Pre && w.pre > 0 {
		w.pre--
	}
	w.out.boundary(a)
	if !isHeading(a) || w.headingFrom < 0 {
		return
	}
	text := w.out.String()[w.headingFrom:]
	if heading := strings.TrimSpace(text); heading != "" {
		w.page.Headings = append(w.page.Headings, Heading{w.headingFrom + strings.Index(text, heading), heading})
	}
	w.headingFrom = -1
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}
