package wire_test

import (
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// Two tenants may publish the same document at the same time: the ids of its
// chunks are the same, yet each tenant's chunk must be extracted.
func TestTheSameChunkOfTwoTenants(t *testing.T) {
	js, n := jetStream(t), names(t, "")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	send := func(tenant string) *nats.Msg {
		msg, err := n.NewChunkMessage(tenant, "same-id", []byte(`{"text":"Ada"}`), 1<<20)
		require.NoError(t, err)
		ack, err := js.PublishMsg(t.Context(), msg)
		require.NoError(t, err)
		again, err := n.ForeignDuplicate(t.Context(), js, msg, ack)
		require.NoError(t, err)
		return again
	}
	require.Nil(t, send("acme"), "stored")
	require.Nil(t, send("acme"), "is in its queue already")

	again := send("globex")
	require.NotNil(t, again)
	require.Equal(t, "weir.chunks.globex", again.Subject)
	ack, err := js.PublishMsg(t.Context(), again)
	require.NoError(t, err)
	require.False(t, ack.Duplicate)

	s, err := js.Stream(t.Context(), n.ChunkStream())
	require.NoError(t, err)
	info, err := s.Info(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 2, info.State.Msgs)

	require.NoError(t, s.Purge(t.Context()))
	require.NotNil(t, send("acme"), "whose it was cannot be told any more")
}
