package htmltext

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// isHidden leaves out <head>: all that it may hold is invisible by itself, and
// where it ends need not be written.
func isHidden(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Template, atom.Noscript, atom.Iframe, atom.Object, atom.Svg, atom.Audio, atom.Canvas, atom.Datalist, atom.Video:
		return true
	}
	return false
}

// isRaw reports whether HTML takes what follows the tag for text, even if the
// tag closes itself.
func isRaw(a atom.Atom) bool {
	switch a {
	case atom.Title, atom.Textarea, atom.Noscript, atom.Iframe, atom.Noembed, atom.Noframes, atom.Xmp:
		return true
	}
	return isCode(a)
}

func isCode(a atom.Atom) bool { return a == atom.Script || a == atom.Style }

// endsSvg reports whether a tag ends a drawing that has forgotten to, as browsers
// have it.
func endsSvg(a atom.Atom) bool {
	switch a {
	case atom.Body, atom.Br, atom.Div, atom.Hr, atom.Img, atom.Li, atom.Dt, atom.Dd, atom.P, atom.Span, atom.Table, atom.Ul, atom.Ol, atom.Dl, atom.Pre,
		atom.Blockquote:
		return true
	}
	return isHeading(a)
}

// closings knows where the last closing tag of each element is.
type closings struct {
	source string
	last   map[atom.Atom]int
}

// after reports whether the element is closed after an offset.
func (c *closings) after(a atom.Atom, at int) bool {
	if !isHidden(a) && !isRaw(a) {
		return true
	}
	last, known := c.last[a]
	if !known {
		if c.last == nil {
			c.last = map[atom.Atom]int{}
		}
		last = c.find(a.String())
		c.last[a] = last
	}
	return last >= at
}

func (c *closings) find(name string) int {
	for rest := c.source; ; {
		i := strings.LastIndex(rest, "</")
		if i < 0 {
			return -1
		}
		tag := c.source[i+2:]
		if len(tag) > len(name) && strings.EqualFold(tag[:len(name)], name) && strings.IndexByte(" \t\r\n\f/>", tag[len(name)]) >= 0 {
			return i
		}
		rest = rest[:i]
	}
}
