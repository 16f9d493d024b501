package e2e_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
)

// TestR32CheckSaysThatTheServerCannotStore although streams, buckets and rights are as
// they should be, and does not blame the circuit for it.
//
// R32 of docs/clauses.md.
func TestR32CheckSaysThatTheServerCannotStore(t *testing.T) {
	t.Parallel()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), JetStreamMaxStore: 256 << 10,
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	url := srv.ClientURL()
	ended := command{program: "worker", args: []string{"setup"}, env: []string{"NATS_URL=" + url}}.run(t)
	require.Equal(t, 0, ended.code, ended)
	js := connect(t, url).js
	_, err = js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"other"}})
	require.NoError(t, err)
	for err == nil {
		_, err = js.Publish(t.Context(), "other", make([]byte, 64<<10))
	}

	report, ended := check(t, url, []string{"WEIR_PROVIDER=offline"}, "--rpm", "5")
	require.Equal(t, 1, ended.code)
	status, detail, next := report.find(t, "buckets")
	require.Equal(t, "failed", status)
	require.Contains(t, detail, "the NATS server cannot store")
	require.Contains(t, detail, "insufficient resources")
	require.Contains(t, next, "full")
	for _, name := range []string{"limiter", "breaker"} {
		status, _, _ := report.find(t, name)
		require.Equal(t, "skipped", status, name)
	}
}
