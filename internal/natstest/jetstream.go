// Package natstest gives tests a real server.
package natstest

import (
	"testing"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
)

// JetStream is a connection to an embedded server of the test's own, without a
// port, whose files go with the test.
func JetStream(t testing.TB) jetstream.JetStream {
	t.Helper()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir(), InProcess: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	conn, err := server.Connect(natsconn.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	return js
}
