package wire_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// workerRights are those that docs/wire.md asks for.
func workerRights() server.Permissions {
	return server.Permissions{
		Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.>", "$JS.ACK.>", "weir.>", "$KV.weir_circuit.>", "$KV.weir_attempts.>", "$KV.weir_workers.>", "$LEDGER.weir_ratelimit.>"}},
		Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", "weir.arrived.*", "$LEDGERFEED.weir_ratelimit.>"}},
	}
}

func connectAs(t *testing.T, rights server.Permissions) jetstream.JetStream {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "u", Password: "p", Permissions: &rights}},
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	nc, err := nats.Connect(srv.ClientURL(), nats.UserInfo("u", "p"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return js
}

func TestMissingRightsAreFoundWithoutChangingAnything(t *testing.T) {
	js := connectAs(t, workerRights())
	begun := time.Now()
	missing, err := wire.MissingRights(t.Context(), js, names(t, ""), "probe")
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Less(t, time.Since(begun), 2*time.Second, "no answer has to be waited for")
	require.Empty(t, streamNames(t, js))

	require.NoError(t, wire.Ensure(t.Context(), js, names(t, "")))
	missing, err = wire.MissingRights(t.Context(), js, names(t, ""), "probe")
	require.NoError(t, err)
	require.Empty(t, missing)
	for _, name := range streamNames(t, js) {
		s, err := js.Stream(t.Context(), name)
		require.NoError(t, err)
		require.Zero(t, s.CachedInfo().State.LastSeq, name)
		require.Zero(t, s.CachedInfo().State.Consumers, name)
	}
}

func TestMissingRightsNamesEach(t *testing.T) {
	want := map[string]string{ // by what is denied
		"$JS.API.STREAM.CREATE.KV_weir_attempts":  "publish to $JS.API.STREAM.CREATE.KV_weir_attempts",
		"$JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.>": "publish to $JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.weir_chunks_probe",
		"$JS.API.CONSUMER.CREATE.WEIR_CHUNKS.>":   "publish to $JS.API.CONSUMER.CREATE.WEIR_CHUNKS.weir_chunks_probe.weir.chunks.probe",
		"$JS.ACK.WEIR_CHUNKS.>":                   "publish to $JS.ACK.WEIR_CHUNKS.probe.1.1.1.1.0",
		"weir.dead.*":                             "publish to weir.dead.probe",
		"$KV.weir_circuit.>":                      "publish to $KV.weir_circuit.probe",
		"$LEDGER.weir_ratelimit.*":                "publish to $LEDGER.weir_ratelimit.probe",
	}
	rights := workerRights()
	rights.Publish.Deny = slices.Collect(maps.Keys(want))
	rights.Subscribe.Allow = []string{"_INBOX.>"}
	missing, err := wire.MissingRights(t.Context(), connectAs(t, rights), names(t, ""), "probe")
	require.NoError(t, err)
	require.ElementsMatch(t, append(slices.Collect(maps.Values(want)),
		"subscribe to weir.arrived.*", "subscribe to $LEDGERFEED.weir_ratelimit.probe"), missing)
}

func streamNames(t *testing.T, js jetstream.JetStream) []string {
	t.Helper()
	var all []string
	lister := js.StreamNames(t.Context())
	for name := range lister.Name() {
		all = append(all, name)
	}
	require.NoError(t, lister.Err())
	return all
}
