package openai_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/extraction/tokens"
)

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
