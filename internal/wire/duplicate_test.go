package wire_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// A chunk is in its queue once it was published, whatever was published under
// the same id before, and by whom.
func TestEveryPublishedChunkIsInItsQueue(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	s, err := js.Stream(t.Context(), n.ChunkStream())
	require.NoError(t, err)
	send := func(tenant, body, attempt string) *jetstream.PubAck {
		msg, err := n.NewChunkMessage(tenant, "same-id", []byte(body), 1<<20)
		require.NoError(t, err)
		ack, err := js.PublishMsg(t.Context(), msg)
		require.NoError(t, err)
		ack, err = n.NewChunkQueue(js, attempt).Confirm(t.Context(), msg, ack)
		require.NoError(t, err)
		require.Equal(t, "same-id", msg.Header.Get(nats.MsgIdHdr), "the caller's message stays as it is")
		stored, err := s.GetMsg(t.Context(), ack.Sequence)
		require.NoError(t, err)
		require.Equal(t, n.ChunkSubject(tenant), stored.Subject)
		require.Equal(t, body, string(stored.Data))
		return ack
	}
	waiting := func() uint64 {
		info, err := s.Info(t.Context())
		require.NoError(t, err)
		return info.State.Msgs
	}
	const body = `{"text":"Ada"}`
	require.False(t, send("acme", body, "1").Duplicate)
	require.True(t, send("acme", body, "2").Duplicate)
	require.False(t, send("globex", body, "3").Duplicate, "another tenant's is not this one's")
	require.True(t, send("globex", body, "4").Duplicate)
	require.EqualValues(t, 2, waiting())
	require.False(t, send("acme", `{"text":"Ada","total":2}`, "5").Duplicate, "of a document that has grown")

	for _, attempt := range []string{"6", "7", "8", "9"} {
		require.NoError(t, s.Purge(t.Context()))
		require.False(t, send("acme", body, attempt).Duplicate, "what is gone may have been replaced since")
		require.EqualValues(t, 1, waiting())
	}
	// The same attempt once more, because its answer got lost, is no second copy.
	require.NoError(t, s.Purge(t.Context()))
	msg, err := n.NewChunkMessage("acme", "same-id", []byte(body), 1<<20)
	require.NoError(t, err)
	ack, err := js.PublishMsg(t.Context(), msg)
	require.NoError(t, err)
	ack, err = n.NewChunkQueue(js, "9").Confirm(t.Context(), msg, ack)
	require.NoError(t, err)
	require.True(t, ack.Duplicate)
	require.Zero(t, waiting())
}
