package extraction

import (
	"unicode"
	"unicode/utf8"
)

// Texts are mostly letters of a few scripts, and Unicode's tables are slow: what is known
// of those letters at sight is here, and a test holds it against the tables.

// plainLetter reports whether a character is a letter or a digit that is written between
// spaces, or one of a script without, and stands by itself: whatever plain letter is beside
// it, the folded form is that of both. It knows the most frequent letters only.
func plainLetter(r rune) (spaced, dense bool) {
	switch {
	case r < utf8.RuneSelf:
		return asciiLetter(r), false
	case r < 0x0590: // Latin, Cyrillic
		return 0x00C0 <= r && r <= 0x00FF && r != '×' && r != '÷' && r != 'ß' || 0x0410 <= r && r <= 0x044F || r == 'ё' || r == 'Ё', false
	case r < 0x0E00: // Hebrew, Arabic, Devanagari
		return 0x05D0 <= r && r <= 0x05EA || 0x0621 <= r && r <= 0x063A || 0x0641 <= r && r <= 0x064A ||
			0x0900 <= r && r <= 0x0939 || 0x093E <= r && r <= 0x094C, false
	}
	// Thai, kana, Chinese characters, Hangul
	return false, 0x0E01 <= r && r <= 0x0E30 || 0x3041 <= r && r <= 0x3096 || 0x30A1 <= r && r <= 0x30FA ||
		0x4E00 <= r && r <= 0x9FFF || 0xAC00 <= r && r <= 0xD7A3
}

// isPunctuation reports whether a character is one of the frequent marks beyond ASCII, which
// join nothing before them.
func isPunctuation(r rune) bool {
	return 0x2010 <= r && r <= 0x2027 || 0x3000 <= r && r <= 0x3029 || 0xFF01 <= r && r <= 0xFF5E
}

// lower is a plain letter in lower case.
func lower(r rune) rune {
	switch {
	case 'A' <= r && r <= 'Z', 0x00C0 <= r && r <= 0x00DE, 0x0410 <= r && r <= 0x042F:
		return r + 'a' - 'A'
	case r == 'Ё':
		return 'ё'
	}
	return r
}

// bareLetter is a folded plain letter, or an accented one of Latin or Russian, without its
// accent. It knows the most frequent letters only.
func bareLetter(r rune) (bare rune, known bool) {
	switch {
	case r < utf8.RuneSelf, 0x05D0 <= r && r <= 0x05EA, 0x0627 <= r && r <= 0x063A, 0x0641 <= r && r <= 0x064A:
		return r, true
	case 0x00E0 <= r && r <= 0x00FF:
		const bare = "aaaaaa\x00ceeeeiiii\x00nooooo\x00\x00uuuuy\x00y"
		return rune(bare[r-0x00E0]), bare[r-0x00E0] != 0
	case r == 'й':
		return 'и', true
	case r == 'ё':
		return 'е', true
	case 0x0430 <= r && r <= 0x044F:
		return r, true
	}
	return r, 0x0900 <= r && r <= 0x094C && r != 0x0929 && r != 0x0931 && r != 0x0934 && r != 0x093C
}

// spacedLetter reports whether a character is part of a word of a script that puts spaces
// between words.
func spacedLetter(r rune) bool {
	spaced, dense := plainLetter(r)
	if spaced || dense || r < utf8.RuneSelf {
		return spaced
	}
	return anyLetter(r) &&
		!unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// isWord reports whether a character is part of a word: a letter, a digit or a mark.
func isWord(r rune) bool {
	spaced, dense := plainLetter(r)
	return spaced || dense || r >= utf8.RuneSelf && anyLetter(r)
}

func anyLetter(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) }

func asciiLetter(r rune) bool { return 'a' <= r|' ' && r|' ' <= 'z' || '0' <= r && r <= '9' }
