package consumer

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Workers that know nothing of each other, and heard of the lanes in different
// orders, pull from nearly the same lanes at a time, and every lane has its turn.
func TestWorkersRotateTogether(t *testing.T) {
	const workers, tenants, rotations = 16, 2000, 80
	r := rand.New(rand.NewPCG(1, 2))
	fleet := make([]circle, workers)
	for i := range fleet {
		for _, n := range r.Perm(tenants) {
			fleet[i].add(&lane{token: fmt.Sprint("tenant-", n)})
		}
	}
	begin := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	last, longest := map[string]int{}, 0
	for rotation := range rotations {
		inUse := map[string]bool{}
		for i := range fleet {
			now := begin.Add(time.Duration(rotation)*rotationTime + time.Duration(r.Int64N(int64(rotationTime))))
			var had []*lane
			for range rotationSize {
				l := fleet[i].take(now)
				require.NotNil(t, l)
				had = append(had, l)
				inUse[l.token] = true
				longest = max(longest, rotation-last[l.token])
				last[l.token] = rotation
			}
			for _, l := range had {
				fleet[i].add(l)
			}
		}
		require.LessOrEqual(t, len(inUse), rotationSize+rotationSize/4, "each on its own would have %d", workers*rotationSize)
	}
	require.Equal(t, tenants, len(last), "every lane had a turn")
	require.LessOrEqual(t, longest, 2*tenants/rotationSize)
}

// Fewer lanes than there is room for are all taken, wherever they stand.
func TestCircleGivesBackWhatWasAdded(t *testing.T) {
	var c circle
	require.Nil(t, c.take(time.Now()))
	want := map[string]bool{}
	for n := range 10 {
		l := &lane{token: fmt.Sprint(n)}
		c.add(l)
		want[l.token] = true
	}
	for now := time.Now(); len(want) > 0; now = now.Add(rotationTime) {
		l := c.take(now)
		require.NotNil(t, l)
		require.Contains(t, want, l.token)
		delete(want, l.token)
	}
	require.Nil(t, c.take(time.Now()))
}

// A lane of three servers takes them more than forty times as long to make as one
// server, so it does not go and come with every turn of the rotation.
func TestLanesGoEarlyWhereThereAreMany(t *testing.T) {
	require.Equal(t, wire.LaneIdle, laneLifetime(manyLanes, 1))
	require.Equal(t, wire.LaneIdleCrowded, laneLifetime(manyLanes+1, 1))
	require.Equal(t, wire.LaneIdle, laneLifetime(manyLanes, 3))
	require.Equal(t, wire.LaneIdleReplicated, laneLifetime(manyLanes+1, 3))
}
