package offline_test

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/offline"
)

type answer struct {
	Entities []struct {
		Name, Type, Description, Quote string
		Confidence                     float64
	}
	Relationships []struct {
		Source, Target, Type, Description, Quote string
		Confidence                               float64
	}
}

// plain is the provider without options: it is immutable, tests share it.
var plain = sync.OnceValues(func() (*offline.Provider, error) { return offline.New() })

func newProvider(t testing.TB, opts ...offline.Option) *offline.Provider {
	t.Helper()
	if len(opts) == 0 {
		p, err := plain()
		require.NoError(t, err)
		return p
	}
	p, err := offline.New(opts...)
	require.NoError(t, err)
	return p
}

func ask(t testing.TB, p *offline.Provider, text string) answer {
	t.Helper()
	done, err := p.Extract(t.Context(), extraction.Request{Text: text})
	require.NoError(t, err)
	var a answer
	dec := json.NewDecoder(strings.NewReader(done.Content))
	dec.DisallowUnknownFields()
	require.NoError(t, dec.Decode(&a))
	return a
}

// entities is name to type.
func (a answer) entities() map[string]string {
	out := map[string]string{}
	for _, e := range a.Entities {
		out[e.Name] = e.Type
	}
	return out
}

func (a answer) relations() []string {
	out := []string{}
	for _, r := range a.Relationships {
		out = append(out, r.Source+" "+r.Type+" "+r.Target)
	}
	return out
}

func TestFindsWhoMetWhomAndWhere(t *testing.T) {
	for _, text := range []string{"Ada Lovelace met Charles Babbage in London.", "Ada Lovelace met Charles Babbage in London"} {
		a := ask(t, newProvider(t), text)
		require.Equal(t, map[string]string{"Ada Lovelace": "person", "Charles Babbage": "person", "London": "location"}, a.entities())
		require.Equal(t, []string{"Ada Lovelace met Charles Babbage", "Ada Lovelace met_in London"}, a.relations())
		require.Equal(t, text, a.Relationships[0].Quote)
		require.Equal(t, "Ada Lovelace met Charles Babbage", a.Relationships[0].Description)
	}
}

// R33: the model name is provenance: what this is, and which weights.
func TestR33ModelNameSaysWhatItIs(t *testing.T) {
	p := newProvider(t)
	require.Regexp(t, regexp.MustCompile(`^offline/perceptron-\d+-[0-9a-f]{8}$`), p.Model())
	again, err := offline.New()
	require.NoError(t, err)
	require.Equal(t, p.Model(), again.Model())
}

// R33: there is no prompt of its own, and a prompt or schema changes nothing.
func TestR33IgnoresPromptAndSchema(t *testing.T) {
	p := newProvider(t)
	bare, err := p.Extract(t.Context(), extraction.Request{Text: "Ada Lovelace met Charles Babbage."})
	require.NoError(t, err)
	asked, err := p.Extract(t.Context(), extraction.Request{
		Text: "Ada Lovelace met Charles Babbage.", SystemPrompt: "Find Grace Hopper in New York.", Schema: extraction.AnswerSchema(), Tenant: "acme",
	})
	require.NoError(t, err)
	require.Equal(t, bare, asked)
}

func TestCompletionIsWholeAndFree(t *testing.T) {
	done, err := newProvider(t).Extract(t.Context(), extraction.Request{Text: "Ada met Bob."})
	require.NoError(t, err)
	require.Equal(t, "stop", done.FinishReason)
	require.Equal(t, "offline", done.OutputMode)
	require.Zero(t, done.Usage)
	_, err = extraction.Parse(done.Content)
	require.NoError(t, err)
}

