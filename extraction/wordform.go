package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isForm reports whether a word of a text looks like a form of a name's word, both
// folded and without accents.
func isForm(text, word string) bool {
	if len(text) < 2 || len(word) < 2 {
		return false
	}
	return text[:2] == word[:2] && (sameStem(text, word) || sameShort(text, word)) || prefixed(text, word)
}

// mayBeForm reports whether [isForm] is worth the while: the words begin alike, or are of
// Hebrew or a script behind it, with its prefixes.
func mayBeForm(text, word string) bool {
	const hebrew = 0xD6 // first byte of its letters
	return text != "" && (text[0] == word[0] || word[0] >= hebrew)
}

// sameStem reports whether two folded words look like forms of one: at least four
// letters and most of the word are the same.
func sameStem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	same := 0
	for i, r := range a {
		if s, _ := utf8.DecodeRuneInString(b[i:]); r != s || !unicode.IsLetter(r) {
			break
		}
		same++
	}
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return same >= 4 && 3*same >= 2*longer
}

// sameShort reports whether two folded words that are too short for [sameStem] look
// like forms of one: "gpus" and "gpu", "cities" and "city", or words that differ in the
// vowels at their end, as Slavic names do.
func sameShort(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(b) > 24 {
		return false
	}
	same := 0
	for i, r := range a {
		if s, _ := utf8.DecodeRuneInString(b[i:]); r != s || !unicode.IsLetter(r) {
			break
		}
		same += utf8.RuneLen(r)
	}
	tail, ending := a[same:], b[same:]
	switch {
	case tail == "" && ending == "s":
		return len(a) >= 2
	case tail == "" && ending == "es", tail == "y" && ending == "ies":
		return same >= 2
	}
	const vowels = "aeiouyаеиоуыэюяйь"
	first, n := utf8.DecodeRuneInString(ending)
	if first == utf8.RuneError || !strings.ContainsRune(vowels, first) || utf8.RuneCountInString(a[:same]) < 2 {
		return false
	}
	if unicode.Is(unicode.Cyrillic, first) {
		return utf8.RuneCountInString(a) >= 3 && utf8.RuneCountInString(ending) <= 2 &&
			(tail == "" || utf8.RuneCountInString(tail) == 1 && strings.ContainsAny(tail, vowels))
	}
	return same >= 3 && len(ending) == n && len(tail) == 1 && strings.Contains(vowels, tail)
}

// prefixed reports whether a word of a text is the word behind what Arabic and Hebrew
// write in front of it: "and", "in", "to", "the".
func prefixed(text, word string) bool {
	before, ok := strings.CutSuffix(text, word)
	if !ok || before == "" || len(before) > 4*2 || utf8.RuneCountInString(word) < 3 {
		return false
	}
	return strings.Trim(before, "وفبكلاسהובכלמש") == ""
}

// unaccented is a folded text without the marks on its letters that models leave out.
func unaccented(s string) string {
	accents := false
	for _, r := range s {
		if r < utf8.RuneSelf {
			continue
		}
		bare, known := bareLetter(r)
		if !known {
			return unaccentedAny(s)
		}
		accents = accents || bare != r
	}
	if !accents {
		return s
	}
	return strings.Map(func(r rune) rune { bare, _ := bareLetter(r); return bare }, s)
}

// unaccentedAny is that by Unicode's tables.
func unaccentedAny(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		if !isAccent(r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// isAccent leaves out the scripts whose marks are vowels that are always written.
func isAccent(r rune) bool { return r >= 0x300 && r < 0x700 && unicode.Is(unicode.Mn, r) }
