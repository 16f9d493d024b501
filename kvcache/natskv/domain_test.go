package natskv_test

import (
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Everything works in a JetStream domain, for who is connected to a server of the domain
// and for who is connected to a leaf of it that has a domain of its own.
func TestDomain(t *testing.T) {
	port := freePorts(t, 1)[0]
	hub := startServer(t, func(o *server.Options) {
		o.JetStreamDomain = "hub"
		o.LeafNode = server.LeafNodeOpts{Host: "127.0.0.1", Port: port}
	})
	leaf := startServer(t, func(o *server.Options) {
		o.JetStreamDomain = "leaf"
		o.LeafNode.Remotes = []*server.RemoteLeafOpts{{URLs: []*url.URL{{Scheme: "nats", Host: fmt.Sprintf("127.0.0.1:%d", port)}}}}
	})
	require.Eventually(t, func() bool { return leaf.NumLeafNodes() == 1 }, 10*time.Second, 10*time.Millisecond)
	for name, s := range map[string]*server.Server{"hub": hub, "leaf": leaf} {
		t.Run(name, func(t *testing.T) {
			js, err := jetstream.NewWithDomain(connect(t, s.ClientURL()).Conn(), "hub")
			require.NoError(t, err)
			c := open(t, js)
			for name, do := range everyOperation(t.Context(), c) {
				require.NoError(t, do(), name)
			}
			once := kvcache.Ask{Quota: kvcache.Quota{Window: time.Minute, Requests: 1}}
			first, err := c.Admit(t.Context(), "once", once)
			require.NoError(t, err)
			require.True(t, first.Admitted)
			second, err := c.Admit(t.Context(), "once", once)
			require.NoError(t, err)
			require.False(t, second.Admitted)
		})
	}
}
