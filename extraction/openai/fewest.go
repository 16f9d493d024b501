package openai

import "unicode"

// script is a kind of writing whose tokens are counted in one way.
type script int

const (
	spaced  script = iota // words with spaces between them
	squares               // ideographs, kana and Hangul
	dense                 // South East Asian letters without spaces
	scripts
)

// extent is how much there is of each script: words, or characters.
type extent [scripts]int64

// fewest is a number of tokens that no tokenizer does with less than: one for each word
// with a letter or a digit, and for scripts without spaces, and Hangul, whose words are
// long, a part of one for each character. The tests measure one that makes few.
func (e extent) fewest() int64 { return e[spaced] + e[squares]*2/5 + e[dense]/5 }

// script is the one that nearly all of the text is in; false if there is none.
func (e extent) script() (script, bool) {
	for s := range scripts {
		var only extent
		only[s] = e[s]
		if most := only.fewest(); most > 0 && most*10 >= e.fewest()*9 {
			return s, true
		}
	}
	return spaced, false
}

func measure(s string) extent {
	var e extent
	inWord := false
	var last rune
	for _, r := range s {
		again := r == last
		last = r
		switch {
		case r < 0x80 && (r|0x20 >= 'a' && r|0x20 <= 'z' || r >= '0' && r <= '9'):
		case r < 0x80:
			inWord = inWord && r != ' ' && r != '\n' && r != '\t' && r != '\r'
			continue
		case r == '\u30FC' || r == '\uFF70' || r == '\uFF9E' || r == '\uFF9F': // change the kana before, and belong to no script
			if !again { // a long cry may be one token
				e[squares]++
			}
			inWord = false
			continue
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			e[squares]++
			inWord = false
			continue
		case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			e[dense]++
			inWord = false
			continue
		case unicode.IsSpace(r):
			inWord = false
			continue
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			continue
		}
		if !inWord {
			e[spaced]++
			inWord = true
		}
	}
	return e
}
