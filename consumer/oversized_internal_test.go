package consumer

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestOversizedComesBackAfterAWindow(t *testing.T) {
	for window, want := range map[time.Duration]time.Duration{
		0: 10 * time.Second, time.Second: 10 * time.Second, 30 * time.Second: 30 * time.Second, time.Hour: time.Minute,
	} {
		v := judge(context.Background(), &resilience.RequestExceedsWindow{Tokens: 2, Limit: 1, Window: window}, 0)
		require.Equal(t, verdict{name: "exceeds_window", action: later, delay: want}, v)
	}
}

func TestTheWaitOfALaneGrowsOncePerTurn(t *testing.T) {
	var o oversized
	for turn := range uint64(40) {
		d := o.wait(turn+1, time.Minute)
		require.Equal(t, d, o.wait(turn+1, time.Minute))
		require.Equal(t, min(20*time.Millisecond<<min(turn, 12), time.Minute), d)
	}
	o.turns = 0 // something was stored
	require.Equal(t, 20*time.Millisecond, o.wait(100, time.Minute))
	require.Equal(t, 20*time.Millisecond, o.wait(99, time.Minute), "of an earlier turn")
	o.turns = 0
	require.Equal(t, 20*time.Millisecond, o.wait(99, time.Minute), "of an earlier turn, after which something was stored")
}
