package wire_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func FuzzLane(f *testing.F) {
	for _, seed := range []string{"acme", "=YWNtZQ", "=", "==", "==x", "ü", `a\b`, "a b", strings.Repeat("x", 129), "=" + strings.Repeat("x", 129)} {
		f.Add(seed, "acme")
		f.Add(seed, "==")
	}
	n, err := wire.NewNames("")
	require.NoError(f, err)
	f.Fuzz(func(t *testing.T, a, b string) {
		name := n.Lane(a)
		require.True(t, strings.HasPrefix(name, "weir_chunks_"))
		require.Less(t, len(name), 200)
		require.False(t, strings.ContainsAny(name, " .*>/\\\t\r\n\x00"))
		require.Equal(t, a == b, name == n.Lane(b), "%q %q", a, b)
	})
}

func TestChunkToken(t *testing.T) {
	n := names(t, "")
	for subject, want := range map[string]string{
		"weir.chunks.acme": "acme", "weir.arrived.=YWNtZQ": "=YWNtZQ",
		"weir.chunks.": "", "weir.chunks.a.b": "", "weir.documents.acme": "", "other.chunks.acme": "", "": "",
	} {
		token, ok := n.ChunkToken(subject)
		require.Equal(t, want != "", ok, subject)
		if ok {
			require.Equal(t, want, token)
		}
	}
}

func TestEnsureLane(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	lane, err := wire.EnsureLane(t.Context(), js, n, "acme", 30*time.Second, wire.LaneIdle)
	require.NoError(t, err)
	have := lane.CachedInfo().Config
	require.Equal(t, "weir_chunks_acme", have.Durable)
	require.Equal(t, "weir.chunks.acme", have.FilterSubject)
	require.Equal(t, -1, have.MaxDeliver)
	require.Equal(t, wire.LaneIdle, have.InactiveThreshold)

	// Another worker with other times lives with what is there.
	lane, err = wire.EnsureLane(t.Context(), js, n, "acme", time.Second, wire.LaneIdleCrowded)
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, lane.CachedInfo().Config.AckWait)
	require.NoError(t, wire.CheckLanes(t.Context(), js, n))

	// What stands in the way is named: one tenant's consumer of somebody else.
	_, err = js.CreateConsumer(t.Context(), n.ChunkStream(), jetstream.ConsumerConfig{Durable: "theirs", FilterSubject: "weir.chunks.other", AckPolicy: jetstream.AckExplicitPolicy})
	require.NoError(t, err)
	require.NoError(t, wire.CheckLanes(t.Context(), js, n), "only that tenant has a problem")
	_, err = wire.EnsureLane(t.Context(), js, n, "other", time.Second, wire.LaneIdle)
	var mismatch *wire.MismatchError
	require.ErrorAs(t, err, &mismatch)
	require.Contains(t, mismatch.Object, "consumer theirs")
	_, err = wire.EnsureLane(t.Context(), js, n, "third", time.Second, wire.LaneIdle)
	require.NoError(t, err)
}

// An earlier version's consumer whose workers have died with messages in hand goes
// after its AckWait.
func TestRetireSharedThatWasLeft(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	old := n.DocumentConsumerConfig(time.Second)
	old.Durable, old.FilterSubject = n.ChunkConsumer(), n.ChunkFilter()
	shared, err := js.CreateConsumer(t.Context(), n.ChunkStream(), old)
	require.NoError(t, err)
	_, err = js.Publish(t.Context(), "weir.chunks.acme", []byte("{}"))
	require.NoError(t, err)
	_, err = shared.Next()
	require.NoError(t, err)

	var seen wire.Shared
	now := time.Now()
	_, err = wire.RetireShared(t.Context(), js, n, &seen, now)
	var inUse *wire.SharedInUseError
	require.ErrorAs(t, err, &inUse)
	require.Equal(t, 1, inUse.InHand)
	_, err = wire.EnsureLane(t.Context(), js, n, "acme", time.Second, wire.LaneIdle)
	require.ErrorAs(t, err, &inUse)
	_, err = wire.RetireShared(t.Context(), js, n, &seen, now.Add(900*time.Millisecond))
	require.ErrorAs(t, err, &inUse)
	retired, err := wire.RetireShared(t.Context(), js, n, &seen, now.Add(1100*time.Millisecond))
	require.NoError(t, err)
	require.True(t, retired)
	lane, err := wire.EnsureLane(t.Context(), js, n, "acme", time.Second, wire.LaneIdle)
	require.NoError(t, err)
	require.EqualValues(t, 1, lane.CachedInfo().NumPending)
	retired, err = wire.RetireShared(t.Context(), js, n, &seen, now)
	require.NoError(t, err)
	require.False(t, retired)
}
