package extraction

import (
	"testing"
	"unicode"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/stretchr/testify/require"
)

// Segmentation may begin between any two runes that stand alone: every kind
// of them is tried beside one of each script.
func TestRunesThatStandAloneDo(t *testing.T) {
	const others = "aéжאبकকகกກကაአកのカ漢한𠮷"
	for _, other := range others {
		require.True(t, standsAlone(other), "%c", other)
	}
	known := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if unicode.Is(unicode.Unified_Ideograph, r) && r%97 != 0 || 0xAC00 <= r && r <= 0xD7A3 && r%13 != 0 {
			continue // they are all alike
		}
		if !standsAlone(r) {
			continue
		}
		known++
		for _, other := range others {
			for _, pair := range []string{string(r) + string(other), string(other) + string(r)} {
				if it := graphemes.FromString(pair); !it.Next() || it.End() == len(pair) {
					t.Fatalf("%q is one grapheme cluster", pair)
				}
			}
		}
	}
	require.Greater(t, known, 2_000)
}
