package htmltext

import (
	"slices"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxOpen is how many elements inside each other are told apart, as in browsers. What
// is deeper looks like what it is in.
const maxOpen = 512

// element is one that has begun.
type element struct {
	name string
	atom atom.Atom
	own  look
	look look // with that of what it is in
}

// openElements are those that we are inside of. They end as in a browser, near
// enough to tell where what is hidden ends: with their own end tag, that of what they
// are in, or what cannot be inside of them.
type openElements struct {
	stack []element
	xhtml bool // where every element has an end of its own
}

// look is that of what comes next.
func (o *openElements) look() look { return o.lookAt(len(o.stack)) }

func (o *openElements) lookAt(depth int) look {
	if depth == 0 {
		return look{}
	}
	return o.stack[depth-1].look
}

// content is how text looks that comes next: a table that holds any outside of its cells
// has it before itself.
func (o *openElements) content() look {
	n := len(o.stack)
	if n == 0 || o.xhtml || !isTableFrame(o.stack[n-1]) {
		return o.look()
	}
	return o.lookAt(max(0, o.find(isTable, none)))
}

// start begins an element, which may hold others, and returns how it looks.
func (o *openElements) start(t html.Token, holds bool) look {
	if !o.xhtml {
		o.endBefore(t.DataAtom)
	}
	if isWhole(t.DataAtom) {
		return o.look() // a page that hides all of itself shows it later
	}
	inside := o.content()
	if isTablePart(t.DataAtom) {
		if inside = o.look(); t.DataAtom != atom.Table && !o.xhtml && o.find(isTable, none) < 0 {
			return inside // HTML knows it in a table only
		}
	}
	own := lookOf(t)
	e := element{name: t.Data, atom: t.DataAtom, own: own, look: own.in(inside)}
	if holds && !isEmpty(t.DataAtom) && len(o.stack) < maxOpen {
		o.stack = append(o.stack, e)
	}
	return e.look
}

func (l look) in(outer look) look {
	l.gone = l.gone || outer.gone
	if !l.decided {
		l.unseen = outer.unseen
	}
	return l
}

// end ends what an end tag ends, and returns how that looked.
func (o *openElements) end(t html.Token) look {
	at := o.endedBy(t)
	if at < 0 {
		return o.look()
	}
	was := o.stack[at].look
	if isFormatting(t.DataAtom) && !o.xhtml && slices.ContainsFunc(o.stack[at+1:], isSpecial) {
		// A block that has begun inside of it goes on.
		o.stack = slices.Delete(o.stack, at, at+1)
		for ; at < len(o.stack); at++ {
			o.stack[at].look = o.stack[at].own.in(o.lookAt(at))
		}
		return was
	}
	o.stack = o.stack[:at]
	return was
}

// endedBy is the place of the element that an end tag ends, -1 if none.
func (o *openElements) endedBy(t html.Token) int {
	same := func(e element) bool { return e.name == t.Data }
	switch a := t.DataAtom; {
	case isEmpty(a), isWhole(a):
		return -1
	case o.xhtml:
		return o.find(same, none)
	case a == atom.P:
		return o.find(same, isButtonScope)
	case a == atom.Li:
		return o.find(same, isListScope)
	case isHeading(a):
		return o.find(func(e element) bool { return isHeading(e.atom) }, isScope)
	case isTablePart(a):
		return o.find(same, isTable)
	case isFormatting(a), isBlock(a):
		return o.find(same, isScope)
	}
	return o.find(same, isSpecial)
}

// endBefore ends what cannot have the element inside of it.
func (o *openElements) endBefore(a atom.Atom) {
	is := func(atoms ...atom.Atom) func(element) bool {
		return func(e element) bool { return slices.Contains(atoms, e.atom) }
	}
	switch a {
	case atom.Li:
		o.cut(o.find(is(atom.Li), func(e element) bool { return isSpecial(e) && !isLoose(e) }))
	case atom.Dd, atom.Dt:
		o.cut(o.find(is(atom.Dd, atom.Dt), func(e element) bool { return isSpecial(e) && !isLoose(e) }))
	case atom.Option:
		o.cutTop(is(atom.Option))
	case atom.Optgroup:
		o.cutTop(is(atom.Option))
		o.cutTop(is(atom.Optgroup))
	case atom.Rt, atom.Rp, atom.Rb, atom.Rtc:
		o.cutTop(is(atom.Rt, atom.Rp, atom.Rb))
	case atom.Button:
		o.cut(o.find(is(atom.Button), isScope))
	case atom.A:
		o.end(html.Token{Data: "a", DataAtom: atom.A})
	case atom.Td, atom.Th:
		o.cut(o.outermost(is(atom.Td, atom.Th, atom.Caption)))
	case atom.Tr:
		o.cut(o.outermost(is(atom.Tr, atom.Td, atom.Th, atom.Caption)))
	case atom.Tbody, atom.Thead, atom.Tfoot, atom.Caption, atom.Colgroup:
		o.cut(o.outermost(is(atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption)))
	}
	if endsParagraph(a) {
		o.cut(o.find(is(atom.P), isButtonScope))
	}
	if isHeading(a) {
		o.cutTop(func(e element) bool { return isHeading(e.atom) })
	}
}

// endsParagraph reports whether the element would end a p whose end is not written.
func (o *openElements) endsParagraph(a atom.Atom) bool {
	return !o.xhtml && endsParagraph(a) && o.find(func(e element) bool { return e.atom == atom.P }, isButtonScope) >= 0
}

// find is the place of the innermost element of a sort, -1 if what bounds the search
// comes first.
func (o *openElements) find(wanted, bound func(element) bool) int {
	for i := len(o.stack) - 1; i >= 0; i-- {
		if wanted(o.stack[i]) {
			return i
		}
		if bound(o.stack[i]) {
			return -1
		}
	}
	return -1
}

// outermost is the place of the outermost element of a sort within a table.
func (o *openElements) outermost(wanted func(element) bool) int {
	at := -1
	for i := len(o.stack) - 1; i >= 0 && !isTable(o.stack[i]); i-- {
		if wanted(o.stack[i]) {
			at = i
		}
	}
	return at
}

func (o *openElements) cut(at int) {
	if at >= 0 {
		o.stack = o.stack[:at]
	}
}

func (o *openElements) cutTop(wanted func(element) bool) {
	if n := len(o.stack); n > 0 && wanted(o.stack[n-1]) {
		o.stack = o.stack[:n-1]
	}
}

func none(element) bool { return false }
