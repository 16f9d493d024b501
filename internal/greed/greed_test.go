package greed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShare(t *testing.T) {
	g := Greed{1.0 / 8}
	require.Equal(t, 2, g.Share(16, 0))
	require.Equal(t, 0, g.Share(1, 0.8), "seven times in eight nothing")
	require.Equal(t, 1, g.Share(1, 0.9))
	require.Equal(t, 16, Greed{1}.Share(16, 0.99), "never more than there is")
}

// Whatever happens, a process neither gives up nor takes more than all, and the
// less it takes, the longer it may wait.
func TestGreedStaysWithinBounds(t *testing.T) {
	g := New()
	for range 100 {
		g.Refused()
	}
	require.Equal(t, 64*spreadLeast, g.Spread(1))
	require.Equal(t, 1, g.Share(1, 0.999))
	for range 1000 {
		g.Admitted()
	}
	require.Equal(t, 10*time.Millisecond, g.Spread(1))
	require.Equal(t, 50, g.Share(50, 0.5))
}
