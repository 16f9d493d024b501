package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Cutting looks at every byte a few times, so these searches go over bytes and
// decode a rune only where its first byte says that it may be the one.

// lastSpace returns the offset of the last white space in text[lo:hi], -1 if
// there is none.
func lastSpace(text string, lo, hi int) int {
	for i := hi - 1; i >= lo; i-- {
		if c := text[i]; c < utf8.RuneSelf {
			if c == ' ' || '\t' <= c && c <= '\r' {
				return i
			}
		} else if mayBeSpace(c) {
			if r, _ := utf8.DecodeRuneInString(text[i:]); unicode.IsSpace(r) {
				return i
			}
		}
	}
	return -1
}

// mayBeSpace reports whether white space beyond ASCII begins with c.
func mayBeSpace(c byte) bool { return c == 0xC2 || 0xE1 <= c && c <= 0xE3 }

// lastTerminal returns the offset of the last mark in text[lo:hi] that may end a
// sentence, -1 if there is none.
func lastTerminal(text string, lo, hi int) int {
	for i := hi - 1; i >= lo; i-- {
		if c := text[i]; c < utf8.RuneSelf {
			if c == '.' || c == '!' || c == '?' {
				return i
			}
		} else if c >= 0xC0 && mayBeTerminal(c, text[i+1]) {
			if r, _ := utf8.DecodeRuneInString(text[i:]); isTerminal(r) {
				return i
			}
		}
	}
	return -1
}

// mayBeTerminal leaves out kana and ideographs, of which dense text has many.
func mayBeTerminal(first, second byte) bool {
	switch {
	case first == 0xE3:
		return second == 0x80
	case 0xE4 <= first && first <= 0xE9:
		return false
	}
	return true
}

// isTerminal reports whether a sentence may end with r.
func isTerminal(r rune) bool {
	if r < utf8.RuneSelf {
		return r == '.' || r == '!' || r == '?'
	}
	return unicode.Is(unicode.Sentence_Terminal, r)
}

// skipRunes returns the offset n runes after from, or the end of the text.
func skipRunes(text string, from, n int) int {
	if len(text)-from <= n {
		return len(text)
	}
	for i := from; i < len(text); i++ {
		if text[i]&0xC0 != 0x80 {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(text)
}

// skipSpace returns the offset of the first rune at or after from that is not
// white space.
func skipSpace(text string, from int) int {
	return len(text) - len(strings.TrimLeftFunc(text[from:], unicode.IsSpace))
}

// trimSpace returns the end of text[start:end] without trailing white space.
func trimSpace(text string, start, end int) int {
	return start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
}
