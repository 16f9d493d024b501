package openai

import (
	"hash/maphash"
	"slices"
	"sync"
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction"
)

const (
	// smallestContext is the fewest tokens at which a server may plausibly cut a
	// prompt. A server that reports less for everything does not count at all.
	smallestContext = 512
	// contextStep divides the sizes that contexts have.
	contextStep = 1024
	// fewTokens is a prompt too short to conclude anything from.
	fewTokens = 64
	// trusted is after how many full counts a server is believed to count.
	trusted = 2
	// remembered is how many of the last texts that were read in full are remembered.
	remembered = 256
)

// meter judges how a server counts prompts. It is safe for concurrent use.
type meter struct {
	mu   sync.Mutex
	full int   // counts that can be of the whole prompt
	most int64 // tokens that it has reported of one prompt
	odd  bool  // it leaves out of its counts what it has cached
	edge plateau

	read [remembered]uint64 // hashes of texts that it has counted in full
	next int                // in read
	seed maphash.Seed
}

// newMeter returns a meter that has seen nothing.
func newMeter() *meter { return &meter{seed: maphash.MakeSeed()} }

// cuts reports whether the server read less than was sent: servers that cut a long
// prompt in silence answer from the rest. Every tokenizer spends what
// [fewestTokens] says; the tests measure one that spends few.
//
// A server that counts nonsense, or only what it had not cached, must not cost any
// results. Instructions are cached and texts are new, so a count that covers the text is
// believed only if it is what a context holds to the token, and one that does not if it
// may be the size of a context, or if the server has counted in full before. None is
// believed any more once a count covers the text and is far below what the server has
// read before: one that cuts keeps as much of every prompt. A text that was counted in
// full before is not judged again: it may be cached.
//
// Tokenizers differ by a factor of two, and so a prompt that was cut to more than half
// may pass, until so many were cut to the same length that a [plateau] shows.
func (m *meter) cuts(req extraction.Request, promptTokens int64) bool {
	text := fewestTokens(req.Text)
	all := text + fewestTokens(req.SystemPrompt)
	if promptTokens <= 0 || all < fewTokens {
		return false
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	hash := maphash.String(m.seed, req.Text)
	known := slices.Contains(m.read[:], hash)
	if promptTokens >= all && !known {
		m.read[m.next%remembered] = hash
		m.next++
	}
	if promptTokens >= all {
		m.full++
		m.most = max(m.most, promptTokens)
		return !known && !m.odd && m.edge.reached(promptTokens, all)
	}
	if known {
		return false
	}
	covers := promptTokens >= text
	m.odd = m.odd || covers && promptTokens < m.most/4*3
	switch m.most = max(m.most, promptTokens); {
	case m.odd:
		return false
	case promptTokens == smallestContext || promptTokens%contextStep == 0:
		return true
	case covers:
		return false
	}
	return promptTokens >= smallestContext || m.full >= trusted
}

// fewestTokens is a number of tokens that no tokenizer does with less than: one for
// each word with a letter or a digit, and for scripts without spaces, and Hangul, whose
// words are long, a part of one for each character.
func fewestTokens(s string) int64 {
	var words, ideographs, dense int64
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
				ideographs++
			}
			inWord = false
			continue
		case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul):
			ideographs++
			inWord = false
			continue
		case unicode.In(r, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
			dense++
			inWord = false
			continue
		case unicode.IsSpace(r):
			inWord = false
			continue
		case !unicode.IsLetter(r) && !unicode.IsNumber(r):
			continue
		}
		if !inWord {
			words++
			inWord = true
		}
	}
	return words + ideographs*2/5 + dense/5
}
