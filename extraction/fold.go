package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Names and quotes are compared folded, so that what a reader takes for the
// same is the same: Unicode NFKC (full-width letters, ligatures and composed
// accents), case, runs of white space and control characters as one space,
// typographic quotation marks and dashes as their ASCII kin, and nothing at all
// for characters that cannot be seen (format characters, variation selectors).

// folder writes the folded form of a text, without leading and trailing white
// space.
type folder struct {
	text   []byte
	mapped bool
	origin origin // of text, if mapped
	next   int    // where a byte comes from that goes on with the last piece of origin

	space      int // where white space began that is not written yet, or -1
	work, spot []byte
}

// foldMapped returns the folded form of s and where in s it comes from.
func foldMapped(s string) (string, origin) {
	f := folder{text: make([]byte, 0, len(s)), mapped: true}
	f.fold(s)
	return string(f.text), f.origin
}

// fold returns the folded form of s.
func fold(s string) string {
	if tidy(s) {
		return strings.ToLower(s)
	}
	f := folder{text: make([]byte, 0, len(s))}
	f.fold(s)
	return string(f.text)
}

// tidy reports whether a text is visible ASCII, with single spaces between, so that only its
// case can change.
func tidy(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == ' ' && (i == 0 || i == len(s)-1 || s[i-1] == ' ') {
			return false
		}
	}
	return true
}

func (f *folder) fold(s string) {
	f.space, f.next = -1, -1
	for i := 0; i < len(s); {
		if n := f.ascii(s, i); n > 0 {
			i += n
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		next, _ := utf8.DecodeRuneInString(s[i+n:])
		if isPlain(r) && (i+n == len(s) || isPlain(next) || isPunctuation(next)) {
			f.rune(lower(r), i)
		} else {
			n = norm.NFKC.NextBoundaryInString(s[i:], true)
			f.segment(s[i:i+n], i)
		}
		i += n
	}
}

// ascii folds the plain ASCII that a text goes on with, and returns how much that is:
// visible characters and one space between two such; but no last one that what follows may
// join.
func (f *folder) ascii(s string, at int) int {
	if s[at] <= ' ' || s[at] >= 0x7f || at+1 < len(s) && s[at+1] >= utf8.RuneSelf {
		return 0
	}
	end := at + 1
	for end < len(s) && ' ' <= s[end] && s[end] < 0x7f && (s[end] != ' ' || s[end-1] != ' ') {
		end++
	}
	if end < len(s) && s[end] >= utf8.RuneSelf {
		end--
	}
	if s[end-1] == ' ' {
		end--
	}
	f.write(lowerASCII(s[at]), at) // behind the white space before it
	from := len(f.text)
	f.text = append(f.text, s[at+1:end]...)
	for i := from; i < len(f.text); i++ {
		f.text[i] = lowerASCII(f.text[i])
	}
	f.next = end
	return end - at
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// rune adds a plain letter, or what is ASCII, folded. It has as many bytes as it had.
func (f *folder) rune(r rune, at int) {
	if r <= ' ' || r == 0x7f {
		f.gap(at)
		return
	}
	var buf [utf8.UTFMax]byte
	for i, c := range utf8.AppendRune(buf[:0], r) {
		f.write(c, at+i)
	}
}

// isPlain reports whether a character is ASCII or a plain letter.
func isPlain(r rune) bool {
	if r < utf8.RuneSelf {
		return true
	}
	spaced, dense := plainLetter(r)
	return spaced || dense
}

// segment folds a piece that normalises by itself.
func (f *folder) segment(piece string, at int) {
	// Fold between taking apart and putting together: some composed letters
	// exist in one case only.
	f.work, f.spot = norm.NFKD.AppendString(f.work[:0], piece), f.spot[:0]
	for w := f.work; len(w) > 0; {
		r, n := utf8.DecodeRune(w)
		// The capital of the Turkish i has a dot of its own.
		if r != '\u0307' || len(f.spot) == 0 || f.spot[len(f.spot)-1] != 'i' {
			f.spot = appendFolded(f.spot, r)
		}
		w = w[n:]
	}
	f.work = norm.NFKC.Append(f.work[:0], f.spot...)
	for _, c := range f.work {
		if c == ' ' {
			f.gap(at)
		} else {
			f.write(c, at)
		}
	}
}

func (f *folder) gap(at int) {
	if f.space < 0 {
		f.space = at
	}
}

// write adds a byte, after one space for the white space before it.
func (f *folder) write(c byte, at int) {
	if f.space >= 0 {
		if len(f.text) > 0 {
			f.put(' ', f.space)
		}
		f.space = -1
	}
	f.put(c, at)
}

func (f *folder) put(c byte, at int) {
	if f.mapped && at != f.next {
		f.origin = append(f.origin, piece{int32(len(f.text)), int32(at)})
	}
	f.text, f.next = append(f.text, c), at+1
}

func appendFolded(dst []byte, r rune) []byte {
	if r < utf8.RuneSelf {
		if r <= ' ' || r == 0x7f {
			r = ' '
		}
		return append(dst, byte(unicode.ToLower(r)))
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
	case unicode.IsSpace(r) || unicode.IsControl(r):
		return append(dst, ' ')
	case invisible(r):
		return dst
	}
	return utf8.AppendRune(dst, unicode.ToLower(unicode.ToUpper(r)))
}
