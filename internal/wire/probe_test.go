package wire

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProbesAreKnownByTheirNames(t *testing.T) {
	name := NewProbe()
	require.NotEqual(t, name, NewProbe())
	require.True(t, IsProbe(name))
	require.True(t, IsProbe(name+"-b"))
	for _, other := range []string{"", "check-", "check-in", "check-ABCDEFGHIJKL", name + "-c", "x" + name} {
		require.False(t, IsProbe(other), other)
	}
}
