package natskv_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// laggard opens a cache that reads from a replica which answers for ever that
// key "k" is "old", at sequence 1, and that nothing else exists.
func laggard(t *testing.T) (*natskv.Cache, jetstream.JetStream) {
	t.Helper()
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	_, err := js.CreateStream(ctx, jetstream.StreamConfig{
		Name: "KV_lag", Subjects: []string{"$KV.lag.>"}, MaxMsgsPerSubject: 1, Discard: jetstream.DiscardNew, AllowRollup: true,
	})
	require.NoError(t, err)
	_, err = js.Conn().Subscribe("$JS.API.DIRECT.GET.KV_lag.$KV.lag.>", func(m *nats.Msg) {
		answer := nats.NewMsg(m.Reply)
		if m.Subject == "$JS.API.DIRECT.GET.KV_lag.$KV.lag.k" {
			answer.Data = []byte("old")
			answer.Header.Set("Nats-Sequence", "1")
			answer.Header.Set("Nats-Time-Stamp", time.Now().UTC().Format(time.RFC3339Nano))
		} else {
			answer.Header.Set("Status", "404")
		}
		_ = js.Conn().PublishMsg(answer)
	})
	require.NoError(t, err)
	require.NoError(t, js.Conn().Flush())
	c, err := natskv.Open(ctx, js, "lag")
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "k", "old", 0))
	c.AskReplicas()
	value, _, err := c.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "old", value)
	return c, js
}

// A replica that lags behind must not take a process back to before its own
// writes.
func TestReplicaThatLagsIsNotBelieved(t *testing.T) {
	c, _ := laggard(t)
	ctx := t.Context()
	require.NoError(t, c.Set(ctx, "k", "7", 0))
	value, _, err := c.Get(ctx, "k")
	require.NoError(t, err)
	require.Equal(t, "7", value)
	for want := int64(8); want < 11; want++ {
		n, err := c.Increment(ctx, "k", 0)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	for want := int64(1); want < 4; want++ {
		n, err := c.Increment(ctx, "another", 0)
		require.NoError(t, err)
		require.Equal(t, want, n)
	}
	require.NoError(t, c.Delete(ctx, "k"))
	_, ok, err := c.Get(ctx, "k")
	require.NoError(t, err)
	require.False(t, ok)
}

// A swap that was lost shows that there is something newer, and the next load
// has to find it, or its caller would try the same for ever.
func TestLoadAfterALostSwapIsFresh(t *testing.T) {
	c, js := laggard(t)
	ctx := t.Context()
	_, err := js.Publish(ctx, "$KV.lag.k", []byte("by another process"))
	require.NoError(t, err)
	e := []kvcache.Entry{{Key: "k"}, {Key: "l"}}
	require.NoError(t, c.Load(ctx, e))
	require.Equal(t, "old", e[0].Value) // nobody could know
	changes := []kvcache.Change{{Key: "k", Version: e[0].Version, Value: "mine"}, {Key: "l", Version: e[1].Version, Value: "mine"}}
	swapped, err := c.Swap(ctx, changes)
	require.NoError(t, err)
	require.False(t, swapped)
	require.NoError(t, c.Load(ctx, e))
	require.Equal(t, "by another process", e[0].Value)
	changes[0].Version, changes[1].Version = e[0].Version, e[1].Version
	swapped, err = c.Swap(ctx, changes)
	require.NoError(t, err)
	require.True(t, swapped)

	// The same for a counter, which tries again by itself.
	_, err = js.Publish(ctx, "$KV.lag.k", []byte("41"))
	require.NoError(t, err)
	n, err := c.Increment(ctx, "k", 0)
	require.NoError(t, err)
	require.EqualValues(t, 42, n)
}
