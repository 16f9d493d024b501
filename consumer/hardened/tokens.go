package hardened

import (
	"unicode"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// EstimateTokens guesses what a request will use, before any tokenizer has seen
// it: the prompt and the schema, the text, and an answer as long as the text.
// The limiter replaces the guess by what the server reports.
func EstimateTokens(req extraction.Request) int64 {
	text := countTokens(req.Text)
	return countTokens(req.SystemPrompt) + int64(len(req.Schema.JSON)+3)/4 + 2*text
}

// countTokens counts four ASCII characters, two of another alphabet, or one
// ideograph, syllable or symbol as a token, which is near enough for the
// tokenizers in use and rather high than low.
func countTokens(s string) int64 {
	var quarters int64
	for _, r := range s {
		switch {
		case r < utf8.RuneSelf:
			quarters++
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) || unicode.IsSymbol(r):
			quarters += 4
		default:
			quarters += 2
		}
	}
	return (quarters + 3) / 4
}
