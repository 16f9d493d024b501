package extraction_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func ground(t require.TestingT, text string, d extraction.Draft) ([]extraction.Entity, []extraction.Relationship, extraction.Counters) {
	entities, relationships, counters := extraction.Ground("acme", text, d)
	checkGrounding(t, text, entities, relationships, counters)
	return entities, relationships, counters
}

// checkGrounding states what every grounded result promises.
func checkGrounding(t require.TestingT, text string, entities []extraction.Entity, relationships []extraction.Relationship, c extraction.Counters) {
	ungrounded := 0
	check := func(e *extraction.Evidence) {
		if e == nil {
			ungrounded++
			return
		}
		require.Equal(t, text[e.ByteStart:e.ByteEnd], e.Quote, "the quote is not what stands there")
		require.True(t, utf8.ValidString(e.Quote), "the evidence splits a rune")
		require.NotEmpty(t, strings.TrimSpace(e.Quote))
	}
	known := map[string]bool{}
	for _, e := range entities {
		check(e.Evidence)
		require.False(t, known[e.ID], "entity %q is there twice", e.Name)
		known[e.ID] = true
		require.Equal(t, extraction.EntityID("acme", e.Name, e.Type), e.ID)
	}
	for _, r := range relationships {
		check(r.Evidence)
		require.True(t, known[r.SourceID] && known[r.TargetID] && r.SourceID != r.TargetID)
		require.Equal(t, extraction.RelationshipID("acme", r.SourceID, r.Type, r.TargetID), r.ID)
	}
	require.Equal(t, ungrounded, c.Ungrounded)
}

func drafted(rows ...string) extraction.Draft {
	var d extraction.Draft
	for i := 0; i+2 < len(rows); i += 3 {
		d.Entities = append(d.Entities, extraction.DraftEntity{Name: rows[i], Type: rows[i+1], Quote: rows[i+2]})
	}
	return d
}

// quoteIn returns the text's own words for a quote.
func quoteIn(text, quote string) string {
	start, end, _ := extraction.Align(text, quote)
	return text[start:end]
}

// CJK, emoji, CRLF: offsets are bytes and slice back to the quote exactly.
func TestOffsetsAreBytes(t *testing.T) {
	text := "👩‍👩‍👧‍👦 東京から\r\n来ました。Ада Лавлейс met José."
	for _, quote := range []string{"👩‍👩‍👧‍👦", "東京から\r\n来ました。", "Ада Лавлейс met José", "東京"} {
		entities, _, _ := ground(t, text, drafted(quote, "thing", quote))
		e := entities[0].Evidence
		require.NotNil(t, e, quote)
		require.Equal(t, quote, e.Quote)
		require.Equal(t, strings.Index(text, quote), e.ByteStart)
		require.Equal(t, strings.Index(text, quote)+len(quote), e.ByteEnd)
	}
}

func TestQuotesAlignWithTheTextsOwnBytes(t *testing.T) {
	text := "Chapter 1\r\n\r\nAda  Lovelace\r\nmet “Charles\u00a0Babbage” – in\tLondon’s Soho; the ﬁrst cafe\u0301 of the STRASSE. H₂O\u00ad works."
	for quote, want := range map[string]string{
		"Ada Lovelace met":                "Ada  Lovelace\r\nmet",
		"ADA LOVELACE\nMET":               "Ada  Lovelace\r\nmet",
		`"Charles Babbage" - in London's`: "“Charles\u00a0Babbage” – in\tLondon’s",
		"the first café":                  "the ﬁrst cafe\u0301",
		"of the Straße":                   "of the STRASSE",
		"h2o works":                       "H₂O\u00ad works",
		`"Charles Babbage in`:             "Charles\u00a0Babbage” – in",
		`"...Ada Lovelace met..."`:        "Ada  Lovelace\r\nmet",
		"  Soho;  ":                       "Soho;",
		"Lovelace met Charles":            "Lovelace\r\nmet “Charles",
		"Ada Lovelace never met":          "",
		"":                                "",
		" \n":                             "",
		"...":                             "",
		"\u200b":                          "",
	} {
		require.Equal(t, want, quoteIn(text, quote), "%q", quote)
	}
}

