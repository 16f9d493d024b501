package offline_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction/offline"
	"github.com/weirkeeper/weirkeeper/internal/eval/scoring"
	"github.com/weirkeeper/weirkeeper/internal/gold"
)

// Weights that are broken, stale or learned from the wrong data fall below these
// floors, which are a little under the figures of the weights in the repository.
func TestQualityOnTheSample(t *testing.T) {
	docs, err := gold.Sample()
	require.NoError(t, err)
	r, err := scoring.Run(t.Context(), newProvider(t, offline.EverySurface()), docs, scoring.Options{Types: []string{"person", "organization", "location"}})
	require.NoError(t, err)
	require.Empty(t, r.Failed)
	require.GreaterOrEqual(t, r.Names.F1(), 0.80, "names")
	require.GreaterOrEqual(t, r.NamesTyped.F1(), 0.77, "typed names")
	require.GreaterOrEqual(t, r.Relations.Precision(), 0.45, "relations")
	require.Equal(t, r.Answers, r.Grounded, "every answer stands in its text")
	require.Zero(t, r.Counters)

	merged, err := scoring.Run(t.Context(), newProvider(t), docs, scoring.Options{Types: []string{"date"}})
	require.NoError(t, err)
	require.GreaterOrEqual(t, merged.NamesTyped.F1(), 0.70, "dates")
}
