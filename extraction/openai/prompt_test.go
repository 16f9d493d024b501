package openai_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/extraction/tokens"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func reports(promptTokens int) modelserver.Behaviour {
	return modelserver.Behaviour{Name: "custom", Usage: fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":5}`, promptTokens)}
}

var long = strings.Repeat("Ada met Babbage in the city of London again. ", 1000) // 9000 words

func TestAPromptThatTheServerCutIsContextTooLong(t *testing.T) {
	english := long[:12_000] // 2,400 words and the instructions
	chinese := strings.Repeat("东京是日本的首都，也是世界上人口最多的城市之一。", 130)
	for _, tc := range []struct {
		text   string
		tokens int
	}{{long, 2048}, {long, 4096}, {english, 2048}, {english, 2047}, {chinese, 512}, {chinese, 520}, {chinese, 1024}} {
		p := start(t)
		p.server.Then(reports(tc.tokens))
		_, err := p.ask(tc.text)
		require.ErrorIs(t, err, extraction.ErrContextTooLong, "%d of %d bytes", tc.tokens, len(tc.text))
	}

	// A small context is believed of a server that has counted in full before.
	medium := long[:len(long)/20]
	p := start(t)
	p.server.Then(reports(600), reports(600), reports(8))
	for range 2 {
		_, err := p.ask(medium)
		require.NoError(t, err)
	}
	_, err := p.ask("Again. " + medium)
	require.ErrorIs(t, err, extraction.ErrContextTooLong)
}

func TestAServerThatDoesNotCountCostsNoResults(t *testing.T) {
	p := start(t)
	for _, n := range []int{0, 1, 10, 42, 100, 500, -7} {
		for _, text := range []string{sentence, long} {
			p.server.Then(reports(n))
			_, err := p.ask(text)
			require.NoError(t, err, n)
		}
	}
}

// Ollama and others report only what they had not read before.
func TestAServerThatLeavesOutWhatItHasCachedCostsNoResults(t *testing.T) {
	instructions, text := strings.Repeat("word ", 600), long[:4500] // 900 words
	for _, counts := range [][]int{{1800, 1000, 950, 5, 1000}, {1000, 930, 1600, 5, 1000}, {1800, 1800, 1000, 300, 1500}, {950, 7, 1800, 950}} {
		p := start(t)
		for i, n := range counts {
			p.server.Then(reports(n))
			_, err := p.provider.Extract(t.Context(), extraction.Request{Tenant: "acme", SystemPrompt: instructions, Text: text, Schema: extraction.AnswerSchema()})
			require.NoError(t, err, "%v, call %d", counts, i)
		}
	}
	p := start(t)
	for i, n := range []int{1300, 1300, 1300, 60, 1024} { // the text was cached, too
		p.server.Then(reports(n))
		_, err := p.ask(text)
		require.NoError(t, err, "call %d", i)
	}
	p = start(t)
	cached := reports(300)
	cached.Usage = []byte(`{"prompt_tokens":300,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":1000}}`)
	p.server.Then(reports(1300), reports(1300), cached)
	for range 3 {
		_, err := p.ask(text)
		require.NoError(t, err)
	}
}

// A server that cuts every long prompt to what its context holds gives itself away, also
// if what it keeps could be the whole.
func TestPromptsThatAreAllCutToTheSameLengthAreNoticed(t *testing.T) {
	m, cuts, noticed := openai.NewMeter(), 0, 0
	for i := range 40 {
		words := 800 + i%10*100
		tokens := int64(min(2048, words*3/2))
		if tokens == 2048 {
			cuts++
		}
		if m.Cuts(extraction.Request{Text: letter(i, words)}, tokens) {
			require.EqualValues(t, 2048, tokens)
			noticed++
		}
	}
	require.Equal(t, 16, cuts)
	require.Equal(t, cuts-2, noticed, "all but the first two")
}

// letter is a text of its own with a number of words.
func letter(i, words int) string { return fmt.Sprintf("Letter %d ", i) + long[:(words-2)*5] }

