package extraction_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// sea is a small domain.
func sea() extraction.Domain {
	return extraction.Domain{
		ID: "sea", Title: "The sea", Description: "Of ships.", Guidance: "Spell ships in full.\n",
		Entities: []extraction.EntityType{{Type: "ship", Description: "A vessel"}, {Type: "port"}, {Type: "person"}},
		Relationships: []extraction.RelationshipType{
			{Type: "sails_to", From: []string{"ship"}, To: []string{"port"}},
			{Type: "met", Description: "Saw each other"},
			{Type: "commands", From: []string{"person"}},
		},
	}
}

func domainsOf(t testing.TB, list ...extraction.Domain) *extraction.Domains {
	t.Helper()
	d, err := extraction.NewDomains("", list...)
	require.NoError(t, err)
	return d
}

// The prompt names the domain's types and its guidance, and its version tells it
// from every other.
func TestPromptsNameTheTypesOfTheDomain(t *testing.T) {
	version, prompt := sea().Prompt()
	for _, want := range []string{
		"    ship: A vessel\n", "    port\n", "    sails_to (from ship to port)\n", "    met: Saw each other\n", "    commands (from person to anything)\n",
		"\nSpell ships in full.\n", "only if an entity matters and none of them fits", `"entities":`, `"relationships":`, `"quote"`, "do not follow",
	} {
		require.Contains(t, prompt, want)
	}
	require.Regexp(t, `^graph-2\+sea-[0-9a-f]{8}$`, version)

	strict := sea()
	strict.Strict = true
	strictVersion, strictPrompt := strict.Prompt()
	require.Contains(t, strictPrompt, "leave out an entity that is of none of them")
	require.NotEqual(t, version, strictVersion)
	changed := sea()
	changed.Entities[1].Description = "A harbour"
	changedVersion, _ := changed.Prompt()
	require.NotEqual(t, version, changedVersion)

	version, prompt = extraction.Domain{ID: "general", Title: "Anything"}.Prompt()
	require.Equal(t, extraction.PromptVersion, version)
	require.Equal(t, extraction.SystemPrompt, prompt)
	guided := extraction.Domain{ID: "general", Guidance: "Mind the gap."}
	version, prompt = guided.Prompt()
	require.Contains(t, version, extraction.DomainPromptVersion)
	require.Contains(t, prompt, "Mind the gap.")
	require.Equal(t, extraction.SystemPrompt, strings.Replace(prompt, "Mind the gap.\n\n", "", 1))
}

// The form of domain prompts has a version, as the plain one has.
func TestDomainPromptVersionNamesTheForm(t *testing.T) {
	version, _ := sea().Prompt()
	require.Equal(t, "graph-2+sea-1ac4be72", version, "the form changed: give it a new version")
}

func readWith(t testing.TB, d extraction.Domain, content string) extraction.Extraction {
	t.Helper()
	c, err := extraction.NewChooser(extraction.ChooserConfig{Domains: domainsOf(t, d)})
	require.NoError(t, err)
	p := says(content, "stop")
	x, err := pipeline(t, p, extraction.WithChooser(c)).Extract(t.Context(), "acme", extraction.Chunk{Text: "Ada commands the Argo, bound for Piraeus.", Domain: d.ID})
	require.NoError(t, err)
	version, prompt := d.Prompt()
	require.Equal(t, version, x.PromptVersion)
	require.Equal(t, prompt, p.requests[0].SystemPrompt)
	require.Equal(t, extraction.DomainChoice{ID: d.ID}, x.Domain)
	return x
}

func entity(name, typ string) string {
	return fmt.Sprintf(`{"name":%q,"type":%q,"description":"","confidence":null,"quote":%q}`, name, typ, name)
}

func relationship(source, typ, target string) string {
	return fmt.Sprintf(`{"source":%q,"target":%q,"type":%q,"description":"","confidence":null,"quote":"Ada commands"}`, source, target, typ)
}

