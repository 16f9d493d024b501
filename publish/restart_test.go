package publish_test

import (
	"context"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// A publisher that waits outlives a restart of the server, and its timeout
// holds while the server is gone.
func TestFollowOutlivesTheServer(t *testing.T) {
	dir := t.TempDir()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	require.NoError(t, err)
	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)
	conn, err := natsconn.Connect(t.Context(), natsconn.Options{URL: server.URL(), Name: "test"})
	require.NoError(t, err)
	defer conn.Close()
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	f := &fleet{t: t, js: js, names: names}
	f.queue = f.consumer()

	publisher := f.publisher(f.plan("", file(t, "a.txt", "Ada met Charles.")))
	require.NoError(t, publisher.Send(t.Context()))
	require.NoError(t, server.Close())

	begun := time.Now()
	short, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err = publisher.Follow(short, time.Millisecond)
	var wait *publish.WaitError
	require.ErrorAs(t, err, &wait)
	require.Less(t, time.Since(begun), 5*time.Second)

	done := make(chan error, 1)
	go func() {
		_, err := publisher.Follow(t.Context(), time.Millisecond)
		done <- err
	}()
	again, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir, Port: port})
	require.NoError(t, err)
	defer again.Close()
	require.Eventually(t, conn.IsConnected, 30*time.Second, 10*time.Millisecond)
	f.finish(f.take(1)[0], extraction.Extraction{})
	require.NoError(t, <-done)
	require.Equal(t, 1, publisher.Counts().Done)
}