// Counts of an honest server, or of one that does not count, have no plateau.
func TestHonestCountsHaveNoPlateau(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for name, counts := range map[string]func(i int) (tokens, words int){
		"one number":            func(i int) (int, int) { return 2048, 500 + i%500 },
		"round numbers":         func(i int) (int, int) { return 1024 + i%2*1024, 500 + i%2*300 + i%100 },
		"texts made alike":      func(i int) (int, int) { return []int{1501, 2048, 2048}[i%3], []int{500, 800, 800}[i%3] },
		"longer ones elsewhere": func(i int) (int, int) { return []int{2049, 1501, 2048, 2048}[i%4], 500 + i%500 },
		"no size of a context":  func(i int) (int, int) { return []int{2000, 1501, 2000}[i%3], 500 + i%500 },
		"the longest by chance": func(i int) (int, int) { return 2048 - rnd.IntN(300), 500 + rnd.IntN(500) },
		"any": func(i int) (int, int) {
			words := 450 + rnd.IntN(900)
			return words*3/2 + 60 + rnd.IntN(40), words
		},
	} {
		m := openai.NewMeter()
		for i := range 5000 {
			tokens, words := counts(i)
			require.False(t, m.Cuts(extraction.Request{Text: letter(i, words)}, int64(tokens)), "%s, call %d", name, i)
		}
	}
}

// What is taken for cut is less than any tokenizer makes of a text. That of GPT-4o and
// later, with 200,000 tokens, makes little.
func TestNoTokenizerMakesAsLittleAsIsTakenForCut(t *testing.T) {
	counter := tokens.NewCounter()
	for language, text := range map[string]string{
		"English":    "Ada Lovelace met Charles Babbage at a party in London, and they wrote to each other for many years about the engine that he had planned.",
		"German":     "Die Straßenbahn fuhr durch die Stadt, als der Bürgermeister die Versammlung der Einwohner eröffnete und um Ruhe bat.",
		"Finnish":    "Helsingissä asuu yli kuusisataatuhatta ihmistä, ja kaupunki on maan suurin.",
		"Russian":    "Москва является столицей России и крупнейшим по численности населения городом страны.",
		"Arabic":     "القاهرة هي عاصمة جمهورية مصر العربية وأكبر مدنها من حيث عدد السكان.",
		"Hindi":      "दिल्ली भारत की राजधानी है और देश का एक बहुत बड़ा शहर है।",
		"Vietnamese": "Hà Nội là thủ đô của nước Việt Nam và là một thành phố rất lớn.",
		"Chinese":    "东京是日本的首都，也是世界上人口最多的城市之一。中华人民共和国成立于一九四九年十月一日。",
		"Japanese":   "東京は日本の首都であり、世界でも最も人口の多い都市の一つです。ありがとうございました。",
		"katakana":   "サーバーのエラーメッセージがユーザーのコンピューターに表示される。メーカーのスーパーコンピューターセンターでデータサービスをスタート。ｺﾝﾋﾟｭｰﾀｰ",
		"a cry":      "えーーーーーーーーーーーーーーーーーーーーーーーー、すごーーーーーーーーーーーーーーーーーーーーーーーーい",
		"Korean":     "서울은 대한민국의 수도이며 인구가 가장 많은 도시이다. 사람들은 한강을 따라 걷는다.",
		"Thai":       "กรุงเทพมหานครเป็นเมืองหลวงและนครที่มีประชากรมากที่สุดของประเทศไทย",
		"Khmer":      "ភ្នំពេញគឺជារាជធានីនៃព្រះរាជាណាចក្រកម្ពុជា",
		"numbers":    "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20",
		"a table":    "| a | b | c |\n|---|---|---|\n| 1 | 2 | 3 |\n| 4 | 5 | 6 |",
		"a URL":      "https://example.org/a/b/c?d=e&f=g it's o'clock, e.g. at 10:30",
	} {
		few, all := openai.FewestTokens(text), tokensOf(counter, text)
		require.Greater(t, all*10, few*11-10, "%s: %d, of %d", language, few, all)
		t.Logf("%s: at least %d, o200k %d", language, few, all)
	}
}

// The mark of a long vowel is no word between two words, nor are half-width voice marks.
func TestALongVowelIsOneCharacterMore(t *testing.T) {
	require.Equal(t, openai.FewestTokens("ササササササササササササ"), openai.FewestTokens("サーバーｻｰﾊﾞｰサーバ"))
}

func tokensOf(c *tokens.Counter, text string) (n int64) {
	for ; text != ""; n++ {
		text = text[c.Fit(text, 1):]
	}
	return n
}
