package htmltext

import "golang.org/x/net/html/atom"

// The sorts of elements by which HTML says where one ends whose end is not written.

// isWhole: the page itself, which ends with the source.
func isWhole(a atom.Atom) bool {
	switch a {
	case atom.Html, atom.Head, atom.Body:
		return true
	}
	return false
}

// isEmpty: nothing is inside of it.
func isEmpty(a atom.Atom) bool {
	switch a {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr, atom.Image, atom.Img, atom.Input, atom.Keygen,
		atom.Link, atom.Meta, atom.Param, atom.Source, atom.Title, atom.Track, atom.Wbr:
		return true
	}
	return false
}

func isFormatting(a atom.Atom) bool {
	switch a {
	case atom.A, atom.B, atom.Big, atom.Code, atom.Em, atom.Font, atom.I, atom.Nobr, atom.S, atom.Small, atom.Strike, atom.Strong, atom.Tt, atom.U:
		return true
	}
	return false
}

// endsParagraph: it cannot be inside of a p.
func endsParagraph(a atom.Atom) bool {
	switch a {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Center, atom.Dd, atom.Details, atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt,
		atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer, atom.Form, atom.Header, atom.Hgroup, atom.Hr, atom.Li, atom.Listing, atom.Main, atom.Menu,
		atom.Nav, atom.Ol, atom.P, atom.Plaintext, atom.Pre, atom.Search, atom.Section, atom.Summary, atom.Table, atom.Ul, atom.Xmp:
		return true
	}
	return isHeading(a)
}

func isTablePart(a atom.Atom) bool {
	switch a {
	case atom.Caption, atom.Table, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return true
	}
	return false
}

// isTableFrame: what stands in it, but for the parts of a table, stands before the
// table.
func isTableFrame(e element) bool {
	switch e.atom {
	case atom.Table, atom.Tbody, atom.Tfoot, atom.Thead, atom.Tr:
		return true
	}
	return false
}

func isTable(e element) bool { return e.atom == atom.Table || e.atom == atom.Template }

// isScope: a search for what an end tag ends does not leave it.
func isScope(e element) bool {
	switch e.atom {
	case atom.Applet, atom.Caption, atom.Marquee, atom.Object, atom.Table, atom.Td, atom.Template, atom.Th:
		return true
	}
	return false
}

func isButtonScope(e element) bool { return e.atom == atom.Button || isScope(e) }

func isListScope(e element) bool { return e.atom == atom.Ol || e.atom == atom.Ul || isScope(e) }

// isLoose: a list item ends through it.
func isLoose(e element) bool { return e.atom == atom.Address || e.atom == atom.Div || e.atom == atom.P }

// isSpecial: only what HTML says ends it.
func isSpecial(e element) bool { return isBlock(e.atom) }

func isBlock(a atom.Atom) bool {
	switch a {
	case atom.Applet, atom.Button, atom.Iframe, atom.Marquee, atom.Noembed, atom.Noframes, atom.Noscript, atom.Object, atom.Script, atom.Select, atom.Style,
		atom.Template, atom.Textarea, atom.Frameset, atom.Colgroup:
		return true
	}
	return isTablePart(a) || endsParagraph(a)
}
