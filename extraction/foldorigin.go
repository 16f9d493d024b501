package extraction

import "sort"

// origin says where in a text the bytes of its folded form come from. Folding leaves most
// of a text where it is, so it is kept in pieces.
type origin []piece

// piece is where byte follows byte in both: from folded on, up to the next piece.
type piece struct{ folded, text int32 }

// of is where a byte of the folded form comes from.
func (o origin) of(i int) int {
	p := o[sort.Search(len(o), func(p int) bool { return int(o[p].folded) > i })-1]
	return int(p.text) + i - int(p.folded)
}

// ascent is for places that are asked for one after another, in ascending order.
type ascent struct {
	origin origin
	piece  int // of the last one
}

func (a *ascent) of(i int) int {
	for a.piece+1 < len(a.origin) && int(a.origin[a.piece+1].folded) <= i {
		a.piece++
	}
	return int(a.origin[a.piece].text) + i - int(a.origin[a.piece].folded)
}

// first is the first byte of the folded form that comes from a place of the text or from
// behind it; the length of the folded form, which is given, if there is none.
func (o origin) first(at, length int) int {
	p := sort.Search(len(o), func(p int) bool { return int(o[p].text) >= at })
	if p < len(o) {
		length = int(o[p].folded)
	}
	if p == 0 {
		return length
	}
	return min(int(o[p-1].folded)+at-int(o[p-1].text), length)
}