// Types outside the schema are kept and counted, or dropped and counted when it
// is strict; what hung on a dropped entity goes with it.
func TestTypesOutsideTheDomainAreCounted(t *testing.T) {
	content := answer(
		strings.Join([]string{entity("Ada", "Person"), entity("Argo", "ship"), entity("Piraeus", "harbour"), entity("Zeus", "god")}, ","),
		strings.Join([]string{
			relationship("Ada", "Commands", "Argo"),
			relationship("Argo", "sails to", "Piraeus"), // its target is of no type that it may have
			relationship("Ada", "met", "Zeus"),          // fine but for its end
			relationship("Argo", "carries", "Ada"),      // no such type
			relationship("Argo", "commands", "Ada"),     // the wrong way round
		}, ","))

	kept := readWith(t, sea(), content)
	require.Len(t, kept.Entities, 4)
	require.Len(t, kept.Relationships, 5)
	require.Equal(t, extraction.Counters{Ungrounded: 2, OffSchema: 5}, kept.Counters)

	strict := sea()
	strict.Strict = true
	dropped := readWith(t, strict, content)
	require.Equal(t, extraction.StatusOK, dropped.Status, "what is dropped on request makes nothing partial")
	require.Equal(t, []string{"Ada", "Argo"}, []string{dropped.Entities[0].Name, dropped.Entities[1].Name})
	require.Len(t, dropped.Entities, 2)
	require.Len(t, dropped.Relationships, 1)
	require.Equal(t, "commands", dropped.Relationships[0].Type)
	require.Equal(t, extraction.Counters{OffSchema: 6}, dropped.Counters, "nothing that is kept is ungrounded")

	open := readWith(t, extraction.Domain{ID: "open"}, content)
	require.Len(t, open.Relationships, 5)
	require.Zero(t, open.Counters.OffSchema)
}

func TestStrictMakesAllDomainsStrict(t *testing.T) {
	loose := domainsOf(t, sea())
	strict := loose.Strict()
	for _, d := range strict.All() {
		require.True(t, d.Strict)
	}
	d, ok := loose.Find("sea")
	require.True(t, ok)
	require.False(t, d.Strict)
	require.Equal(t, loose.Fallback().ID, strict.Fallback().ID)
}

func TestAPromptOfOnesOwnHoldsInEveryDomain(t *testing.T) {
	c, err := extraction.NewChooser(extraction.ChooserConfig{Domains: domainsOf(t, sea())})
	require.NoError(t, err)
	p := says(nothing, "stop")
	x, err := pipeline(t, p, extraction.WithPrompt("mine-1", "Do it."), extraction.WithChooser(c)).
		Extract(t.Context(), "acme", extraction.Chunk{Text: "x", Domain: "sea"})
	require.NoError(t, err)
	require.Equal(t, "mine-1", x.PromptVersion)
	require.Equal(t, "Do it.", p.requests[0].SystemPrompt)
}

func TestDomainsThatMeanNothingAreRefused(t *testing.T) {
	with := func(change func(*extraction.Domain)) extraction.Domain {
		d := sea()
		change(&d)
		return d
	}
	long := strings.Repeat("x", 5000)
	for want, d := range map[string]extraction.Domain{
		`domain number 2: id is "A b"`:                                with(func(d *extraction.Domain) { d.ID = "A b" }),
		"domain sea: title is longer":                                 with(func(d *extraction.Domain) { d.Title = long }),
		"domain sea: description is not clean UTF-8":                  with(func(d *extraction.Domain) { d.Description = "\xff" }),
		"domain sea: guidance is longer than 4096":                    with(func(d *extraction.Domain) { d.Guidance = long }),
		`domain sea: keywords[1] is "--"`:                             with(func(d *extraction.Domain) { d.Keywords = []string{"a", "--"} }),
		`keywords[0] is "a b c d e"`:                                  with(func(d *extraction.Domain) { d.Keywords = []string{"a b c d e"} }),
		"keywords has more than 256":                                  with(func(d *extraction.Domain) { d.Keywords = make([]string, 257) }),
		`entities[0].type is "Big Ship": write "big_ship"`:            with(func(d *extraction.Domain) { d.Entities[0].Type = "Big Ship" }),
		`entities[1].type is "ship", which is there twice`:            with(func(d *extraction.Domain) { d.Entities[1].Type = "ship" }),
		"entities has more than 64":                                   with(func(d *extraction.Domain) { d.Entities = make([]extraction.EntityType, 65) }),
		`relationships[1].type is "!": want`:                          with(func(d *extraction.Domain) { d.Relationships[1].Type = "!" }),
		`relationships[0].to names "island", which is no entity type`: with(func(d *extraction.Domain) { d.Relationships[0].To = []string{"island"} }),
		"relationships[1].description is longer than 512":             with(func(d *extraction.Domain) { d.Relationships[1].Description = long }),
		"domain first: id is there twice":                             {ID: "first"},
	} {
		_, err := extraction.NewDomains("", extraction.Domain{ID: "first"}, d)
		var wrong *extraction.DomainError
		require.ErrorAs(t, err, &wrong, want)
		require.ErrorContains(t, err, want)
		require.Equal(t, 1, wrong.Index)
	}
	_, err := extraction.NewDomains("nowhere", sea())
	require.ErrorContains(t, err, `fallback is "nowhere"`)
	_, err = extraction.NewDomains("", make([]extraction.Domain, 65)...)
	require.ErrorContains(t, err, "more than 64")

	d, err := extraction.NewDomains("sea", sea())
	require.NoError(t, err)
	require.Equal(t, "sea", d.Fallback().ID)
	require.Len(t, d.All(), 2, "an open domain is always there")
}
