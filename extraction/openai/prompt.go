package openai

import (
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

const (
	// smallestContext is the fewest tokens at which a server may plausibly cut a
	// prompt. A server that reports less for everything does not count at all.
	smallestContext = 512
	// fewWords is a prompt too short to conclude anything from.
	fewWords = 64
)

// cutsPrompts reports whether the server read far less than was sent: servers
// that cut a long prompt in silence answer from the rest. A tokenizer spends at
// least one token on a word; half of that leaves room for every exception.
//
// A server that counts nonsense must not cost any results. So a low count is
// believed only if it could be the size of a context, or if the server has
// counted plausibly before.
func (p *Provider) cutsPrompts(req extraction.Request, promptTokens int64) bool {
	if promptTokens <= 0 {
		return false
	}
	words := countWords(req.SystemPrompt) + countWords(req.Text)
	if words < fewWords {
		return false
	}
	if promptTokens >= words/2 {
		if promptTokens >= words {
			p.counts.Store(true)
		}
		return false
	}
	return promptTokens >= smallestContext || p.counts.Load()
}

func countWords(s string) (n int64) {
	for range strings.FieldsSeq(s) {
		n++
	}
	return n
}
