package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// shortestLoose is how many bytes of letters a quote needs to be found by them alone.
const shortestLoose = 6

// loosen returns a folded text without what models drop or add when they copy: every
// mark and all white space, so Markdown, bars of tables, hyphens and line breaks inside
// words, brackets and quotation marks; the targets of links; HTML entities; accents and
// vowel points. What stands between two digits stays, as one character. With it comes
// where each byte is from.
func loosen(folded string) (letters string, from []int32) {
	var b strings.Builder
	digit, gap := false, byte(0)
	for i := 0; i < len(folded); {
		r, n := utf8.DecodeRuneInString(folded[i:])
		switch skip := skipped(folded[i:]); {
		case skip > 0:
			n, gap = skip, ' '
		case isAccent(r) || r == tatweel:
		case !isWord(r):
			if gap == 0 && digit {
				gap = folded[i]
			}
		default:
			number := unicode.IsNumber(r)
			if gap != 0 && digit && number {
				b.WriteByte(gap)
				from = append(from, int32(i))
			}
			letter := withoutAccent(r, folded[i:i+n])
			b.WriteString(letter)
			for range len(letter) {
				from = append(from, int32(i))
			}
			digit, gap = number, 0
		}
		i += n
	}
	return b.String(), from
}

// withoutAccent is the letter below the accents of a composed one.
func withoutAccent(r rune, letter string) string {
	if r < utf8.RuneSelf {
		return letter
	}
	parts := norm.NFD.PropertiesString(letter).Decomposition()
	first, n := utf8.DecodeRune(parts)
	if second, _ := utf8.DecodeRune(parts[n:]); first == utf8.RuneError || !isAccent(second) {
		return letter
	}
	return string(first)
}

// tatweel is the line that stretches Arabic words.
const tatweel = '\u0640'

// skipped is the length of a link's target or of an HTML entity at the beginning of s,
// or 0.
func skipped(s string) int {
	const longestTarget, longestEntity = 500, 10
	switch {
	case strings.HasPrefix(s, "]("):
		return strings.IndexByte(s[:min(len(s), longestTarget)], ')') + 1
	case s[0] == '&':
		end := strings.IndexByte(s[:min(len(s), longestEntity)], ';')
		if end > 1 && strings.Trim(s[1:end], "abcdefghijklmnopqrstuvwxyz0123456789#") == "" {
			return end + 1
		}
	}
	return 0
}

// inLetters finds where the text has the letters and digits of a folded quote, in whole
// words.
func (t *indexed) inLetters(quote string) (span, bool) {
	quote, _ = loosen(quote)
	if len(quote) < shortestLoose {
		return span{}, false
	}
	if t.lettersFrom == nil {
		t.letters, t.lettersFrom = loosen(t.folded)
	}
	for from, n := 0, 0; t.looked < lookBudget || n < fewLooks; n++ {
		i := strings.Index(t.letters[from:], quote)
		if i < 0 {
			break
		}
		first, last := from+i, from+i+len(quote)-1
		at := span{int(t.lettersFrom[first]), int(t.lettersFrom[last])}
		for part := true; part; {
			_, size := utf8.DecodeRuneInString(t.folded[at.end:])
			at.end += size
			next, _ := utf8.DecodeRuneInString(t.folded[at.end:])
			part = isAccent(next) || next == tatweel
		}
		if !joined(t.folded, at.start) && !joined(t.folded, at.end) {
			return t.original(at), true
		}
		t.looked++
		_, size := utf8.DecodeRuneInString(t.letters[first:])
		from = first + size
	}
	return span{}, false
}
