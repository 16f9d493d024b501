package openai_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func reports(promptTokens int) modelserver.Behaviour {
	return modelserver.Behaviour{Name: "custom", Usage: fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":5}`, promptTokens)}
}

var (
	long    = strings.Repeat("Ada met Babbage in the city of London again. ", 1000) // 9000 words
	chinese = strings.Repeat("东京是日本的首都，也是世界上人口最多的城市之一。", 400)                       // 8800 ideographs, at least 3520 tokens
)

// words are so many words of a text of its own.
func words(i, n int) string { return fmt.Sprintf("Letter %d ", i) + long[:(n-2)*5] }

// Ollama cuts a prompt to num_ctx, 2,048 or 4,096, and answers from the rest.
func TestAPromptThatTheServerCutIsContextTooLong(t *testing.T) {
	for _, tc := range []struct {
		text   string
		tokens int
		before [][2]string // texts that it has counted, and how
	}{
		{long, 2048, [][2]string{{words(1, 300), "401"}, {words(2, 600), "790"}}},
		{long, 2047, [][2]string{{words(1, 600), "790"}, {words(2, 300), "401"}}},
		{long, 4096, [][2]string{{words(1, 600), "790"}, {words(2, 300), "401"}}},
		{words(3, 2600), 2048, [][2]string{{words(1, 600), "790"}, {words(2, 300), "401"}}},
		{chinese, 2048, [][2]string{{chinese[:1200], "333"}, {chinese[:2400], "655"}}},
	} {
		p := start(t)
		for _, b := range tc.before {
			var n int
			_, err := fmt.Sscan(b[1], &n)
			require.NoError(t, err)
			p.server.Then(reports(n))
			_, err = p.ask(b[0])
			require.NoError(t, err)
		}
		for range 2 {
			p.server.Then(reports(tc.tokens))
			_, err := p.ask(tc.text)
			require.ErrorIs(t, err, extraction.ErrContextTooLong, "%d of %d bytes", tc.tokens, len(tc.text))
		}
	}
}

// To whatever size a server cuts, two long prompts that come out the same show it.
func TestTwoPromptsThatWereCutToOneSizeAreNoticed(t *testing.T) {
	m := openai.NewMeter()
	cuts := func(words string, tokens int64) bool { return m.Cuts(extraction.Request{Text: words}, tokens) }
	require.False(t, cuts(words(1, 300), 401))
	require.False(t, cuts(words(2, 600), 790))
	require.False(t, cuts(words(3, 3000), 1500), "the first may be an odd count")
	require.False(t, cuts(words(3, 3000), 1500), "the same prompt")
	require.True(t, cuts(words(4, 3100), 1500))
	require.True(t, cuts(words(5, 3000), 1500))
	require.False(t, cuts(words(6, 3000), 1499), "not the same")
	require.False(t, cuts(words(7, 600), 790))
}

// Of a cut like the one above, each sign alone is none: whoever is accused wrongly loses
// good chunks.
func TestNoSignOfACutIsEnoughAlone(t *testing.T) {
	counted := func(m openai.Meter) {
		require.False(t, m.Cuts(extraction.Request{Text: words(1, 300)}, 401))
		require.False(t, m.Cuts(extraction.Request{Text: words(2, 600)}, 790))
	}
	cuts := func(text string, tokens int64, before func(openai.Meter)) bool {
		m := openai.NewMeter()
		before(m)
		return m.Cuts(extraction.Request{Text: text}, tokens)
	}
	none := func(openai.Meter) {}
	require.True(t, cuts(long, 2048, counted))
	require.False(t, cuts(long, 2048, none), "a server that may not count")
	require.False(t, cuts(chinese, 2048, counted), "another script")
	require.False(t, cuts(long[:len(long)/2]+chinese, 2048, counted), "two scripts")
	require.False(t, cuts(words(3, 2400), 2048, counted), "nearly as many as there are words")
	require.False(t, cuts(long, 1024, counted), "too small for a context")
	for _, n := range []int64{0, 1, 60, 2000, 2046, 2049, 3000} {
		require.False(t, cuts(long, n, counted), "%d is no size of a context", n)
	}
	require.False(t, cuts(long, 2048, func(m openai.Meter) {
		counted(m)
		m.Cuts(extraction.Request{Text: words(3, 1800)}, 2300)
	}), "a server that has read more")
	require.False(t, cuts(long, 2048, func(m openai.Meter) {
		m.Cuts(extraction.Request{Text: words(1, 300)}, 790)
		m.Cuts(extraction.Request{Text: words(2, 600)}, 801)
	}), "counts that do not grow with the texts")
	require.False(t, cuts(long, 2048, func(m openai.Meter) {
		m.Cuts(extraction.Request{Text: words(1, 300)}, 384)
		m.Cuts(extraction.Request{Text: words(2, 600)}, 1024)
	}), "round counts")
}

// Over HTTP: one number for everything, or none.
func TestAServerThatDoesNotCountCostsNoResults(t *testing.T) {
	for _, n := range []int{0, 42, 512, 900, 1000, 1024, 2048, 4096, -7} {
		p := start(t)
		for _, text := range []string{sentence, words(1, 300), words(2, 600), words(3, 1500), words(4, 6000), chinese} {
			p.server.Then(reports(n))
			_, err := p.ask(text)
			require.NoError(t, err, n)
		}
	}
}

// Servers that count in a way of their own, among texts of many kinds and lengths.
func TestServersThatCountOddlyCostNoResults(t *testing.T) {
	var rnd *rand.Rand
	instructions := extraction.SystemPrompt
	spaces := func(s string) int { return len(strings.Fields(s)) }
	header := long[:7500] // 1,500 words
	texts := []func(i int) string{
		func(i int) string { return words(i, 100+rnd.IntN(3000)) },
		func(i int) string { return chinese[:(50+rnd.IntN(350))*66] },
		func(int) string { return strings.Repeat("a b c d e ", 10+rnd.IntN(600)) },
		func(i int) string { return header + words(i, 100+rnd.IntN(1800)) },
		func(i int) string { return words(i, 100) + chinese[:(50+rnd.IntN(350))*66] },
		func(int) string { return strings.Repeat("ภาษาไทย", 100+rnd.IntN(1800)) },
	}
	counters := map[string]func(text string, i int) int{
		"by spaces":                  func(text string, _ int) int { return spaces(text + instructions) },
		"by four characters":         func(text string, _ int) int { return utf8.RuneCountInString(text+instructions) / 4 },
		"by four bytes":              func(text string, _ int) int { return len(text+instructions) / 4 },
		"without the instructions":   func(text string, _ int) int { return spaces(text) * 4 / 3 },
		"without a common beginning": func(text string, _ int) int { return spaces(strings.TrimPrefix(text, header))*4/3 + 1 },
		"without anything cached": func(text string, i int) int {
			if i%3 == 0 {
				return 1
			}
			return spaces(strings.TrimPrefix(text, header)) * 4 / 3
		},
		"at random":          func(string, int) int { return rnd.IntN(4000) },
		"in blocks of 128":   func(text string, _ int) int { return (spaces(text+instructions)*4/3 + 127) / 128 * 128 },
		"honestly, nearly":   func(text string, _ int) int { return int(openai.FewestTokens(text + instructions)) },
		"always a round one": func(string, int) int { return 2048 },
	}
	for name, count := range counters {
		accused := 0
		for seed := range uint64(3) {
			rnd = rand.New(rand.NewPCG(seed, 4)) // the same texts for each

			m := openai.NewMeter()
			for i := range 50 {
				text := texts[rnd.IntN(len(texts))](i)
				if m.Cuts(extraction.Request{SystemPrompt: instructions, Text: text}, int64(count(text, i))) {
					accused++
				}
			}
		}
		require.Zero(t, accused, name)
	}
}

// Over HTTP: documents that begin alike, of which a server counts only what is new; two
// English texts and then Japanese, counted by spaces.
func TestOddCountsCostNoResultsOverHTTP(t *testing.T) {
	p := start(t)
	header := long[:7500]
	for i := range 8 {
		n := 330 + i
		if i == 0 {
			n += 2000
		}
		p.server.Then(reports(n))
		_, err := p.ask(header + words(i, 250+i))
		require.NoError(t, err, "form %d", i)
	}
	p = start(t)
	for _, text := range []string{words(1, 300), words(2, 600), chinese, chinese[:6000], chinese[:9000]} {
		p.server.Then(reports(len(strings.Fields(text)) + 4))
		_, err := p.ask(text)
		require.NoError(t, err)
	}
	p = start(t)
	cached := reports(300)
	cached.Usage = []byte(`{"prompt_tokens":2048,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":9000}}`)
	p.server.Then(reports(401), reports(790), cached)
	for _, text := range []string{words(1, 300), words(2, 600), long} {
		_, err := p.ask(text)
		require.NoError(t, err)
	}
}
