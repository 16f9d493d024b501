package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// longestAbbreviation is more bytes than any abbreviation has.
const longestAbbreviation = 16

// endsAbbreviated reports whether the full stop after text marks an
// abbreviation. A wrong yes costs a place to cut, a wrong no cuts a name.
func endsAbbreviated(text string) bool {
	text = text[max(0, len(text)-longestAbbreviation):]
	word := text[strings.LastIndexFunc(text, func(r rune) bool {
		return r != '.' && !unicode.IsLetter(r)
	})+1:]
	if i := strings.LastIndexByte(word, '.'); i >= 0 && len(word)-i <= 2 {
		return true // "e.g", "U.S", "J.R.R"
	}
	if utf8.RuneCountInString(word) == 1 {
		r, _ := utf8.DecodeRuneInString(word)
		return unicode.IsUpper(r) // an initial
	}
	switch strings.ToLower(word) {
	case "mr", "mrs", "ms", "dr", "prof", "st", "sr", "jr", "rev", "hon", "gen", "col", "capt", "cpt", "lt", "sgt", "gov", "sen", "rep",
		"vs", "etc", "cf", "al", "fig", "figs", "eq", "eqs", "sec", "ch", "vol", "no", "nos", "art", "ed", "eds", "pp", "ca", "approx",
		"inc", "ltd", "co", "corp", "dept", "est", "univ", "mt", "ave", "blvd",
		"jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep", "sept", "oct", "nov", "dec",
		"bzw", "hr", "nr", "str", "usw", "vgl", "mme", "mlle", "sra", "núm", "pág":
		return true
	}
	return false
}
