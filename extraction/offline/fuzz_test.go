package offline_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// FuzzExtract holds every answer to what the pipeline relies on, whatever the
// text: whole JSON that parses without a repair, quotes that stand in the text,
// relationships between listed entities, and the same answer twice.
func FuzzExtract(f *testing.F) {
	for _, seed := range []string{
		"Ada Lovelace met Charles Babbage in London.", "", "\x00\xff", "# T\n\n- **Bob** `x` [a](b) <b>\n", "```\nx\n", "| A | B |\n|--|--|\n",
		"Dr. J. R. Smith's U.S. firm, Inc. The end…", "東京のAda Lovelaceは👩‍👩‍👧と会った。", "e\u0301 A\u0300da met B\u200bob\r\n\r\nin\tLondon",
		"“Sofia,” she said, “met O’Brien’s son (born 1 May 1950) at the G7.”", "&amp;&#39;<!-- x -->]( [![a](b)](c)", "A.B.C.D.E.F.G.H.I.J.K.L.",
		strings.Repeat("The King of Spain ", 40),
	} {
		f.Add(seed)
	}
	p := newProvider(f)
	f.Fuzz(func(t *testing.T, text string) {
		done, err := p.Extract(t.Context(), extraction.Request{Text: text})
		require.NoError(t, err)
		again, err := p.Extract(t.Context(), extraction.Request{Text: text})
		require.NoError(t, err)
		require.Equal(t, done, again)
		draft, err := extraction.Parse(done.Content)
		require.NoError(t, err)
		require.Zero(t, draft.Counters)
		a := ask(t, p, text)
		readable := string([]rune(text)) // JSON has a U+FFFD for every byte that is no UTF-8
		names := map[string]bool{}
		for _, e := range a.Entities {
			require.NotEmpty(t, strings.TrimSpace(e.Name))
			require.NotEmpty(t, e.Description)
			require.False(t, names[e.Name], "twice: %q", e.Name)
			names[e.Name] = true
			require.Contains(t, readable, e.Quote)
			require.True(t, e.Confidence > 0 && e.Confidence < 1)
		}
		for _, r := range a.Relationships {
			require.True(t, names[r.Source] && names[r.Target], "%+v", r)
			require.NotEqual(t, r.Source, r.Target)
			require.NotEmpty(t, r.Type)
			require.Contains(t, readable, r.Quote)
			require.True(t, r.Confidence > 0 && r.Confidence < 1)
		}
	})
}
