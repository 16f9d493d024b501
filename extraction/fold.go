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

// folder writes the folded form of a text, without leading and trailing white
// space.
type folder struct {
	text   []byte
	from   []int32 // for each byte of text where in the original it comes from; nil unless mapped
	mapped bool

	space      int // where white space began that is not written yet, or -1
	work, spot []byte
}

// foldMapped returns the folded form of s and where in s each byte comes from.
func foldMapped(s string) (text string, from []int32) {
	f := folder{text: make([]byte, 0, len(s)), from: make([]int32, 0, len(s)), mapped: true}
	f.fold(s)
	return string(f.text), f.from
}

// fold returns the folded form of s.
func fold(s string) string {
	f := folder{text: make([]byte, 0, len(s))}
	f.fold(s)
	return string(f.text)
}

func (f *folder) fold(s string) {
	f.space = -1
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
	f.write(lowerASCII(s[at]), at) // behind the white space before it
	text, from, end := f.text, f.from, at+1
	for ; end < len(s); end++ {
		c := s[end]
		if c < ' ' || c >= 0x7f || c == ' ' && s[end-1] == ' ' {
			break
		}
		text = append(text, lowerASCII(c))
		if f.mapped {
			from = append(from, int32(end))
		}
	}
	last := end
	if end < len(s) && s[end] >= utf8.RuneSelf {
		last--
	}
	if s[last-1] == ' ' {
		last--
	}
	f.text = text[:len(text)-(end-last)]
	if f.mapped {
		f.from = from[:len(f.text)]
	}
	return last - at
}

func lowerASCII(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		c += 'a' - 'A'
	}
	return c
}

// rune adds a folded character.
func (f *folder) rune(r rune, at int) {
	if r <= ' ' || r == 0x7f {
		f.gap(at)
		return
	}
	var buf [utf8.UTFMax]byte
	for _, c := range utf8.AppendRune(buf[:0], r) {
		f.write(c, at)
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
	f.text = append(f.text, c)
	if f.mapped {
		f.from = append(f.from, int32(at))
	}
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
