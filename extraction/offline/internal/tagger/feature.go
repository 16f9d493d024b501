package tagger

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
)

// word is what the features know of a token.
type word struct {
	lower  uint64 // hash of the lower-cased word
	shape  uint64 // Xx, XX, xx, d, punctuation itself
	kind   wordKind
	lists  uint64 // hash of the word lists it stands on
	text   string
	low    string
	capRun [2]uint64 // first and last word of the run of capitalised words around it
}

type wordKind uint8

const (
	kindOther wordKind = iota
	kindLower
	kindCapital
	kindUpper
	kindDigits
)

// document is what the tagger knows of the whole text: how its words are
// written elsewhere in it.
type document struct {
	lowered map[uint64]bool // seen in lower case
	capital map[uint64]bool // seen capitalised inside a sentence
}

// mix folds two hashes into one (the finaliser of splitmix64).
func mix(a, b uint64) uint64 {
	x := a*0x9e3779b97f4a7c15 + b
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func hashString(s string) uint64 {
	h := uint64(14695981039346656037)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return h
}

const boundary = 1 // the word before the first and after the last

var opaqueHash = hashString("\x00opaque")

// words reads the tokens of a sentence.
func (m *Model) words(text string, s prose.Sentence) []word {
	out := make([]word, len(s.Tokens))
	for i, t := range s.Tokens {
		w := &out[i]
		if t.Opaque {
			w.lower, w.shape = opaqueHash, opaqueHash
			continue
		}
		w.text = text[t.Start:t.End]
		if len(w.text) > 64 {
			w.text = w.text[:64]
		}
		w.kind, w.shape = shapeOf(w.text)
		w.low = w.text
		if w.kind != kindLower {
			w.low = strings.ToLower(w.text)
		}
		w.lower = hashString(w.low)
		w.lists = m.lexicon[w.lower]
	}
	for i := 0; i < len(out); {
		if !out[i].capitalised() {
			i++
			continue
		}
		end := i + 1
		for end < len(out) && out[end].capitalised() {
			end++
		}
		for j := i; j < end; j++ {
			out[j].capRun = [2]uint64{out[i].lower, out[end-1].lower}
		}
		i = end
	}
	return out
}

func (w *word) capitalised() bool { return w.kind == kindCapital || w.kind == kindUpper }

// shapeOf classifies a word and hashes its shape with repeats collapsed.
func shapeOf(s string) (wordKind, uint64) {
	var upper, lower, digit, other int
	first, last, h := byte(0), byte(0), uint64(7)
	for i, r := range s {
		c := byte('.')
		switch {
		case unicode.IsUpper(r):
			c = 'X'
			upper++
		case unicode.IsLower(r):
			c = 'x'
			lower++
		case unicode.IsDigit(r):
			c = 'd'
			digit++
		case unicode.IsLetter(r):
			c = 'o'
			other++
		default:
			c = s[i]
			other++
		}
		if i == 0 {
			first = c
		}
		if c != last {
			h = mix(h, uint64(c))
			last = c
		}
	}
	if n := utf8.RuneCountInString(s); digit == n && n <= 4 {
		h = mix(h, uint64(n))
	}
	switch {
	case first == 'X' && lower == 0 && upper > 1:
		return kindUpper, h
	case first == 'X':
		return kindCapital, h
	case digit > 0 && upper+lower == 0:
		return kindDigits, h
	case lower > 0 && upper == 0:
		return kindLower, h
	case upper > 0:
		return kindCapital, h // iPhone, 3D
	}
	return kindOther, h
}

// remember adds the sentence's spellings to the document.
func (d *document) remember(ws []word) {
	for i := range ws {
		switch w := &ws[i]; {
		case w.kind == kindLower:
			d.lowered[w.lower] = true
		case i > 0 && w.capitalised() && ws[i-1].kind != kindOther:
			d.capital[w.lower] = true
		}
	}
}

// features fills buf with the feature hashes of token i.
func (m *Model) features(buf []uint32, ws []word, i int, d *document) []uint32 {
	at := func(j int) *word {
		if j < 0 || j >= len(ws) {
			return &edge
		}
		return &ws[j]
	}
	w, p, n, pp, nn := &ws[i], at(i-1), at(i+1), at(i-2), at(i+2)
	add := func(template uint64, h uint64) {
		buf = append(buf, uint32(mix(template, h)>>32))
	}
	add(0, 0)
	add(1, w.lower)
	add(2, p.lower)
	add(3, n.lower)
	add(4, pp.lower)
	add(5, nn.lower)
	add(6, w.shape)
	add(7, p.shape)
	add(8, n.shape)
	add(9, mix(p.shape, mix(w.shape, n.shape)))
	add(10, mix(w.lower, w.shape))
	add(11, mix(p.lower, w.lower))
	add(12, mix(w.lower, n.lower))
	add(13, mix(p.lower, w.shape))
	add(14, mix(w.shape, n.lower))
	add(15, mix(p.lower, n.lower))
	add(16, mix(pp.lower, p.lower))
	add(17, mix(n.lower, nn.lower))
	for k := 1; k <= 4 && k < len(w.low); k++ {
		add(20+uint64(k), hashString(w.low[len(w.low)-k:]))
		if k > 1 {
			add(30+uint64(k), hashString(w.low[:k]))
		}
	}
	if len(p.low) > 3 {
		add(40, hashString(p.low[len(p.low)-3:]))
	}
	if len(n.low) > 3 {
		add(41, hashString(n.low[len(n.low)-3:]))
	}
	if w.lists != 0 {
		add(50, w.lists)
	}
	if p.lists != 0 {
		add(51, mix(p.lists, w.shape))
	}
	if n.lists != 0 {
		add(52, mix(n.lists, w.shape))
	}
	add(53, mix(p.lists, mix(w.lists, n.lists)))
	if w.capitalised() {
		first := uint64(0)
		if i == 0 || i == 1 && p.kind == kindOther {
			first = 1
		}
		seen := first
		if d.lowered[w.lower] {
			seen |= 2
		}
		if d.capital[w.lower] {
			seen |= 4
		}
		if m.common[uint32(w.lower)] {
			seen |= 8
		}
		add(60, seen)
		add(61, mix(seen, w.shape))
		add(62, mix(seen, n.shape))
		add(63, w.capRun[0])
		add(64, w.capRun[1])
		add(65, mix(w.capRun[1], n.lower))
		add(66, mix(seen, p.lower))
		add(67, m.lexicon[w.capRun[0]])
		add(68, m.lexicon[w.capRun[1]])
	} else if first := i == 0; first {
		add(69, w.shape)
	}
	return buf
}

var edge = word{lower: boundary, shape: boundary}
