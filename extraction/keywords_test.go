package extraction_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func keywords(t testing.TB) *extraction.Keywords {
	t.Helper()
	return extraction.NewKeywords(domainsOf(t,
		extraction.Domain{ID: "sea", Keywords: []string{"ship", "Ship", "port of call", "anchor", "don't sink"}},
		extraction.Domain{ID: "land", Keywords: []string{"hill", "anchor", "straße"}},
	))
}

// The confidence is the best domain's share of the points of two, and two points
// of nobody.
func TestKeywordsCountWhatStandsInTheText(t *testing.T) {
	for text, want := range map[string]extraction.Classification{
		"":                                    {},
		"Nothing of either, worship uphill.":  {}, // words, not parts of words
		"A ship.":                             {Domain: "sea", Confidence: 1.0 / 3},
		"SHIP! ship, Ship":                    {Domain: "sea", Confidence: 1.75 / 3.75},
		"ship anchor":                         {Domain: "sea", Confidence: 2.0 / 5},
		"A hill on a STRASSE":                 {Domain: "land", Confidence: 2.0 / 4},
		"the port\n of  CALL":                 {Domain: "sea", Confidence: 1.0 / 3},
		"“Don’t sink!”":                       {Domain: "sea", Confidence: 1.0 / 3},
		strings.Repeat("ship ", 5000):         {Domain: "sea", Confidence: 1.9921875 / 3.9921875},
		"ship, port of call, anchor and hill": {Domain: "sea", Confidence: 3.0 / 7},
	} {
		got, err := keywords(t).Classify(t.Context(), extraction.Sample{Text: text})
		require.NoError(t, err)
		require.Equal(t, want.Domain, got.Domain, "%.40q", text)
		require.InDelta(t, want.Confidence, got.Confidence, 1e-9, "%.40q", text)
	}
	got, err := keywords(t).Classify(t.Context(), extraction.Sample{Title: "The ship", Text: "and its anchor"})
	require.NoError(t, err)
	require.InDelta(t, 2.0/5, got.Confidence, 1e-9, "the title counts")
}

func BenchmarkKeywords(b *testing.B) {
	k := keywords(b)
	text := strings.Repeat("The ship left the port of call and its anchor behind, below the hill. ", 43)
	for b.Loop() {
		if _, err := k.Classify(b.Context(), extraction.Sample{Text: text}); err != nil {
			b.Fatal(err)
		}
	}
}
