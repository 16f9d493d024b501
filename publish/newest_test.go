package publish_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// The newest letters are found behind gaps and among what others have written.
func TestNewestLetters(t *testing.T) {
	js := natstest.JetStream(t)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	newest := func(most int) (sequences []uint64) {
		t.Helper()
		letters, err := publish.NewestLetters(t.Context(), js, names, most)
		require.NoError(t, err)
		for _, l := range letters {
			require.Equal(t, "acme", l.Tenant)
			require.Equal(t, wire.KindDeadline, l.Kind)
			sequences = append(sequences, l.Sequence)
		}
		return sequences
	}
	require.Empty(t, newest(5), "no stream")
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	require.Empty(t, newest(5), "nothing in it")
	for i := range 8 {
		dead := wire.DeadLetter{Kind: wire.KindDeadline, Error: "x", Attempts: 1, Deliveries: 1, OriginSubject: names.ChunkSubject("acme"), OriginSequence: uint64(i + 1), FailedAt: time.Now()}
		_, err := js.PublishMsg(t.Context(), &nats.Msg{Subject: names.DeadSubject("acme"), Header: dead.Header(nil), Data: fmt.Appendf(nil, `{"text":"%d"}`, i)})
		require.NoError(t, err)
	}
	_, err = js.Publish(t.Context(), names.DeadSubject("acme"), []byte("no letter"))
	require.NoError(t, err)
	require.Equal(t, []uint64{8, 7, 6}, newest(3))
	stream, err := js.Stream(t.Context(), names.DeadStream())
	require.NoError(t, err)
	for _, gone := range []uint64{1, 5, 6, 7, 9} {
		require.NoError(t, stream.DeleteMsg(t.Context(), gone))
	}
	require.Equal(t, []uint64{8, 4, 3}, newest(3))
	require.Equal(t, []uint64{8, 4, 3, 2}, newest(10))
	require.NoError(t, stream.Purge(t.Context()))
	require.Empty(t, newest(3))
}
