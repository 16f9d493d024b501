package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// isForm reports whether a word of a text looks like a form of a name's word, both
// folded and without accents, which the text may have had.
func isForm(text, word string, accents bool) bool {
	if len(text) < 2 || len(word) < 2 {
		return false
	}
	if text[:2] == word[:2] {
		switch first, _ := utf8.DecodeRuneInString(word); {
		case isLatin(word):
			return isPlural(text, word) || isPlural(word, text) || inflectedLatin(text, word, accents)
		case 0x0400 <= first && first < 0x0530:
			return inflectedCyrillic(text, word)
		case sameStem(text, word):
			return true
		}
	}
	return prefixed(text, word)
}

// isLatin reports whether a word without accents is of Latin letters or digits.
func isLatin(word string) bool {
	first, _ := utf8.DecodeRuneInString(word)
	return first < 0x0250
}

// isPlural reports whether a word is the plural of another, or what has it: "gpus" and "gpu".
func isPlural(many, one string) bool {
	ending, ok := strings.CutPrefix(many, one)
	if ok {
		return ending == "s" || ending == "es"
	}
	return strings.HasSuffix(one, "y") && many == one[:len(one)-1]+"ies" && len(one) > 2
}

// inflectedLatin reports whether a word of a text is a word with an ending of the languages
// that put some behind names: German, Slavic ones, Finnish, Hungarian. Those that make another name of one are
// left out: "Paula" is no form of Paul, nor "Nigeria" of Niger.
func inflectedLatin(text, word string, accents bool) bool {
	if ending, ok := strings.CutPrefix(text, word); ok && len(word) > 3 {
		switch ending {
		case "n", "en", "ns", "i", "u", "em", "iem", "ie", "ego", "emu", "om", "owi", "ovi", "ssa", "sta", "lla", "lle", "ban", "ben", "nak", "nek",
			"isch", "ische", "ischen", "ischer", "isches":
			return true
		case "e", "er":
			return accents // "Städte"
		case "y":
			return strings.HasSuffix(word, "y") // "Zelenskyy"
		}
	}
	last := len(word) - 1
	if last < 3 || !strings.Contains("aeiouyr", word[last:]) {
		return false
	}
	ending, ok := strings.CutPrefix(text, word[:last])
	if !ok {
		return false
	}
	switch ending {
	case "i", "y", "u", "ie", "ei", "ej", "em", "om", "ou", "n", "s":
		return word[last] != 'r' || ending == "n" || ending == "s" // "deutscher", "deutschen"
	case "e":
		return accents // "Annę"
	}
	return false
}

// inflectedCyrillic reports whether a word of a text is a word, or that less the vowels at
// its end, with an ending of a case.
func inflectedCyrillic(text, word string) bool {
	for cut := 0; cut < 3; cut++ {
		if stem := utf8.RuneCountInString(word); stem < 2 || cut == 0 && stem < 3 {
			return false
		}
		ending, ok := strings.CutPrefix(text, word)
		if ok {
			switch ending {
			case "а", "я", "у", "ю", "е", "и", "ы", "о", "ь", "ои", "еи", "ью", "ом", "ем", "ым", "им", "ых", "их", "ого", "его", "ому", "ему", "ую", "юю", "ая", "яя", "ою", "ею",
				"ам", "ям", "ами", "ями", "ах", "ях", "ов", "ев", "ые", "ие", "ое", "ии", "ыи":
				return true
			}
		}
		vowel, n := utf8.DecodeLastRuneInString(word)
		if !strings.ContainsRune("аеиоуыэюяь", vowel) {
			return false
		}
		word = word[:len(word)-n]
	}
	return false
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
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return unaccentedLetters(s)
		}
	}
	return s
}

func unaccentedLetters(s string) string {
	accents := false
	for _, r := range s {
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

// unaccentedAny is that by Unicode's tables, and for letters that these do not take apart.
func unaccentedAny(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		switch r {
		case 'ł':
			r = 'l'
		case 'ø':
			r = 'o'
		case 'đ', 'ð':
			r = 'd'
		case 'ı':
			r = 'i'
		case 'æ':
			b.WriteByte('a')
			r = 'e'
		case 'œ':
			b.WriteByte('o')
			r = 'e'
		}
		if !isAccent(r) {
			b.WriteRune(r)
		}
	}
	return norm.NFC.String(b.String())
}

// isAccent leaves out the scripts whose marks are vowels that are always written.
func isAccent(r rune) bool { return r >= 0x300 && r < 0x700 && unicode.Is(unicode.Mn, r) }