func TestQuotesAreWholeWords(t *testing.T) {
	text := "Canada is large. Ada lived. ADA too."
	start, _, _ := extraction.Align(text, "Ada")
	require.Equal(t, 17, start)
	start, _, _ = extraction.Align(text, "ada")
	require.Equal(t, 17, start, "not the end of Canada, though it is verbatim")
	for _, scrap := range []string{"Cana", "cANA", "a is large. Ad", "anada is large", ".", "。", " . ", "—"} {
		require.Empty(t, quoteIn(text+"。—", scrap), "%q", scrap)
	}
	for _, dense := range []string{"京から来", "ました。Canada"} {
		require.Equal(t, dense, quoteIn("東京から来ました。Canada", dense), "words are not spaced")
	}

	entities, _, _ := ground(t, "か\u3099く", drafted("か", "thing", ""))
	require.Nil(t, entities[0].Evidence, "also where words are not spaced")
}

// langextract#209, openfoia#34: a name out of an example or out of instructions
// in the document is not in the text; it is kept, marked and counted.
func TestANameThatIsNotInTheTextIsKeptWithoutEvidence(t *testing.T) {
	text := "Ada Lovelace met Charles Babbage in Canada."
	entities, _, counters := ground(t, text, drafted(
		"Ada Lovelace", "person", "Ada Lovelace met",
		"Romeo", "person", "Romeo loves Juliet",
		"Ada", "person", "",
		"Can", "person", "She can",
		"charles  babbage", "person", "Charles invented everything",
	))
	require.Equal(t, "Ada Lovelace met", entities[0].Evidence.Quote)
	require.Nil(t, entities[1].Evidence)
	require.Equal(t, "Ada", entities[2].Evidence.Quote, "the name stands there by itself")
	require.Nil(t, entities[3].Evidence, "part of a word is not the name")
	require.Equal(t, "Charles Babbage", entities[4].Evidence.Quote)
	require.Equal(t, 2, counters.Ungrounded)
}

func TestNamesInScriptsWithoutSpacesAreGrounded(t *testing.T) {
	for text, name := range map[string]string{"私は東京から来ました。": "東京", "김철수는 왔다": "김철수", "ผมอยู่กรุงเทพครับ": "กรุงเทพ"} {
		entities, _, _ := ground(t, text, drafted(name, "x", ""))
		require.NotNil(t, entities[0].Evidence, name)
		require.Equal(t, name, entities[0].Evidence.Quote)
	}
}

// LightRAG#1726: two spellings of a name are one entity. R37.
func TestTwoSpellingsOfANameAreOneEntity(t *testing.T) {
	d := drafted("Electron", "Particle", "nowhere to be found", "electron", "particle", "An ELECTRON", "Electron", "framework", "Electron app")
	low, high := 0.2, 0.9
	d.Entities[0].Confidence, d.Entities[1].Confidence = &low, &high
	d.Entities[1].Description = "tiny"
	entities, _, counters := ground(t, "An ELECTRON is tiny. The Electron app is not.", d)
	require.Len(t, entities, 2, "another type is another entity")
	require.Equal(t, "Electron", entities[0].Name)
	require.Equal(t, "tiny", entities[0].Description)
	require.Equal(t, 0.9, *entities[0].Confidence)
	require.NotNil(t, entities[0].Evidence)
	require.Equal(t, "framework", entities[1].Type)
	require.Zero(t, counters.Ungrounded)
}

