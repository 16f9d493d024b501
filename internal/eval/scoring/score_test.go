package scoring_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/eval/scoring"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

// scripted answers a text with what stands in the map, or with a failure.
type scripted map[string]string

func (s scripted) Model() string { return "test/scripted" }

func (s scripted) Extract(_ context.Context, r extraction.Request) (extraction.Completion, error) {
	if content, ok := s[r.Text]; ok {
		return extraction.Completion{Content: content, FinishReason: "stop"}, nil
	}
	return extraction.Completion{}, &extraction.ProviderError{Kind: extraction.KindUnavailable}
}

const text = "Ada Lovelace met Bob in Rome. Ada left Rome."

func documents() []gold.Document {
	return []gold.Document{{Text: text, Entities: []gold.Entity{
		{Name: "Ada Lovelace", Aliases: []string{"Ada"}, Type: "person"}, {Name: "Bob", Type: "person"}, {Name: "Rome", Type: "location"},
	}, Relationships: []gold.Relationship{{Source: "Ada Lovelace", Target: "Bob", Type: "met"}, {Source: "Ada Lovelace", Target: "Rome", Type: "left"}}}}
}

const reply = `{"entities":[
	{"name":"Ada","type":"person","description":"","confidence":null,"quote":"Ada left Rome."},
	{"name":"Bob","type":"location","description":"","confidence":null,"quote":"Bob"},
	{"name":"Eve","type":"person","description":"","confidence":null,"quote":"Eve came"},
	{"name":"Rome","type":"date","description":"","confidence":null,"quote":"Rome"}],
	"relationships":[{"source":"Bob","target":"Ada","type":"x","description":"","confidence":null,"quote":"met Bob"},
	{"source":"Bob","target":"Rome","type":"x","description":"","confidence":null,"quote":"Bob in Rome"}]}`

func TestFiguresByHand(t *testing.T) {
	now := time.Unix(0, 0)
	clock := func() time.Time { now = now.Add(time.Second); return now }
	r, err := scoring.Run(t.Context(), scripted{text: reply}, documents(), scoring.Options{Now: clock})
	require.NoError(t, err)
	// Rome as a date is not judged: gold marks no dates.
	require.Equal(t, scoring.Count{Right: 2, Given: 3, Found: 2, Gold: 4}, r.Names)
	require.Equal(t, scoring.Count{Right: 1, Given: 3, Found: 1, Gold: 4}, r.NamesTyped)
	require.Equal(t, scoring.Count{Right: 2, Given: 3, Found: 2, Gold: 3}, r.Entities)
	require.Equal(t, scoring.Count{Right: 1, Given: 3, Found: 1, Gold: 3}, r.EntitiesTyped)
	require.Equal(t, scoring.Count{Right: 1, Given: 2, Found: 1, Gold: 2}, r.Relations)
	require.InDelta(t, 4.0/7, r.Names.F1(), 1e-9)
	require.Equal(t, 6, r.Answers)
	require.Equal(t, 5, r.Grounded, "nobody of the name Eve is in the text")
	require.Equal(t, 1, r.Counters.Ungrounded)
	require.InDelta(t, 1.0, r.Rate(), 1e-9)

	var out strings.Builder
	require.NoError(t, r.Write(&out))
	require.Contains(t, out.String(), "test/scripted, 1 documents")
	require.Regexp(t, `names +0\.667 +0\.500 +0\.571 +3 +4\n`, out.String())
	require.Contains(t, out.String(), "grounded 83.3 % of 6 answers")
}

func TestOnlyTheTypesAskedFor(t *testing.T) {
	r, err := scoring.Run(t.Context(), scripted{text: reply}, documents(), scoring.Options{Types: []string{"person"}})
	require.NoError(t, err)
	require.Equal(t, scoring.Count{Right: 1, Given: 2, Found: 1, Gold: 3}, r.NamesTyped)
}

func TestAFailedDocumentCountsAsNothingFound(t *testing.T) {
	r, err := scoring.Run(t.Context(), scripted{}, documents(), scoring.Options{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"unavailable": 1}, r.Failed)
	require.Equal(t, scoring.Count{Gold: 4}, r.Names)
	require.Zero(t, r.Names.F1())
	var out strings.Builder
	require.NoError(t, r.Write(&out))
	require.Contains(t, out.String(), "1 documents failed: unavailable")
}

func TestStopsWithTheContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := scoring.Run(ctx, scripted{text: reply}, documents(), scoring.Options{})
	require.ErrorIs(t, err, context.Canceled)
	_, err = scoring.Run(t.Context(), nil, documents(), scoring.Options{})
	require.Error(t, err)
}
