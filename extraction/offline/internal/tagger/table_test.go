package tagger

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// The table is a map, whatever is put into it.
func TestTableIsAMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOf(rapid.Uint32Range(0, 500)).Draw(t, "keys")
		table, want := newTable(0), map[uint32]int16{}
		for i, k := range keys {
			w := int16(i)
			want[k] = w
			table.rows[table.insert(k)][1] = w
		}
		for k := range uint32(600) {
			n := table.find(k)
			w, known := want[k]
			require.Equal(t, known, n >= 0)
			if known {
				require.Equal(t, w, table.rows[n][1])
			}
		}
		require.Len(t, table.sorted(), len(want))
	})
}

// Packed rows add up to the same sums as plain ones.
func TestPackedSumsAreTheSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 120).Draw(t, "rows")
		var want scores
		var sum packed
		for range n {
			var r row
			for l := range r {
				r[l] = rapid.Int16Range(-127, 127).Draw(t, "weight")
				want[l] += int32(r[l])
			}
			p := pack(&r)
			sum.add(&p)
		}
		require.Equal(t, want, sum.unpack(int32(n)))
	})
}