func TestQuotesEndBeforeWhatCannotBeSeen(t *testing.T) {
	text := "The H₂O\u00ad\u200b boils.\u200b\r\n"
	require.Equal(t, "H₂O", quoteIn(text, "h2o"))
	require.Equal(t, "The H₂O\u00ad\u200b boils.", quoteIn(text, "the h2o boils."))
}

func TestQuotesMatchLettersComposedInOneCaseOnly(t *testing.T) {
	require.Equal(t, "H\u0331at", quoteIn("H\u0331at is here", "\u1e96at"))
}

func TestQuotesEndWithAWholeCharacter(t *testing.T) {
	require.Equal(t, "ABC㍿", quoteIn("ABC㍿です", "abc株式"))
}

func TestAnAmbiguousEndIsTheFirstListed(t *testing.T) {
	d := drafted("Sun", "star", "", "Mercury", "planet", "", "Mercury", "element", "")
	_, relationships, _ := ground(t, "Mercury circles the Sun", related(d, "Mercury", "circles", "Sun", ""))
	require.Equal(t, extraction.EntityID("acme", "Mercury", "planet"), relationships[0].SourceID)
}

// A character that was lost on the way, such as half a surrogate pair, makes
// another name.
func TestALostCharacterMakesAnotherName(t *testing.T) {
	d, err := extraction.Parse(`{"entities":[{"name":"A\ud800da","type":"x"},{"name":"Ada","type":"x"},{"name":"Engine","type":"x","description":"a\udc00"}],` +
		`"relationships":[{"source":"Ada","target":"A\ud800da","type":"x"}]}`)
	require.NoError(t, err)
	entities, relationships, counters := ground(t, "Ada", d)
	require.Len(t, entities, 1)
	require.Empty(t, relationships)
	require.Equal(t, extraction.Counters{Dropped: 3}, counters)
	entities, _, _ = ground(t, "A\uFFFDda, as the document has it", d)
	require.Len(t, entities, 3)
}

// A relationship to nothing listed is not invented; neither is a self loop.
func TestARelationshipNeedsTwoListedEnds(t *testing.T) {
	d := drafted("Ada", "person", "Ada", "Engine", "machine", "Engine")
	d.Relationships = []extraction.DraftRelationship{
		{Source: "ADA", Target: " engine ", Type: "Works On", Quote: "ada worked on the engine"},
		{Source: "Ada", Target: "Engine", Type: "works_on", Description: "again"},
		{Source: "Engine", Target: "Ada", Type: "works_on", Quote: "The Engine made Ada"},
		{Source: "Ada", Target: "Charles", Type: "met"},
		{Source: "Nobody", Target: "Ada", Type: "met"},
		{Source: "Ada", Target: "ada", Type: "is"},
	}
	_, relationships, counters := ground(t, "Ada worked on the Engine.", d)
	require.Len(t, relationships, 2)
	require.Equal(t, "Ada worked on the Engine", relationships[0].Evidence.Quote)
	require.Equal(t, "again", relationships[0].Description)
	require.Nil(t, relationships[1].Evidence)
	require.Equal(t, extraction.Counters{Unresolved: 2, SelfLoops: 1, Ungrounded: 1}, counters)
}

func TestLongQuotesAreCutOnARune(t *testing.T) {
	text := strings.Repeat("漢字", 1000)
	entities, _, counters := ground(t, text, drafted("漢字", "x", text))
	require.Equal(t, extraction.MaxQuoteRunes, utf8.RuneCountInString(entities[0].Evidence.Quote))
	require.Equal(t, 1, counters.Clipped)
}

