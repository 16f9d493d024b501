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

// ascending is of for places that are asked for in ascending order.
func (o origin) ascending() func(i int) int {
	p := 0
	return func(i int) int {
		for p+1 < len(o) && int(o[p+1].folded) <= i {
			p++
		}
		return int(o[p].text) + i - int(o[p].folded)
	}
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
