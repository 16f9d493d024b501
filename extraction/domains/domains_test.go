package domains_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/domains"
)

const seaFile = `# a comment
fallback: sea
domains:
  sea:
    title: The sea
    description: Of ships.
    guidance: |
      Spell ships in full.
    strict: true
    keywords: [ship, port of call]
    entities:
      ship: A vessel
      port: ""
    relationships:
      met: Saw each other
      sails_to:
        description: Is bound for
        from: [ship]
        to: [port]
`

func TestAFileIsReadWhole(t *testing.T) {
	d, err := domains.Parse("sea.yaml", seaFile)
	require.NoError(t, err)
	require.Equal(t, []extraction.Domain{
		{
			ID: "sea", Title: "The sea", Description: "Of ships.", Guidance: "Spell ships in full.\n", Strict: true,
			Keywords: []string{"ship", "port of call"},
			Entities: []extraction.EntityType{{Type: "ship", Description: "A vessel"}, {Type: "port"}},
			Relationships: []extraction.RelationshipType{
				{Type: "met", Description: "Saw each other"},
				{Type: "sails_to", Description: "Is bound for", From: []string{"ship"}, To: []string{"port"}},
			},
		},
		{ID: extraction.DefaultDomain, Title: "Anything"},
	}, d.All())
	require.Equal(t, "sea", d.Fallback().ID)
}

// Every mistake is told with the file, the line and the field.
func TestMistakesAreToldWithTheirPlace(t *testing.T) {
	for old, c := range map[string]struct{ new, want string }{
		"fallback: sea":        {"fallback: land", `sea.yaml:2: fallback: is "land", which is none of the domains`},
		"fallback":             {"default", "sea.yaml:2: default: is an unknown key; known are domains, fallback"},
		"title: The sea":       {"titel: The sea", "sea.yaml:5: domains.sea.titel: is an unknown key; known are description, entities, guidance, keywords, relationships, strict, title"},
		"The sea":              {"[The, sea]", "sea.yaml:5: domains.sea.title: want a text, in quotes if it looks like something else, not a list"},
		"Of ships.":            {"1984", "sea.yaml:6: domains.sea.description: want a text, in quotes if it looks like something else, not a number"},
		"strict: true":         {"strict: yes", "sea.yaml:9: domains.sea.strict: want true or false, not a text"},
		"port of call]":        {"a b c d e]", `sea.yaml:10: domains.sea.keywords[1]: is "a b c d e": want 1 to 4 words`},
		"[ship, port of":       {"[null, port of", "sea.yaml:10: domains.sea.keywords[0]: want a text, in quotes if it looks like something else, not nothing"},
		"ship: A vessel":       {"Ship: A vessel", `sea.yaml:12: domains.sea.entities.Ship: is "Ship": write "ship"`},
		"port: \"\"":           {"ship: x", "sea.yaml:13: domains.sea.entities.ship: is there twice"},
		"met: Saw each":        {"2024: Saw each", "sea.yaml:15: domains.sea.relationships: has a key that is a number: want a name, in quotes if it looks like something else"},
		"[port]":               {"[harbour]", `sea.yaml:19: domains.sea.relationships.sails_to.to: names "harbour", which is no entity type of this domain`},
		"to: [port]":           {"to: port", "sea.yaml:19: domains.sea.relationships.sails_to.to: want a list, such as [a, b], not a text"},
		"from: [ship]":         {"frm: [ship]", "sea.yaml:18: domains.sea.relationships.sails_to.frm: is an unknown key; known are description, from, to"},
		"  sea:\n    title":    {"  The Sea:\n    title", `sea.yaml:4: domains.The Sea: is "The Sea": want 1 to 64 lower-case letters`},
		"domains:\n":           {"domains: &a\n  x: *a\n", `sea.yaml:4: domains.x: want a mapping, such as "key: value", not an alias, which domain files do not have`},
		"title: The sea\n":     {"title: The sea: x\n", "sea.yaml:5: is not YAML: mapping values are not allowed in this context"},
		"        to: [port]\n": {"        to: [port]\n---\na: b\n", "sea.yaml:20: a second document: want one"},
	} {
		require.Contains(t, seaFile, old)
		_, err := domains.Parse("sea.yaml", strings.Replace(seaFile, old, c.new, 1))
		var wrong *domains.Error
		require.ErrorAs(t, err, &wrong, c.new)
		require.Contains(t, err.Error(), c.want)
	}
	for text, want := range map[string]string{
		"":                                      "sea.yaml: is empty: it needs the key domains",
		"# nothing\n":                           "sea.yaml: is empty",
		"- a":                                   "sea.yaml:1: want a mapping",
		"fallback: general":                     "sea.yaml:1: the key domains is missing",
		strings.Repeat("#", domains.MaxBytes+1): "sea.yaml: is larger than 262144 bytes",
		"domains: {sea: {title: \"\xff\"}}":     "is not YAML",
	} {
		_, err := domains.Parse("sea.yaml", text)
		require.ErrorContains(t, err, want)
	}
}

