package prose

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Token is one word, number or punctuation mark, as a byte range of the text.
type Token struct {
	Start, End int
	// Opaque is set for code, URLs, paths and identifiers: the token holds a
	// place in the sentence, its letters are not English.
	Opaque bool
}

// Sentence is one sentence, heading or list item.
type Sentence struct {
	Tokens []Token
	// Title is set for headings, table cells and other lines that are not
	// running text, where capitals say nothing about names.
	Title bool
}

// Start and End are the sentence's byte range. A Sentence that [Split] returns
// has at least one token.
func (s Sentence) Start() int { return s.Tokens[0].Start }

// End is the byte after the last token.
func (s Sentence) End() int { return s.Tokens[len(s.Tokens)-1].End }

// longestSentence bounds the work on text that never ends a sentence, in tokens.
const longestSentence = 256

// Split returns the sentences of text in order. Tokens do not overlap.
func Split(text string) []Sentence {
	var out []Sentence
	for _, b := range blocks(text) {
		tokens := tokenize(text, b)
		from := 0
		for i := range tokens {
			if endsSentence(text, tokens, i) || i-from == longestSentence-1 {
				out = append(out, Sentence{Tokens: tokens[from : i+1 : i+1], Title: b.title})
				from = i + 1
			}
		}
		if from < len(tokens) {
			out = append(out, Sentence{Tokens: tokens[from:], Title: b.title})
		}
	}
	return out
}

// tokenize cuts the visible parts of a block. A span ends every token at its
// edge, so that no token reaches over removed markup.
func tokenize(text string, b block) []Token {
	var out []Token
	for _, s := range b.spans {
		if s.opaque {
			out = append(out, Token{Start: s.start, End: s.end, Opaque: true})
			continue
		}
		for at := s.start; at < s.end; {
			r, size := utf8.DecodeRuneInString(text[at:s.end])
			switch {
			case isSpace(r):
				at += size
			case isWord(r):
				end := wordEnd(text, at, s.end)
				out = append(out, Token{Start: at, End: end})
				at = end
			case r == '\'' || r == '’':
				end := cliticEnd(text, at, size, s.end, out)
				out = append(out, Token{Start: at, End: end})
				at = end
			default:
				out = append(out, Token{Start: at, End: at + size})
				at += size
			}
		}
	}
	return out
}

func isSpace(r rune) bool {
	return unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'
	}
	return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}

// noSpaces reports scripts that write words without spaces: there each rune
// is a token of its own.
func noSpaces(r rune) bool {
	return r >= 0x0E00 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar)
}

// wordEnd returns where the word that starts at the given byte ends. Inner
// apostrophes (O'Brien), the points of initials and known abbreviations (J.,
// U.S., Inc.) and inner points and commas of numbers belong to the word; a
// possessive 's and a hyphen do not.
func wordEnd(text string, at, limit int) int {
	i, digits := at, true
	for i < limit {
		r, size := utf8.DecodeRuneInString(text[i:limit])
		if isWord(r) {
			if noSpaces(r) {
				if i == at {
					return i + size
				}
				return i
			}
			digits = digits && unicode.IsDigit(r)
			i += size
			continue
		}
		next, _ := utf8.DecodeRuneInString(text[i+size : limit])
		if !isWord(next) || noSpaces(next) {
			break
		}
		switch {
		case (r == '\'' || r == '’') && cliticLength(text[i:limit]) == 0:
		case (r == '.' || r == ',') && digits && unicode.IsDigit(next):
		case r == '.' && (isInitials(text[at:i]) || i == at+1 && i+2 < limit && text[i+2] == '.'): // U.S, p.m
		default:
			return i
		}
		i += size
	}
	if i < limit && text[i] == '.' && (isInitials(text[at:i]) || abbreviations[strings.ToLower(text[at:i])]) {
		return i + 1
	}
	return i
}

// isInitials reports "J", "U.S", "p.m": single letters with points between.
func isInitials(s string) bool {
	if len(s) > 16 {
		return false
	}
	n := 0
	for len(s) > 0 {
		r, size := utf8.DecodeRuneInString(s)
		if !unicode.IsLetter(r) || n == 0 && len(s) == size && !unicode.IsUpper(r) {
			return false
		}
		n++
		s = s[size:]
		if s == "" {
			return true
		}
		if s[0] != '.' {
			return false
		}
		s = s[1:]
	}
	return false
}

var clitics = []string{"s", "d", "m", "ll", "re", "ve"}

// cliticLength returns the length of the clitic that s starts with, its
// apostrophe included: 's, 'd, 'll and so on; 0 if there is none.
func cliticLength(s string) int {
	_, size := utf8.DecodeRuneInString(s)
	for _, c := range clitics {
		rest, ok := strings.CutPrefix(s[size:], c)
		if !ok {
			continue
		}
		if r, _ := utf8.DecodeRuneInString(rest); rest == "" || !isWord(r) {
			return size + len(c)
		}
	}
	return 0
}

// cliticEnd returns the end of the clitic at the apostrophe, or of the
// apostrophe alone when no word stands directly before it.
func cliticEnd(text string, at, size, limit int, before []Token) int {
	n := cliticLength(text[at:limit])
	if n == 0 || len(before) == 0 || before[len(before)-1].End != at {
		return at + size
	}
	return at + n
}

// endsSentence reports whether the sentence ends with token i.
func endsSentence(text string, tokens []Token, i int) bool {
	if i+1 == len(tokens) {
		return false
	}
	tok, next := tokens[i], tokens[i+1]
	if tok.Opaque {
		return false
	}
	switch s := text[tok.Start:tok.End]; s {
	case "。", "！", "？", "｡":
		return true
	case ".", "!", "?", "…":
		return tok.End < next.Start && opensSentence(text, next)
	case "\"", "”", "’", ")", "]", "'":
		if i == 0 || tok.End == next.Start || !opensSentence(text, next) || tokens[i-1].Opaque {
			return false
		}
		before := text[tokens[i-1].Start:tokens[i-1].End]
		return tokens[i-1].End == tok.Start && (before == "." || before == "!" || before == "?")
	default:
		// "... at Apple Inc. The company": an abbreviation ends the sentence
		// when a capitalised function word follows.
		return len(s) > 2 && s[len(s)-1] == '.' && opensSentence(text, next) && sentenceOpeners[text[next.Start:next.End]]
	}
}

// opensSentence reports whether a sentence may start with the token.
func opensSentence(text string, t Token) bool {
	if t.Opaque {
		return true
	}
	r, _ := utf8.DecodeRuneInString(text[t.Start:t.End])
	return !unicode.IsLower(r) && r != ',' && r != ';' && r != ')' && r != ':'
}
