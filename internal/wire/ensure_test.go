package wire_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestEnsureCreatesTheContractsStreams(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	require.NoError(t, wire.Ensure(t.Context(), js, n), "and is content with them")

	config := func(name string) jetstream.StreamConfig {
		s, err := js.Stream(t.Context(), name)
		require.NoError(t, err)
		return s.CachedInfo().Config
	}
	for name, subject := range map[string]string{"WEIR_CHUNKS": "weir.chunks.*", "WEIR_DOCUMENTS": "weir.documents.*"} {
		c := config(name)
		require.Equal(t, []string{subject}, c.Subjects)
		require.Equal(t, jetstream.WorkQueuePolicy, c.Retention)
		require.Equal(t, jetstream.FileStorage, c.Storage)
		require.Greater(t, c.MaxConsumers, 1000, "the server's default is too low for one consumer per tenant")
	}
	results := config("WEIR_RESULTS")
	require.Equal(t, []string{"weir.results.*.*.*"}, results.Subjects)
	require.Equal(t, jetstream.LimitsPolicy, results.Retention)
	require.EqualValues(t, 1, results.MaxMsgsPerSubject)
	require.Equal(t, jetstream.DiscardOld, results.Discard)
	require.True(t, results.AllowDirect)
	dead := config("WEIR_DEAD")
	require.Equal(t, []string{"weir.dead.*"}, dead.Subjects)
	require.Equal(t, jetstream.LimitsPolicy, dead.Retention)
	for _, bucket := range []string{"weir_limits", "weir_pause"} {
		_, err := js.KeyValue(t.Context(), bucket)
		require.NoError(t, err)
	}
}

// A server without a cluster cannot keep three copies, and says so. Where it can,
// docs/how-to/three-servers.md is run.
func TestEnsureReplicas(t *testing.T) {
	js, replicated := natstest.JetStream(t), names(t, "").WithReplicas(3)
	for _, s := range replicated.Streams() {
		require.Equal(t, 3, s.Replicas, s.Name)
	}
	for _, b := range replicated.OperatorBuckets() {
		require.Equal(t, 3, b.Replicas, b.Bucket)
	}
	err := wire.Ensure(t.Context(), js, replicated)
	var access *wire.AccessError
	require.ErrorAs(t, err, &access)
	require.EqualError(t, err, "stream WEIR_CHUNKS: the server refuses: replicas > 1 not supported in non-clustered mode (JetStream error 10074)")
	require.NoError(t, wire.Ensure(t.Context(), js, names(t, "")))
}

func TestEnsureRaces(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	var wg sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		wg.Go(func() { errs[i] = wire.Ensure(t.Context(), js, n) })
	}
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}

func TestEnsureLivesWithWhatItCan(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	for _, c := range n.Streams() {
		c.Subjects = append([]string{"elsewhere." + c.Name}, c.Subjects...)
		c.MaxAge = time.Hour
		c.Duplicates = time.Second
		c.MaxConsumers = 7
		c.AllowDirect = false
		if c.Name != n.ResultStream() {
			c.MaxBytes, c.Discard = 1<<20, jetstream.DiscardNew
		}
		if c.Name == n.DeadStream() {
			c.Subjects = []string{"weir.dead.>"}
		}
		_, err := js.CreateStream(t.Context(), c)
		require.NoError(t, err)
	}
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	s, err := js.Stream(t.Context(), n.ChunkStream())
	require.NoError(t, err)
	require.Equal(t, 7, s.CachedInfo().Config.MaxConsumers, "left as it was")
}

