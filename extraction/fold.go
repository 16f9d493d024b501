package extraction

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Names and quotes are compared folded, so that what a reader takes for the
// same is the same: Unicode NFKC (full-width letters, ligatures and composed
// accents), case, runs of white space and control characters as one space,
// typographic quotation marks and dashes as their ASCII kin, and nothing at all
// for characters that cannot be seen (format characters, variation selectors).

// foldEach calls emit with each piece of the folded text, in order, and the
// half-open range of bytes of s that the piece stands for. Leading and trailing
// white space is left out. The slice is only valid during the call.
func foldEach(s string, emit func(piece []byte, start, end int)) {
	var scratch, buf [64]byte
	space := -1 // start of a run of white space that is not emitted yet
	visible := false
	for i := 0; i < len(s); {
		start, piece := i, buf[:0]
		if s[i] < utf8.RuneSelf && (i+1 == len(s) || s[i+1] < utf8.RuneSelf) {
			piece = appendFolded(piece, rune(s[i]))
			i++
		} else {
			n := norm.NFKC.NextBoundaryInString(s[i:], true)
			i += n
			// Fold between taking apart and putting together: some composed
			// letters exist in one case only.
			for _, r := range string(norm.NFKD.AppendString(scratch[:0], s[start:i])) {
				piece = appendFolded(piece, r)
			}
			piece = norm.NFKC.Bytes(piece)
		}
		for len(piece) > 0 && piece[0] == ' ' {
			if space < 0 {
				space = start
			}
			piece = piece[1:]
		}
		trailing := false
		for len(piece) > 0 && piece[len(piece)-1] == ' ' {
			piece, trailing = piece[:len(piece)-1], true
		}
		if len(piece) == 0 {
			continue
		}
		if space >= 0 && visible {
			emit([]byte{' '}, space, start)
		}
		space, visible = -1, true
		emit(piece, start, i)
		if trailing {
			space = i
		}
	}
}

func appendFolded(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		switch {
		case 'A' <= r && r <= 'Z':
			r += 'a' - 'A'
		case r < ' ' || r == 0x7f:
			r = ' '
		}
		return append(dst, byte(r))
	}
	switch r {
	case '‘', '’', '‚', '‛', 'ʼ', '′':
		return append(dst, '\'')
	case '“', '”', '„', '‟', '«', '»', '″':
		return append(dst, '"')
	case '‐', '‑', '‒', '–', '—', '―', '−':
		return append(dst, '-')
	case 'ß', 'ẞ':
		return append(dst, "ss"...)
	}
	switch {
	case unicode.IsSpace(r) || unicode.IsControl(r) || r == '\u2028' || r == '\u2029':
		return append(dst, ' ')
	case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Variation_Selector, r):
		return dst
	}
	return utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
}

// fold returns the folded form of s.
func fold(s string) string {
	dst := make([]byte, 0, len(s))
	foldEach(s, func(piece []byte, _, _ int) { dst = append(dst, piece...) })
	return string(dst)
}