func TestReadsAParagraph(t *testing.T) {
	a := ask(t, newProvider(t), `Marie Curie was a physicist and chemist who did research on radioactivity. She was born in Warsaw in 1867 and later
studied at the University of Paris. Tim Cook, CEO of Apple, visited Berlin. DeepMind was founded by Demis Hassabis, Shane Legg and Mustafa Suleyman.`)
	got := a.entities()
	require.Subset(t, got, map[string]string{
		"Marie Curie": "person", "Warsaw": "location", "1867": "date", "University of Paris": "organization", "Apple": "organization",
		"Tim Cook": "person", "Demis Hassabis": "person", "Shane Legg": "person", "Mustafa Suleyman": "person",
	})
	require.Subset(t, a.relations(), []string{
		"Marie Curie born_in Warsaw", "Tim Cook ceo_of Apple", "Tim Cook visited Berlin",
		"DeepMind founded_by Demis Hassabis", "DeepMind founded_by Shane Legg", "DeepMind founded_by Mustafa Suleyman",
	})
	require.Equal(t, "physicist and chemist who did research on radioactivity", a.Entities[0].Description)
}

func TestDoesNotStateWhatTheTextDenies(t *testing.T) {
	p := newProvider(t)
	for _, text := range []string{
		"Microsoft did not acquire Yahoo.", "Alice Miller never met Bob Jones.", "Alice Miller would have married Bob Jones.",
		"Alice Miller arrived. Bob Jones left for Paris.", "Anna Schmidt left; Jean Dupont stayed.",
	} {
		for _, r := range ask(t, p, text).Relationships {
			require.False(t, r.Source == "Microsoft" || r.Source == "Alice Miller" || r.Source == "Anna Schmidt", "%s: %+v", text, r)
		}
	}
}

func TestShortNamesAreThePerson(t *testing.T) {
	const text = "Charles Babbage designed an engine. Later Babbage met Ada Lovelace in London."
	a := ask(t, newProvider(t), text)
	require.NotContains(t, a.entities(), "Babbage")
	require.Contains(t, a.relations(), "Charles Babbage met Ada Lovelace")

	require.Equal(t, "person", ask(t, newProvider(t, offline.EverySurface()), text).entities()["Babbage"])

	// Two persons of that name: nobody can say which one is meant.
	a = ask(t, newProvider(t), "Marie Curie met Pierre Curie in Paris. In 1911 Curie won the Nobel Prize.")
	require.Contains(t, a.entities(), "Curie")
}

func TestDescriptionsAreOfTheNameItself(t *testing.T) {
	of := func(text string) string { return ask(t, newProvider(t), text).Entities[0].Description }
	require.Equal(t, "large city on the Spree", of("Berlin (founded before 1237) is a large city on the Spree. It has many lakes."))
	require.Equal(t, "Whoever lives in Berlin is a friend of the lakes.", of("Whoever lives in Berlin is a friend of the lakes."))
}

func TestMinConfidence(t *testing.T) {
	for _, wrong := range []float64{-0.1, 1.1} {
		_, err := offline.New(offline.MinConfidence(wrong))
		require.ErrorContains(t, err, "min confidence")
	}
	const text = "Charles Babbage met Ada Lovelace in the village of Quorndon."
	all := ask(t, newProvider(t), text)
	sure := ask(t, newProvider(t, offline.MinConfidence(0.7)), text)
	require.Less(t, len(sure.Entities), len(all.Entities))
	for _, e := range sure.Entities {
		require.GreaterOrEqual(t, e.Confidence, 0.7)
	}
}

func TestMarkdownGivesNoSillyNames(t *testing.T) {
	a := ask(t, newProvider(t), "# Getting Started With The Project\n\nInstall the binary, then run `docker run Berlin`. See [the guide](https://example.com/Paris/London) "+
		"or https://Example.org/Angela_Merkel. Every request needs a key. Use `OPENAI_API_KEY` for it.\n\n"+
		"```go\nfunc Main() { fmt.Println(\"Ada Lovelace met Charles Babbage\") }\n```\n\n"+
		"| Name | Default Value |\n|---|---|\n| Retry Policy | Exponential |\n| Max Attempts | Five |\n\n"+
		"- Fast\n- Safe\n- Written by **Grace Hopper** in New York\n\n    $ export PATH=/usr/local/Vienna\n\nHowever, nothing is lost. Nobody waits. Thanks!\n")
	require.Equal(t, map[string]string{"Grace Hopper": "person", "New York": "location"}, a.entities())
}

func TestSentencesMayStartWithAnyWord(t *testing.T) {
	const text = "However, it rained. Yesterday nobody came. Install the package first. Why not? Because of the weather. Contributions are welcome. " +
		"Every worker needs a lease. Thanks to all. Results are stored. Please read the guide. Unknown fields are kept. Nothing helps. See below."
	require.Empty(t, ask(t, newProvider(t), text).Entities)
}