func TestEnsureRefusesWhatItCannotLiveWith(t *testing.T) {
	for name, tc := range map[string]struct {
		stream string
		change func(*jetstream.StreamConfig)
		field  string
	}{
		"chunks kept for ever":     {"WEIR_CHUNKS", func(c *jetstream.StreamConfig) { c.Retention = jetstream.LimitsPolicy }, "retention"},
		"chunks by interest":       {"WEIR_CHUNKS", func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "retention"},
		"chunks of one tenant":     {"WEIR_CHUNKS", func(c *jetstream.StreamConfig) { c.Subjects = []string{"weir.chunks.acme"} }, "subjects"},
		"chunks in memory":         {"WEIR_CHUNKS", func(c *jetstream.StreamConfig) { c.Storage = jetstream.MemoryStorage }, "storage"},
		"chunks pushed out":        {"WEIR_CHUNKS", func(c *jetstream.StreamConfig) { c.MaxMsgs = 5 }, "discard"},
		"documents unacknowledged": {"WEIR_DOCUMENTS", func(c *jetstream.StreamConfig) { c.NoAck = true }, "no_ack"},
		"results as a queue":       {"WEIR_RESULTS", func(c *jetstream.StreamConfig) { c.Retention = jetstream.WorkQueuePolicy }, "retention"},
		"results never replaced": {"WEIR_RESULTS", func(c *jetstream.StreamConfig) {
			c.Discard, c.DiscardNewPerSubject = jetstream.DiscardNew, true
		}, "discard_new_per_subject"},
		"dead letters pushed out":          {"WEIR_DEAD", func(c *jetstream.StreamConfig) { c.MaxMsgs = 5 }, "discard"},
		"dead letters of few bytes":        {"WEIR_DEAD", func(c *jetstream.StreamConfig) { c.MaxBytes = 1 << 20 }, "discard"},
		"dead letters that are not to fit": {"WEIR_DEAD", func(c *jetstream.StreamConfig) { c.MaxMsgSize = 1 << 10 }, "max_msg_size"},
		"dead letters by interest":         {"WEIR_DEAD", func(c *jetstream.StreamConfig) { c.Retention = jetstream.InterestPolicy }, "retention"},
		"somebody else's subject": {"OTHER", func(c *jetstream.StreamConfig) {
			*c = jetstream.StreamConfig{Name: "OTHER", Subjects: []string{"weir.chunks.>"}}
		}, "subjects"},
	} {
		t.Run(name, func(t *testing.T) {
			js, n := natstest.JetStream(t), names(t, "")
			want := n.Streams()[0]
			for _, c := range n.Streams() {
				if c.Name == tc.stream {
					want = c
				}
			}
			tc.change(&want)
			_, err := js.CreateStream(t.Context(), want)
			require.NoError(t, err)

			err = wire.Ensure(t.Context(), js, n)
			var mismatch *wire.MismatchError
			require.ErrorAs(t, err, &mismatch)
			require.Equal(t, tc.field, mismatch.Field)
			require.Contains(t, err.Error(), tc.stream)
			require.Contains(t, err.Error(), tc.field)
			require.NotEqual(t, mismatch.Want, mismatch.Have)

			s, err := js.Stream(t.Context(), tc.stream)
			require.NoError(t, err)
			require.Equal(t, want.Retention, s.CachedInfo().Config.Retention, "nothing was changed")
		})
	}
}

// Who has to put a stream right wants to do it once.
func TestEnsureNamesAllThatIsWrongWithAStream(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	_, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: n.DeadStream(), Subjects: []string{"weir.dead.*"}, Storage: jetstream.MemoryStorage, Retention: jetstream.WorkQueuePolicy, MaxMsgs: 10, MaxMsgSize: 1000,
	})
	require.NoError(t, err)
	err = wire.Ensure(t.Context(), js, n)
	require.EqualError(t, err, "stream WEIR_DEAD: retention is WorkQueue, want Limits; storage is Memory, want File; discard is DiscardOld, want DiscardNew with a limit on size; "+
		"max_msg_size is 1000, want at least max_payload of the server, 1048576; change that, or use another --namespace")
	var first *wire.MismatchError
	require.ErrorAs(t, err, &first)
	require.Equal(t, "retention", first.Field)
}

// What loses something in time is told, and left to its owner.
func TestCautions(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	all, err := wire.Cautions(t.Context(), js, n)
	require.NoError(t, err)
	require.Empty(t, all, "of streams that are not there")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	all, err = wire.Cautions(t.Context(), js, n)
	require.NoError(t, err)
	require.Empty(t, all, "of streams as they are made")

	for _, c := range n.Streams() {
		c.MaxAge, c.Duplicates = time.Hour, time.Minute
		if c.Name == n.ResultStream() {
			c.MaxMsgs, c.MaxBytes, c.MaxMsgSize = 5, 1<<20, 1000
		}
		_, err := js.UpdateStream(t.Context(), c)
		require.NoError(t, err)
	}
	all, err = wire.Cautions(t.Context(), js, n)
	require.NoError(t, err)
	require.Equal(t, []string{
		"stream WEIR_CHUNKS: max_age is 1h0m0s: messages that nobody has worked on yet that are older are lost",
		"stream WEIR_DOCUMENTS: max_age is 1h0m0s: messages that nobody has worked on yet that are older are lost",
		"stream WEIR_RESULTS: max_age is 1h0m0s: results that are older are lost",
		"stream WEIR_RESULTS: max_msgs is 5, and it discards old ones: with more results the oldest are lost",
		"stream WEIR_RESULTS: max_bytes is 1048576, and it discards old ones: with more results the oldest are lost",
		"stream WEIR_RESULTS: max_msg_size is 1000, and the server takes 1048576: chunks with a larger result are dead-lettered",
		"stream WEIR_DEAD: max_age is 1h0m0s: dead letters that are older are lost",
	}, all)
}