// Any slice of a text is found in it, whatever the text holds, also after a model
// has rewritten its case and white space.
func TestGroundingProperties(t *testing.T) {
	pieces := rapid.SliceOfN(rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom([]string{" ", "\r\n", "Ada", "ADA", "é", "e\u0301", "ﬁ", "ß", "漢字", "👩‍👧", "“", "\u200b", "´", "İ", "ς", "각", "¼", "\n"}),
	), 1, 20)
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(pieces.Draw(t, "text"), "")
		runes := []rune(text)
		a := rapid.IntRange(0, len(runes)).Draw(t, "a")
		b := rapid.IntRange(a, len(runes)).Draw(t, "b")
		quote := string(runes[a:b])
		if !utf8.ValidString(text) {
			return
		}
		said := strings.TrimSpace(quote)
		if extraction.Scrap(string(runes[:a]), quote, string(runes[b:])) {
			ground(t, text, drafted("Zzyzx", "x", quote, text, "x", quote))
		} else {
			require.Equal(t, said, quoteIn(text, quote))
		}
		ground(t, text, drafted("Yyzyx", "x", strings.ToUpper(text), quote, "x", strings.ToUpper(quote)))
	})
}

// A text and an answer made to be dear cost in proportion to their facts, and the words
// that have to be compared letter by letter have a bound.
func TestHostileGroundingIsLinear(t *testing.T) {
	var b strings.Builder
	for i := range 6000 {
		fmt.Fprintf(&b, "abc%c%c%c ", 'a'+i%26, 'a'+i/26%26, 'a'+i/676%26)
	}
	text := b.String()
	looks := func(facts int) int {
		var d extraction.Draft
		for i := range 40 {
			d.Entities = append(d.Entities, extraction.DraftEntity{Name: strings.Repeat("abdxxx ", 35) + text[7*i:7*i+6], Type: "x", Quote: text[:1000]})
		}
		for i := range facts {
			d = related(d, d.Entities[i%40].Name, fmt.Sprint("t", i), d.Entities[(i+1)%40].Name, text[7000+700*(i%20):9000+700*(i%20)])
		}
		entities, _, counters := ground(t, text, d)
		require.NotNil(t, entities[0].Evidence)
		require.Equal(t, facts, counters.Ungrounded)
		return extraction.Looks(text, d)
	}
	none, few, many := looks(0), looks(20), looks(80)
	require.LessOrEqual(t, many-none, 4*(few-none))
	require.LessOrEqual(t, few-none, 20*2*36*800, "for each fact: two names of 36 words, and 800 words in reach")
}

func FuzzGround(f *testing.F) {
	f.Add("Ada  met “Charles”", "ada met \"charles\"", "Ada")
	f.Add("ﬁne cafe\u0301\r\n漢字", "fine café 漢字", "字")
	f.Add("\u00b4\u0301\u200b", "´", "\u0301")
	f.Add("‘", "\x80", "0")
	f.Add("¼?", "¼", "Ada")
	f.Add("\n¼", "4", "1")
	f.Add("Ada", "\x00", "")
	f.Add("Patient A slept", "Patient A slept", "\u064b B")
	f.Fuzz(func(t *testing.T, text, quote, name string) {
		if !utf8.ValidString(text) || !utf8.ValidString(name) {
			return
		}
		ground(t, text, drafted(name, "x", quote))
		if utf8.ValidString(quote) {
			ground(t, text, related(drafted(name, "x", quote, quote, "x", text), name, "y", quote, text))
			ground(t, text, related(drafted(name, "x", name, quote, "x", quote), quote, "y", name, name+" "+quote))
		}
	})
}

