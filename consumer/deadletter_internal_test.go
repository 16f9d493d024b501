package consumer

import (
	"errors"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// A server that was started anew with a smaller max_payload may leave no room for the
// headers of a letter. The message then waits until it has more: to set it aside, for being
// too large, is just what failed.
func TestAMessageWhoseLetterDoesNotFitIsPutBack(t *testing.T) {
	t.Parallel()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir(), MaxPayload: 256})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	nc, err := server.Connect(natsconn.Options{})
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	d := delivery{
		msg:  &nats.Msg{Subject: names.ChunkSubject("acme"), Data: []byte(`{"text":"Ada"}`)},
		meta: &nats.MsgMetadata{Stream: names.ChunkStream(), NumDelivered: 1},
	}
	letter := newLetter(d, verdict{kind: wire.KindInvalidMessage}, errors.New("it is not JSON"), 1, time.Now())

	err = deadLetters{js, names, unobserved{}}.write(t.Context(), d, letter)
	require.ErrorContains(t, err, "max_payload")
	require.Equal(t, verdict{name: outcomeStoreUnavailable, action: later, delay: storeDelay}, judge(t.Context(), err, 0))
}
