package follow

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A large bucket is read to its end with no more rights than docs/wire.md asks for,
// without what was deleted, and not again before it changes.
func TestALargeBucketIsReadWithFewRights(t *testing.T) {
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{
			{Username: "operator", Password: "x"},
			{Username: "worker", Password: "x", Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.>", "$JS.ACK.>", "weir.>"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
			}},
		},
	})
	require.NoError(t, err)
	srv.Start()
	defer srv.WaitForShutdown()
	defer srv.Shutdown()
	require.True(t, srv.ReadyForConnections(20*time.Second))
	connect := func(user string) jetstream.JetStream {
		nc, err := nats.Connect(strings.Replace(srv.ClientURL(), "nats://", "nats://"+user+":x@", 1))
		require.NoError(t, err)
		t.Cleanup(nc.Close)
		js, err := jetstream.New(nc)
		require.NoError(t, err)
		return js
	}
	operator, worker := connect("operator"), connect("worker")
	b := NewBucket(worker, "weir_limits")
	reading, err := b.Look(t.Context())
	require.NoError(t, err)
	require.True(t, reading.Fresh)
	require.Empty(t, reading.Entries, "a bucket that does not exist")

	kv, err := operator.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "weir_limits", Storage: jetstream.MemoryStorage})
	require.NoError(t, err)
	reading, err = b.Look(t.Context())
	require.NoError(t, err)
	require.Empty(t, reading.Entries)
	const n = 20_000
	for i := range n {
		_, err := operator.PublishAsync(fmt.Sprintf("$KV.weir_limits.tenant-%d", i), []byte(strings.Repeat("x", 100)), jetstream.WithStallWait(time.Minute))
		require.NoError(t, err)
	}
	select {
	case <-operator.PublishAsyncComplete():
	case <-time.After(time.Minute):
		require.FailNow(t, "the bucket does not take the entries")
	}
	require.NoError(t, kv.Delete(t.Context(), "tenant-7"))
	require.NoError(t, kv.Purge(t.Context(), "tenant-8"))

	reading, err = b.Look(t.Context())
	require.NoError(t, err)
	require.True(t, reading.Fresh)
	require.WithinDuration(t, time.Now(), reading.Now, time.Minute)
	keys := map[string]bool{}
	for _, e := range reading.Entries {
		require.Len(t, e.Value, 100)
		require.NotZero(t, e.Revision)
		require.WithinDuration(t, reading.Now, e.Created, time.Minute)
		keys[e.Key] = true
	}
	require.Len(t, keys, n-2)
	require.Len(t, reading.Entries, n-2)
	require.False(t, keys["tenant-7"] || keys["tenant-8"])
	require.True(t, keys["tenant-0"])
	reading, err = b.Look(t.Context())
	require.NoError(t, err)
	require.False(t, reading.Fresh)
	info, err := operator.Stream(t.Context(), "KV_weir_limits")
	require.NoError(t, err)
	require.Zero(t, info.CachedInfo().State.Consumers, "nothing is left behind")
}
