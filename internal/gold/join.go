package gold

import "strings"

// joinSentences writes tokenised sentences as ordinary text and returns, for
// every token, its byte range in it.
func joinSentences(sentences [][]string) (string, [][][2]int) {
	var b strings.Builder
	spans := make([][][2]int, len(sentences))
	for i, tokens := range sentences {
		if i > 0 {
			b.WriteByte(' ')
		}
		quoted, glue := false, true
		for j, tok := range tokens {
			tok = strings.TrimSpace(tok)
			before := glue || leansLeft(tok)
			glue = false
			switch tok {
			case `"`:
				before = before || quoted
				glue = !quoted
				quoted = !quoted
			case "(", "[", "{", "“", "‘", "``", "$", "#", "£", "€":
				glue = true
			case "-", "/":
				before, glue = true, true
				if j == 0 || j+1 == len(tokens) {
					before, glue = j == 0, false
				}
			}
			if !before {
				b.WriteByte(' ')
			}
			start := b.Len()
			b.WriteString(tok)
			spans[i] = append(spans[i], [2]int{start, b.Len()})
		}
	}
	return b.String(), spans
}

// leansLeft reports tokens that stand directly after the one before.
func leansLeft(tok string) bool {
	switch tok {
	case "", ",", ".", ";", ":", "!", "?", ")", "]", "}", "”", "%", "...", "…", "n't", "''":
		return true
	}
	return len(tok) > 1 && (tok[0] == '\'' || strings.HasPrefix(tok, "’")) && len(tok) <= len("’ll")
}