// Whoever may not create streams is told which permission is missing, and soon.
func TestEnsureNamesTheMissingRight(t *testing.T) {
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "u", Password: "p", Permissions: &server.Permissions{
			Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.STREAM.INFO.>"}},
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
		}}},
	})
	require.NoError(t, err)
	srv.Start()
	defer srv.WaitForShutdown()
	defer srv.Shutdown()
	require.True(t, srv.ReadyForConnections(10*time.Second))
	nc, err := nats.Connect(srv.ClientURL(), nats.UserInfo("u", "p"), nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}))
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)

	start := time.Now()
	err = wire.Ensure(t.Context(), js, names(t, ""))
	require.Less(t, time.Since(start), 10*time.Second)
	var access *wire.AccessError
	require.ErrorAs(t, err, &access)
	require.Equal(t, "$JS.API.STREAM.CREATE.WEIR_CHUNKS", access.Right)
	require.ErrorIs(t, err, nats.ErrPermissionViolation)
}

func TestEnsureWithoutJetStream(t *testing.T) {
	srv, err := server.NewServer(&server.Options{Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true})
	require.NoError(t, err)
	srv.Start()
	defer srv.WaitForShutdown()
	defer srv.Shutdown()
	require.True(t, srv.ReadyForConnections(10*time.Second))
	nc, err := nats.Connect(srv.ClientURL())
	require.NoError(t, err)
	defer nc.Close()
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	err = wire.Ensure(context.Background(), js, names(t, ""))
	require.ErrorContains(t, err, "has no JetStream")

	var ne *wire.NamespaceError
	require.ErrorAs(t, wire.Ensure(t.Context(), js, wire.Names{}), &ne)
}

func TestEnsureConsumer(t *testing.T) {
	js, n := natstest.JetStream(t), names(t, "")
	require.NoError(t, wire.Ensure(t.Context(), js, n))
	c, _, err := wire.EnsureConsumer(t.Context(), js, n.DocumentStream(), n.DocumentConsumerConfig(30*time.Second))
	require.NoError(t, err)
	have := c.CachedInfo().Config
	require.Equal(t, "weir_documents", have.Durable)
	require.Equal(t, -1, have.MaxDeliver)
	require.Equal(t, -1, have.MaxAckPending)
	require.Empty(t, have.BackOff)

	// Another worker with another --ack-wait lives with what is there.
	c, _, err = wire.EnsureConsumer(t.Context(), js, n.DocumentStream(), n.DocumentConsumerConfig(time.Second))
	require.NoError(t, err)
	require.Equal(t, 30*time.Second, c.CachedInfo().Config.AckWait)
}

func TestEnsureConsumerRefusesWhatItCannotLiveWith(t *testing.T) {
	for field, change := range map[string]func(*jetstream.ConsumerConfig){
		"filter_subject": func(c *jetstream.ConsumerConfig) { c.FilterSubject = "weir.documents.acme" },
		"max_deliver":    func(c *jetstream.ConsumerConfig) { c.MaxDeliver = 3 },
		"backoff":        func(c *jetstream.ConsumerConfig) { c.BackOff = []time.Duration{time.Second} },
		"headers_only":   func(c *jetstream.ConsumerConfig) { c.HeadersOnly = true },
	} {
		t.Run(field, func(t *testing.T) {
			js, n := natstest.JetStream(t), names(t, "")
			require.NoError(t, wire.Ensure(t.Context(), js, n))
			config := n.DocumentConsumerConfig(30 * time.Second)
			change(&config)
			_, err := js.CreateConsumer(t.Context(), n.DocumentStream(), config)
			require.NoError(t, err)
			_, _, err = wire.EnsureConsumer(t.Context(), js, n.DocumentStream(), n.DocumentConsumerConfig(30*time.Second))
			var mismatch *wire.MismatchError
			require.ErrorAs(t, err, &mismatch)
			require.Equal(t, field, mismatch.Field)
		})
	}
}
