package greed

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestShare(t *testing.T) {
	g := New()
	require.Equal(t, 35, g.Share(100, 1, 0))
	require.Equal(t, 3, g.Share(100, 100, 0.4), "a part of a call not always")
	require.Equal(t, 4, g.Share(100, 100, 0.6))
	require.Equal(t, 0, g.Share(1, 1000, 0.98), "many take turns")
	require.Equal(t, 1, g.Share(1, 1000, 0.99))
	require.Equal(t, g.Share(100, 1, 0.3), g.Share(100, 0, 0.3), "at least this process is there")
}

// Whatever happens, a process neither gives up nor takes more than all, and the
// less it takes, the longer it may wait.
func TestGreedStaysWithinBounds(t *testing.T) {
	g := New()
	for range 100 {
		g.Refused()
	}
	require.Equal(t, 17, g.Share(100, 1, 0.4))
	require.InDelta(t, float64(57*time.Millisecond), float64(g.Spread(1, 1)), float64(time.Millisecond))
	require.Greater(t, g.Spread(4, 1), g.Spread(1, 1))
	for range 1000 {
		g.Admitted()
	}
	require.Equal(t, 70, g.Share(100, 1, 0.4))
	require.Less(t, g.Share(100, 1, 0.999), 100)
	require.InDelta(t, float64(14*time.Millisecond), float64(g.Spread(1, 1)), float64(time.Millisecond))
}
