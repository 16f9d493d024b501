package extraction

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever folding does to a text, each byte of the folded form has its place there, in
// order, and from each place of the text the way leads to the first byte that is not before it.
func TestOriginLeadsBothWays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{
			"Plain words", " ", "  ", "\n\n", "é", "e\u0301", "Straße", "ﬁ", "Ｆｕｌｌ", "ПРИВЕТ", "東京", "㍿", "½", "\u200d", "👩\u200d🔬", "İ", "नि", "\t",
		})).Draw(t, "pieces"), "")
		folded, origin := foldMapped(text)
		require.Equal(t, fold(text), folded)
		next, last := ascent{origin: origin}, -1
		for i := range len(folded) {
			at := origin.of(i)
			require.Equal(t, at, next.of(i))
			require.GreaterOrEqual(t, at, last)
			require.Less(t, at, len(text))
			last = at
		}
		for at := range len(text) + 1 {
			first := 0
			for first < len(folded) && origin.of(first) < at {
				first++
			}
			require.Equal(t, first, origin.first(at, len(folded)), "from byte %d of %q", at, text)
		}
	})
}
