package kvcache_test

import (
	"math/big"
	"reflect"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// R5: exactly eight operations, composed of two named halves and Close.
func TestR5ThePortHasEightOperations(t *testing.T) {
	methods := func(port any) (names []string) {
		for m := range reflect.TypeOf(port).Elem().Methods() {
			names = append(names, m.Name)
		}
		return names
	}
	require.ElementsMatch(t, []string{"Get", "Set", "Increment", "Delete"}, methods((*kvcache.KeyValue)(nil)))
	require.ElementsMatch(t, []string{"RecordHit", "CountHits", "OldestHit"}, methods((*kvcache.HitWindow)(nil)))
	require.ElementsMatch(t, []string{
		"Get", "Set", "Increment", "Delete", "RecordHit", "CountHits", "OldestHit", "Close",
	}, methods((*kvcache.Cache)(nil)))
}

// R8: a number is a number to every adapter, and nothing overflows.
func FuzzNextCount(f *testing.F) {
	for _, v := range []string{"", "0", "-1", "+5", "007", " 1", "1.5", "1e3", "0x1", "1_0", "9223372036854775806", "9223372036854775807", "-9223372036854775808", "-9223372036854775809", "١"} {
		f.Add(v)
	}
	f.Fuzz(func(t *testing.T, value string) {
		n, err := kvcache.NextCount(value)
		exact, isNumber := new(big.Int).SetString(value, 10)
		if err != nil {
			require.ErrorIs(t, err, kvcache.ErrNotNumber)
			if isNumber {
				fits := exact.IsInt64()
				require.False(t, fits && exact.Add(exact, big.NewInt(1)).IsInt64(), value)
			}
			return
		}
		require.True(t, isNumber, value)
		require.Equal(t, exact.Add(exact, big.NewInt(1)).String(), strconv.FormatInt(n, 10))
	})
}