func TestAFileIsLoadedOrTheBuiltInOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sea.yaml")
	require.NoError(t, os.WriteFile(path, []byte(seaFile), 0o600))
	d, text, err := domains.Load(path)
	require.NoError(t, err)
	require.Equal(t, seaFile, text)
	require.Equal(t, "sea", d.Fallback().ID)
	_, _, err = domains.Load(path + "x")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("#", domains.MaxBytes+1)), 0o600))
	_, _, err = domains.Load(path)
	require.ErrorContains(t, err, "is larger than")

	d, text, err = domains.Load("")
	require.NoError(t, err)
	again, err := domains.Parse(domains.BuiltinName, text)
	require.NoError(t, err)
	require.Equal(t, d.All(), again.All())
}

// The built-in domains are complete, can be told apart, and call the same thing
// the same, so that graphs of different documents meet.
func TestBuiltInDomains(t *testing.T) {
	d, _, err := domains.Builtin()
	require.NoError(t, err)
	require.Equal(t, extraction.DefaultDomain, d.Fallback().ID)
	var ids []string
	for _, domain := range d.All() {
		ids = append(ids, domain.ID)
		if domain.ID == extraction.DefaultDomain {
			continue
		}
		require.NotEmpty(t, domain.Title)
		require.NotEmpty(t, domain.Description)
		require.Greater(t, len(domain.Keywords), 20)
		require.Greater(t, len(domain.Relationships), 5)
		types := map[string]bool{}
		for _, e := range domain.Entities {
			require.NotEmpty(t, e.Description, e.Type)
			types[e.Type] = true
		}
		for _, shared := range []string{"person", "organization"} {
			require.True(t, types[shared], "%s has no %s", domain.ID, shared)
		}
		_, prompt := domain.Prompt()
		require.Less(t, len(prompt), 4096, "%s: the prompt is paid for with every chunk", domain.ID)
	}
	require.Equal(t, []string{"news", "business", "encyclopaedia", "technical", "academic", "fiction", "general"}, ids)
}

// One short text of each kind, written for this test, and two of none. They say
// nothing about how often keywords are right: docs/domains.md has figures.
func TestKeywordsTellTheBuiltInDomainsApart(t *testing.T) {
	d, _, err := domains.Builtin()
	require.NoError(t, err)
	c, err := extraction.NewChooser(extraction.ChooserConfig{Domains: d, Classifiers: []extraction.Classifier{extraction.NewKeywords(d)}})
	require.NoError(t, err)
	for text, want := range map[string]string{
		"Firefighters brought the blaze under control on Tuesday, police said. Two residents were arrested, a spokesman told reporters. Officials said the cause was still unknown, according to police, and witnesses were being heard.":                                "news",
		"Revenue for the third quarter rose to 4.1 million, and net income per share to 0.32. The board of directors proposes a dividend to shareholders. The acquisition of a subsidiary weighed on cash flow; customers and suppliers remain loyal.":                   "business",
		"Aldervik is a village in the municipality of Holm. It was founded in the 13th century and is located in a district known for its church. At the census it had a population of 412 inhabitants. The poet Inge Dahl was born in the village.":                     "encyclopaedia",
		"The command takes two arguments. Set the flag --timeout, or the environment variable, to change the default. The server returns a JSON response; on an error the client retries the request and writes a log file to the directory given in the configuration.": "technical",
		"In this paper we propose a method for sparse regression. Experiments on three datasets show that our approach outperforms all baselines. The results suggest that the hypothesis holds; limitations and future work are discussed in the appendix.":             "academic",
		"She whispered his name and stared at the door. \"My dear,\" he replied, \"don't cry.\" He smiled, but his eyes were full of tears. Suddenly the old man nodded, sighed, and turned away into the darkness.":                                                     "fiction",
		"Ada Lovelace met Charles Babbage in London.": "general",
		"今日は東京で会議がありました。":                             "general",
	} {
		choice, _, err := c.Choose(t.Context(), "acme", extraction.Chunk{Text: text})
		require.NoError(t, err)
		require.Equal(t, want, choice.ID, "%s (%s)", text, choice.FallbackReason)
	}
}

// Whatever a file holds, reading it gives domains that can be used, or an error
// of the file.
func FuzzParse(f *testing.F) {
	f.Add(seaFile)
	for _, seed := range []string{"", "domains: {}", "domains: {a: {}}", "domains: [a]", "domains: {a: {entities: {b: c}, relationships: {d: {from: [b]}}}}",
		"domains: &a {b: *a}", "? {a: b}\n: c", "--- a\n--- b", "domains: {a: {strict: TRUE}}", "<<: {domains: {}}", "domains: {general: {title: x}}\nfallback: general", "\xff", "'", "%YAML 9", "!!binary a: b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := domains.Parse("f.yaml", text)
		if err != nil {
			var wrong *domains.Error
			require.ErrorAs(t, err, &wrong)
			require.True(t, strings.HasPrefix(err.Error(), "f.yaml"))
			return
		}
		for _, domain := range d.All() {
			version, prompt := domain.Prompt()
			require.NotEmpty(t, version)
			require.NoError(t, extraction.CheckText(prompt))
		}
		_, err = extraction.NewKeywords(d).Classify(t.Context(), extraction.Sample{Text: text})
		require.NoError(t, err)
	})
}