// answerOf writes a chunk of 3,000 characters and an answer with a number of
// entities and as many relationships. One quote of so many is not verbatim, and so has to
// be aligned.
func answerOf(rows, aligned int) (text, content string) {
	people := []string{"Ada Lovelace", "Charles Babbage", "Mary Somerville", "Michael Faraday", "Augustus De Morgan", "Luigi Menabrea", "Charles Dickens", "Lord Byron"}
	var b strings.Builder
	var entities, relationships []string
	for i := 0; b.Len() < 3000; i++ {
		p, q := people[i%8], people[(i*3+1)%8]
		gap := " "
		if i%aligned == 0 {
			gap = "  "
		}
		fmt.Fprintf(&b, "%s wrote to%s%s about the%sengine in 18%d3, and they spoke of it at length.\n", p, gap, q, gap, i%10)
		if i < rows {
			entities = append(entities, fmt.Sprintf(`{"name":"%s %c.%c","type":"person","description":"One of the people of the engine.","confidence":0.9,"quote":"%s wrote to %s"}`, p, 'a'+i%26, 'a'+i/26, p, q))
			relationships = append(relationships, fmt.Sprintf(`{"source":"%s %c.%c","target":"%s a.a","type":"wrote_to","description":"A letter was written.","confidence":0.8,"quote":"%s about the engine"}`, p, 'a'+i%26, 'a'+i/26, people[0], q))
		}
	}
	return b.String(), answer(strings.Join(entities, ","), strings.Join(relationships, ","))
}

// plainly does what a reader does who trusts the answer: it decodes it, and looks for
// each quote as it stands.
func plainly(text, content string) (found int) {
	var answer struct {
		Entities, Relationships []struct {
			Name, Type, Description, Quote, Source, Target string
			Confidence                                     *float64
		}
	}
	if json.Unmarshal([]byte(content), &answer) != nil {
		return 0
	}
	for _, row := range append(answer.Entities, answer.Relationships...) {
		if strings.Contains(text, row.Quote) {
			found++
		}
	}
	return found
}

// Goal: under 200 microseconds for a typical chunk of 3,000 characters: models copy most
// quotes as they stand, here five of six. x-plainly is how many times as long it takes as
// [plainly].
func BenchmarkParseAndGround(b *testing.B) {
	for _, c := range []struct {
		name          string
		rows, aligned int
	}{{"24rows", 12, 6}, {"24rows,all_aligned", 12, 1}, {"60rows,all_aligned", 30, 1}} {
		text, content := answerOf(c.rows, c.aligned)
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				d, err := extraction.Parse(content)
				if err != nil {
					b.Fatal(err)
				}
				extraction.Ground("acme", text, d)
			}
			ours, start := b.Elapsed(), time.Now()
			for range b.N {
				plainly(text, content)
			}
			b.ReportMetric(float64(ours)/float64(time.Since(start)), "x-plainly")
		})
	}
}

// Chunks of 3,000 characters in other scripts, with 24 entities and 12 relationships whose
// quotes are verbatim.
func BenchmarkGroundScripts(b *testing.B) {
	for _, script := range []struct{ name, one, other, sentence string }{
		{"French", "Émile Zola", "Gérard Nerval", "%s a écrit à %s à propos de l’été passé, et ils en ont parlé longtemps. "},
		{"Russian", "Ада Лавлейс", "Чарльз Бэббидж", "%s писала письмо %s о машине в тысяча восемьсот тридцать третьем году, и они говорили об этом. "},
		{"Hindi", "नरेंद्र मोदी", "राहुल गाँधी", "%s ने सोमवार को दिल्ली में %s से मुलाकात की और लंबी बात की। "},
		{"Chinese", "王小明", "李大华", "%s写信给%s，谈到了那台机器，他们在一八三三年详细地讨论了这件事情。"},
	} {
		var text strings.Builder
		var d extraction.Draft
		for i := 0; utf8.RuneCountInString(text.String()) < 3000; i++ {
			one, other := fmt.Sprint(script.one, i), fmt.Sprint(script.other, i)
			sentence := fmt.Sprintf(script.sentence, one, other)
			text.WriteString(sentence)
			if i < 12 {
				quote := strings.TrimSpace(sentence)
				d.Entities = append(d.Entities, drafted(one, "person", quote, other, "person", quote).Entities...)
				d = related(d, one, "wrote_to", other, quote)
			}
		}
		b.Run(script.name, func(b *testing.B) {
			for b.Loop() {
				extraction.Ground("acme", text.String(), d)
			}
		})
	}
}
