package natskv_test

import (
	"flag"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
)

func TestMain(m *testing.M) {
	// These tests mostly wait: for servers, elections and times to live.
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// startServer runs one server with JetStream on a loopback port of its own.
func startServer(t testing.TB, adjust ...func(*server.Options)) *server.Server {
	t.Helper()
	o := &server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true,
		JetStream: true, StoreDir: t.TempDir(),
	}
	for _, f := range adjust {
		f(o)
	}
	s, err := server.NewServer(o)
	require.NoError(t, err)
	go s.Start()
	require.True(t, s.ReadyForConnections(10*time.Second))
	t.Cleanup(func() {
		s.Shutdown()
		s.WaitForShutdown()
	})
	return s
}

// startCluster runs n servers that know each other and have a leader.
func startCluster(t testing.TB, n int) []*server.Server {
	t.Helper()
	ports := freePorts(t, n)
	var routes []string
	for _, port := range ports {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", port))
	}
	servers := make([]*server.Server, n)
	for i := range servers {
		servers[i] = startServer(t, func(o *server.Options) {
			o.ServerName = fmt.Sprintf("node%d", i)
			o.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[i]}
			for _, route := range routes {
				o.Routes = append(o.Routes, server.RoutesFromStr(route)...)
			}
		})
	}
	require.Eventually(t, func() bool {
		peers, current := 0, 0
		for _, s := range servers {
			if s.JetStreamIsLeader() {
				peers = len(s.JetStreamClusterPeers())
			}
			if s.JetStreamIsCurrent() {
				current++
			}
		}
		return peers == n && current == n
	}, 30*time.Second, 20*time.Millisecond)
	return servers
}

func freePorts(t testing.TB, n int) []int {
	t.Helper()
	ports, err := freeport.Take(n)
	require.NoError(t, err)
	return ports
}

// connect returns JetStream on a connection of its own.
func connect(t testing.TB, url string, opts ...nats.Option) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, append([]nats.Option{nats.MaxReconnects(-1), nats.ReconnectWait(20 * time.Millisecond)}, opts...)...)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return js
}
