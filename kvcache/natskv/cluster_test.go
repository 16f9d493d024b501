package natskv_test

import (
	"errors"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// R12: three servers that each keep a copy. Reads go to whoever leads.
func TestComplianceR3(t *testing.T) {
	if testing.Short() {
		t.Skip("a cluster's whole suite; left out of -short")
	}
	t.Parallel()
	servers := startCluster(t, 3)
	js := make([]jetstream.JetStream, len(servers))
	for i, s := range servers {
		js[i] = connect(t, s.ClientURL())
	}
	var opened atomic.Int64
	t.Run("suite", func(t *testing.T) {
		comply(t, func(t *testing.T) kvcache.Cache {
			// Leaders are spread over the servers, so some are near and some are not.
			near := js[opened.Add(1)%3]
			return open(t, near, natskv.WithReplicas(3), patient)
		})
	})
}

// One server of three may go, also the one that leads. What was acknowledged
// is not lost, what failed may have happened, and the answer comes in time
// either way.
func TestClusterOutlivesOneServer(t *testing.T) {
	servers := startCluster(t, 3)
	js := connect(t, servers[0].ClientURL())
	const timeout = 2 * time.Second
	ctx := t.Context()
	c, err := natskv.Open(ctx, js, "outlives", natskv.WithReplicas(3), natskv.WithTimeout(timeout))
	require.NoError(t, err)
	require.False(t, c.AsksReplicas(), "what replicas show of two keys may be out of order, and a circuit is many keys")
	_, err = c.Increment(ctx, "n", time.Hour)
	require.NoError(t, err)

	// The connection is to the first server, so one of the others goes: the
	// leader unless that is the first.
	stream, err := js.Stream(ctx, "KV_outlives")
	require.NoError(t, err)
	leader := servers[1]
	if stream.CachedInfo().Cluster.Leader == servers[2].Name() {
		leader = servers[2]
	}
	leader.Shutdown()
	leader.WaitForShutdown()

	acknowledged, unknown := int64(1), int64(0)
	require.Eventually(t, func() bool {
		began := time.Now()
		_, err := c.Increment(ctx, "n", time.Hour)
		if took := time.Since(began); took > timeout+2*time.Second {
			t.Errorf("an increment took %v", took)
		}
		if err != nil {
			if !errors.Is(err, kvcache.ErrUnavailable) {
				t.Errorf("increment: %v", err)
			}
			unknown++
			return false
		}
		acknowledged++
		return acknowledged == 20
	}, 60*time.Second, time.Millisecond)
	value, ok, err := c.Get(ctx, "n")
	require.NoError(t, err)
	require.True(t, ok)
	n, err := strconv.ParseInt(value, 10, 64)
	require.NoError(t, err)
	require.GreaterOrEqual(t, n, acknowledged)
	require.LessOrEqual(t, n, acknowledged+unknown)

	e := []kvcache.Entry{{Key: "a"}, {Key: "b"}}
	require.NoError(t, c.Load(ctx, e))
	swapped, err := c.Swap(ctx, []kvcache.Change{{Key: "a", Version: e[0].Version, Value: "1"}, {Key: "b", Version: e[1].Version, Value: "1"}})
	require.NoError(t, err)
	require.True(t, swapped)
}
