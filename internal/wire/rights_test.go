package wire_test

import (
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
	_, url := account(t, rights)
	return login(t, url, "u")
}

// account starts a server with a user "u" who has these rights, and one who may do
// everything.
func account(t *testing.T, rights server.Permissions) (admin jetstream.JetStream, url string) {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "u", Password: "p", Permissions: &rights}, {Username: "admin", Password: "p"}},
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	return login(t, srv.ClientURL(), "admin"), srv.ClientURL()
}

func login(t *testing.T, url, user string) jetstream.JetStream {
	t.Helper()
	nc, err := nats.Connect(url, nats.UserInfo(user, "p"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
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
	denied := []string{
		"$JS.API.STREAM.CREATE.KV_weir_attempts", "$JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.*", "$JS.API.CONSUMER.CREATE.WEIR_CHUNKS.*.weir.chunks.*",
		"$JS.ACK.WEIR_CHUNKS.>", "weir.dead.*", "weir.results.*.*.*", "$KV.weir_circuit.>", "$KV.weir_workers.>", "$LEDGER.weir_ratelimit.*",
		"$JS.API.DIRECT.GET.LEDGER_weir_ratelimit", "$JS.API.STREAM.MSG.GET.KV_weir_circuit", "$JS.API.CONSUMER.DELETE.WEIR_CHUNKS.weir_chunks",
	}
	want := []string{"subscribe to weir.arrived.*", "subscribe to $LEDGERFEED.weir_ratelimit.*"}
	for _, subject := range denied {
		want = append(want, "publish to "+subject)
	}
	rights := workerRights()
	rights.Publish.Deny = denied
	rights.Subscribe.Allow = []string{"_INBOX.>"}
	missing, err := wire.MissingRights(t.Context(), connectAs(t, rights), names(t, ""), "probe")
	require.NoError(t, err)
	require.ElementsMatch(t, want, missing)
}

// What exists need not be created, and what is asked for changes nothing of it.
func TestRightsToCreateAreNotNeededWhereNothingIsMissing(t *testing.T) {
	n := names(t, "")
	own := n.RightsOf(wire.RoleWorker)
	admin, url := account(t, server.Permissions{Publish: &server.SubjectPermission{Allow: own.Publish}, Subscribe: &server.SubjectPermission{Allow: append(own.Subscribe, "_INBOX.>")}})
	worker := login(t, url, "u")
	missing, err := wire.MissingRights(t.Context(), worker, n, "probe")
	require.NoError(t, err)
	require.Contains(t, missing, "publish to $JS.API.STREAM.CREATE.WEIR_CHUNKS")
	require.Contains(t, missing, "publish to $JS.API.STREAM.CREATE.LEDGER_weir_ratelimit")

	_, err = wire.EnsureEach(t.Context(), admin, n)
	require.NoError(t, err)
	for _, bucket := range []string{"weir_circuit", "weir_attempts", "weir_ratelimit"} {
		_, err = admin.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket})
		require.NoError(t, err)
	}
	_, err = admin.CreateStream(t.Context(), jetstream.StreamConfig{Name: "LEDGER_weir_ratelimit", Subjects: []string{"$LEDGER.weir_ratelimit.*"}, AllowDirect: true})
	require.NoError(t, err)
	_, err = admin.CreateConsumer(t.Context(), "WEIR_CHUNKS", jetstream.ConsumerConfig{Durable: "weir_chunks", AckPolicy: jetstream.AckExplicitPolicy})
	require.NoError(t, err)
	for _, subject := range []string{"weir.chunks.acme", "weir.results.acme.d.0", "weir.dead.acme", "$KV.weir_circuit.a", "$LEDGER.weir_ratelimit.a"} {
		_, err = admin.Publish(t.Context(), subject, []byte("x"))
		require.NoError(t, err)
	}
	before := shapes(t, admin)
	missing, err = wire.MissingRights(t.Context(), worker, n, "probe")
	require.NoError(t, err)
	require.Empty(t, missing)
	require.Equal(t, before, shapes(t, admin))
}

// shapes are how many messages and consumers each stream has.
func shapes(t *testing.T, js jetstream.JetStream) map[string][3]uint64 {
	t.Helper()
	all := map[string][3]uint64{}
	for _, name := range streamNames(t, js) {
		s, err := js.Stream(t.Context(), name)
		require.NoError(t, err)
		state := s.CachedInfo().State
		all[name] = [3]uint64{state.Msgs, state.LastSeq, uint64(state.Consumers)}
	}
	return all
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