func TestOtherLanguagesGiveNothing(t *testing.T) {
	p := newProvider(t)
	for _, text := range []string{
		"Der Hund und die Katze saßen im Garten, während Frau Müller nach Berlin fuhr und dort ihren Bruder Hans traf. Danach gingen alle in das Haus.",
		"Анна Ахматова родилась в Одессе и жила в Ленинграде. Она встретила Бориса Пастернака в Москве, когда началась война.",
		"夏目漱石は東京で生まれ、ロンドンに留学した。彼は多くの小説を書いた。", "저는 서울에서 태어났고 지금은 부산에 살고 있습니다.",
		"Le président Emmanuel Macron a rencontré la chancelière Angela Merkel à Paris pour parler de la situation en Europe et des prix du gaz.",
		"وُلد نجيب محفوظ في القاهرة وكتب روايات كثيرة.",
	} {
		a := ask(t, p, text)
		require.Empty(t, a.Entities, text)
		require.Empty(t, a.Relationships, text)
	}
}

func TestNoTextGivesAValidEmptyAnswer(t *testing.T) {
	p := newProvider(t)
	for _, text := range []string{"", " \n\t ", "...", "\x00", "\xff\xfe", "🙂", "nothing to see here"} {
		done, err := p.Extract(t.Context(), extraction.Request{Text: text})
		require.NoError(t, err)
		require.Equal(t, `{"entities":[],"relationships":[]}`, done.Content)
	}
}

// countdown is a context that ends after so many looks at it.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.DeadlineExceeded
	}
	return nil
}

func TestHonoursTheContext(t *testing.T) {
	p := newProvider(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := p.Extract(ctx, extraction.Request{Text: "Ada met Bob."})
	require.ErrorIs(t, err, context.Canceled)

	text := strings.Repeat("Ada Lovelace met Charles Babbage in London. ", 40)
	for _, looks := range []int{1, 20, 60} { // before, while tagging, while relating
		_, err = p.Extract(&countdown{Context: t.Context(), left: looks}, extraction.Request{Text: text})
		require.ErrorIs(t, err, context.DeadlineExceeded)
		var model *extraction.ProviderError
		require.False(t, errors.As(err, &model), "the context's error is not the model's")
	}
}

func TestConcurrentCallsAgree(t *testing.T) {
	p := newProvider(t)
	const text = "Ada Lovelace met Charles Babbage in London. She married William King in 1835. Apple acquired Beats in 2014."
	want, err := p.Extract(t.Context(), extraction.Request{Text: text})
	require.NoError(t, err)
	var group sync.WaitGroup
	got := make([]extraction.Completion, 16)
	for i := range got {
		group.Go(func() { got[i], _ = p.Extract(context.Background(), extraction.Request{Text: text}) })
	}
	group.Wait()
	for _, g := range got {
		require.Equal(t, want, g)
	}
}

// Text made to be slow must cost no more than its length: 64 KB
// in well under a second, not minutes.
func TestHostileTextTakesLinearTime(t *testing.T) {
	p := newProvider(t)
	const size = 1 << 16
	for name, unit := range map[string]string{
		"letter": "x", "initials": "A.", "quote": "'", "backtick": "`", "bracket": "[", "names": "Ada met Bob and ", "lines": "# A\n", "tags": "<a", "pipes": "a | ",
		"no sentence": "the King of ", "clitics": "s's", "stars": "*", "new names": "",
	} {
		text := strings.Repeat(unit, size/max(len(unit), 1))
		if unit == "" {
			text = distinctNames(size)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		_, err := p.Extract(ctx, extraction.Request{Text: text})
		cancel()
		require.NoError(t, err, name)
	}
}

func distinctNames(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString("Mr. ")
		for n := i; n > 0; n /= 20 {
			b.WriteByte("BCDFGHJKLMNPQRSTVWXZ"[n%20])
			b.WriteString("aeiou"[n%5 : n%5+1])
		}
		b.WriteString(" met the ")
	}
	return b.String()
}
