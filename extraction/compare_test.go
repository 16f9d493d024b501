package extraction_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func graphOf(ids []string) extraction.Graph {
	var g extraction.Graph
	for _, id := range ids {
		g.Entities = append(g.Entities, extraction.GraphEntity{ID: id})
		g.Relationships = append(g.Relationships, extraction.GraphRelationship{ID: id})
	}
	return g
}

// Every fact is kept, appeared or disappeared, and is so for the right reason.
func TestCompareAccountsForEveryFact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfDistinct(rapid.StringMatching(`[a-e][0-3]`), rapid.ID[string])
		before, after := ids.Draw(t, "before"), ids.Draw(t, "after")
		d := extraction.Compare(graphOf(before), graphOf(after))
		require.Equal(t, len(before), d.Entities.Kept+len(d.Entities.Disappeared))
		require.Equal(t, len(after), d.Entities.Kept+len(d.Entities.Appeared))
		for _, e := range d.Entities.Disappeared {
			require.Contains(t, before, e.ID)
			require.NotContains(t, after, e.ID)
		}
		for _, r := range d.Relationships.Appeared {
			require.Contains(t, after, r.ID)
			require.NotContains(t, before, r.ID)
		}
		require.NotNil(t, d.Relationships.Disappeared)
	})
}
