package tokens

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tiktoken-go/tokenizer/codec"
)

// Counter counts tokens. It implements [extraction.TokenCounter] and is safe for
// concurrent use. The first one takes some 50 ms to make and 20 MB to hold.
type Counter struct {
	codec *codec.Codec

	mu    sync.RWMutex
	words map[string]int // counts of pieces that were met before
}

// NewCounter returns a counter.
func NewCounter() *Counter { return &Counter{codec: codec.NewO200kBase(), words: map[string]int{}} }

const (
	// bytesPerToken is a first guess at how much of a text a token takes;
	// English prose has 4 to 5.
	bytesPerToken = 6
	// longestWord bounds the pieces whose counts are kept, in bytes, and
	// mostWords how many are: a few MB.
	longestWord = 24
	mostWords   = 1 << 15
)

// Fit returns the length of text in bytes if it has at most budget tokens, else
// about as much as fits, up to between two runes and at least one rune.
func (c *Counter) Fit(text string, budget int) int {
	at, left := 0, budget
	for window := longestWord; ; {
		rest := text[at:]
		if len(rest) <= left {
			return len(text) // a token has at least one byte
		}
		piece, complete := firstPiece(rest, window)
		if !complete && window < left*bytesPerToken {
			window = left * bytesPerToken
			continue
		}
		n, fits := c.count(piece, left)
		switch {
		case !fits:
			if at+n == 0 {
				_, n = utf8.DecodeRuneInString(text)
			}
			return at + n
		case complete:
			at, left, window = at+len(piece), left-n, longestWord
		default:
			window *= 2
		}
	}
}

// count returns the tokens of piece if there are at most budget, else how many
// of its bytes that many tokens take.
func (c *Counter) count(piece string, budget int) (n int, fits bool) {
	if len(piece) <= longestWord {
		c.mu.RLock()
		n, known := c.words[piece]
		c.mu.RUnlock()
		if known && n <= budget {
			return n, true
		}
	}
	_, tokens, err := c.codec.Encode(piece)
	if err != nil { // the library gives up; a byte is at most a token
		if len(piece) <= budget {
			return len(piece), true
		}
		return len(prefix(piece, budget)), false
	}
	if len(tokens) > budget {
		for _, token := range tokens[:budget] {
			n += len(token)
		}
		return len(prefix(piece, n)), false
	}
	if len(piece) <= longestWord {
		c.remember(piece, len(tokens))
	}
	return len(tokens), true
}

func (c *Counter) remember(word string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.words) >= mostWords {
		clear(c.words)
	}
	c.words[strings.Clone(word)] = n // a copy: the text may be large
}

// firstPiece returns the beginning of text, at most about window bytes of it, up
// to where the tokens of what comes before and after add up to those of the
// whole: a space between two letters always begins a token of its own. It is
// complete if it ends at such a place, or at the end of text.
func firstPiece(text string, window int) (piece string, complete bool) {
	if window >= len(text) {
		window, complete = len(text), true
	}
	for i := 1; i+1 < len(text) && i <= window; i++ {
		if text[i] == ' ' && isLetter(text[i-1]) && isLetter(text[i+1]) {
			return text[:i], true
		}
	}
	return prefix(text, window), complete
}

func isLetter(c byte) bool {
	c |= 0x20
	return 'a' <= c && c <= 'z'
}

// prefix is text up to the last rune that ends at or before n.
func prefix(text string, n int) string {
	if n >= len(text) {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}
