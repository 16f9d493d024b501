package overview

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// world is a NATS server with a user that may do everything and an operator who may
// do no more than docs/wire.md asks for.
type world struct {
	js, operator jetstream.JetStream
	names        wire.Names
}

func newWorld(t testing.TB) *world {
	t.Helper()
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(),
		Users: []*server.User{
			{Username: "all", Password: "x"},
			{Username: "operator", Password: "x", Permissions: &server.Permissions{
				Publish:   &server.SubjectPermission{Allow: []string{"$JS.API.>"}},
				Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>"}},
			}},
		},
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(srv.WaitForShutdown)
	t.Cleanup(srv.Shutdown)
	require.True(t, srv.ReadyForConnections(20*time.Second))
	connect := func(user string) jetstream.JetStream {
		conn, err := nats.Connect(strings.Replace(srv.ClientURL(), "nats://", "nats://"+user+":x@", 1))
		require.NoError(t, err)
		t.Cleanup(conn.Close)
		js, err := jetstream.New(conn)
		require.NoError(t, err)
		return js
	}
	names, err := wire.NewNames("Team7")
	require.NoError(t, err)
	return &world{connect("all"), connect("operator"), names}
}

func (w *world) reader(t testing.TB, adjust ...func(*Config)) *Reader {
	t.Helper()
	c := Config{JetStream: w.operator, Names: w.names}
	for _, f := range adjust {
		f(&c)
	}
	r, err := NewReader(c)
	require.NoError(t, err)
	return r
}

func (w *world) publish(t testing.TB, subject string, body string, header nats.Header) {
	t.Helper()
	_, err := w.js.PublishMsg(t.Context(), &nats.Msg{Subject: subject, Header: header, Data: []byte(body)})
	require.NoError(t, err)
}

func (w *world) put(t testing.TB, bucket, key, value string) {
	t.Helper()
	kv, err := w.js.KeyValue(t.Context(), bucket)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		kv, err = w.js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket})
	}
	require.NoError(t, err)
	_, err = kv.PutString(t.Context(), key, value)
	require.NoError(t, err)
}

func (w *world) setAside(t testing.TB, tenant, kind string, at time.Time) {
	t.Helper()
	letter := wire.DeadLetter{Kind: kind, OriginSubject: w.names.ChunkSubject(tenant), OriginSequence: 1, FailedAt: at}
	w.publish(t, w.names.DeadSubject(tenant), "body", letter.Header(nil))
}

func TestNothingIsThereAndNothingIsCreated(t *testing.T) {
	w := newWorld(t)
	fleet, err := w.reader(t, func(c *Config) { c.Clock = func() time.Time { return time.Unix(1, 0) } }).Read(t.Context())
	require.NoError(t, err)
	got, err := json.Marshal(fleet)
	require.NoError(t, err)
	require.JSONEq(t, `{"at":"1970-01-01T00:00:01Z","workers":[],"unreadable_workers":0,"disagreements":[],"circuits":[],"tenants":[],"tenants_total":0,"truncated":false,
		"totals":{"waiting":0,"documents_waiting":0,"in_flight":0,"results":0,"dead":0},"dead":[],"pauses":[]}`, string(got))
	for name := range w.js.StreamNames(t.Context()).Name() {
		require.Fail(t, "created", name)
	}
}

// Everything that the views show is read with an operator's rights, under the names
// that others rely on.
func TestAFleetIsReadWithAnOperatorsRights(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, wire.Ensure(t.Context(), w.js, w.names))
	const hostile = "\x1b[31mred & co"
	for range 3 {
		w.publish(t, w.names.ChunkSubject("acme"), "chunk", nil)
	}
	w.publish(t, w.names.ChunkSubject(hostile), "chunk", nil)
	w.publish(t, w.names.DocumentSubject("globex"), "text", nil)
	for index := range 2 {
		w.publish(t, w.names.ResultSubject("acme", "doc", index), "result", nil)
	}
	failed := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w.setAside(t, "acme", "malformed", failed)
	w.setAside(t, "acme", "malformed", failed.Add(time.Minute))
	w.setAside(t, "initech", "refused", failed)

	lane, err := wire.EnsureLane(t.Context(), w.js, w.names, "acme", time.Minute, time.Minute)
	require.NoError(t, err)
	batch, err := lane.Fetch(2)
	require.NoError(t, err)
	for range batch.Messages() { // stay in flight
	}
	started := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	w.put(t, "team7_workers", "w1.0001", `{"worker":"w1","version":"v0.3.0","started_at":"2026-01-01T00:00:00Z","at":"2026-01-01T00:00:20Z","state":"consuming","slots":8,"in_flight":2,
		"lanes":1,"circuit":"default","results":4,"dead":1,"nak":2,"rpm":50,"window_ms":5000}`)
	w.put(t, "team7_workers", "broken", `{`)
	w.put(t, "team7_circuit", "default.state", "open")
	w.put(t, "team7_circuit", "default.opened_at", "1767225600.5")
	w.put(t, "team7_circuit", "default.reason", "model\x1b is away")
	w.put(t, "team7_circuit", "default.failures", "5")
	w.put(t, "team7_circuit", "quiet.failures", "1")
	w.put(t, w.names.LimitsBucket(), "acme", `{"rpm":2,"tpm":1000}`)
	w.put(t, w.names.LimitsBucket(), "initech", `nonsense`)
	until := time.Now().Add(time.Hour).UTC().Truncate(time.Second)
	w.put(t, w.names.PauseBucket(), "tenant.globex", fmt.Sprintf(`{"until":%q,"reason":"too dear"}`, until.Format(time.RFC3339)))

	ledger, err := natskv.Open(t.Context(), w.js, w.names.RateLimitBucket(), natskv.WithTimeout(10*time.Second))
	require.NoError(t, err)
	defer func() { require.NoError(t, ledger.Close()) }()
	take := func(key string, quota kvcache.Quota) {
		a, err := ledger.Admit(t.Context(), key, kvcache.Ask{Quota: quota, Tokens: 10})
		require.NoError(t, err)
		require.True(t, a.Admitted)
	}
	for range 2 {
		take("acme", kvcache.Quota{Window: 5 * time.Second, Requests: 2, Tokens: 1000})
	}
	take("hooli", kvcache.Quota{Window: 5 * time.Second, Requests: 50})
	require.NoError(t, ledger.Cool(t.Context(), "hooli", time.Minute))

	r := w.reader(t)
	fleet, err := r.Read(t.Context())
	require.NoError(t, err)
	require.WithinDuration(t, time.Now(), fleet.At, time.Minute)
	require.Equal(t, []Worker{{Worker: "w1", Version: "v0.3.0", StartedAt: started, At: started.Add(20 * time.Second), State: "consuming", Slots: 8, InFlight: 2,
		Lanes: 1, Circuit: "default", Results: 4, Dead: 1, Nak: 2, RPM: 50, WindowMS: 5000}}, fleet.Workers)
	require.Equal(t, 1, fleet.UnreadableWorkers)
	opened := time.UnixMilli(1767225600500).UTC()
	require.Equal(t, []Circuit{
		{Name: "default", State: "open", OpenedAt: &opened, Reason: "model is away", Failures: 5},
		{Name: "quiet", State: "closed", Failures: 1},
	}, fleet.Circuits)
	require.Equal(t, Totals{Waiting: 4, DocumentsWaiting: 1, InFlight: 2, Results: 2, Dead: 3}, fleet.Totals)
	require.Equal(t, []DeadKind{{"malformed", 2, failed.Add(time.Minute)}, {"refused", 1, failed}}, fleet.Dead)
	require.Equal(t, []Pause{{Tenant: "globex", Until: &until, Reason: "too dear"}}, fleet.Pauses)

	require.Equal(t, 5, fleet.TenantsTotal)
	require.False(t, fleet.Truncated)
	byName, order := map[string]Tenant{}, []string{}
	for _, tenant := range fleet.Tenants {
		byName[tenant.Tenant] = tenant
		order = append(order, tenant.Tenant)
	}
	require.Equal(t, []string{"acme", hostile, "globex", "hooli", "initech"}, order, "most waiting first")
	acme := byName["acme"]
	require.Equal(t, []any{uint64(3), 2, int64(2), int64(5000), int64(1000), int64(2), int64(20), uint64(2), uint64(2)},
		[]any{acme.Waiting, acme.InFlight, acme.RPM, acme.WindowMS, acme.TPM, *acme.Used, *acme.UsedTokens, *acme.Results, acme.Dead})
	require.EqualValues(t, 50, byName["initech"].RPM, "limits that mean nothing are as the workers have them")
	require.EqualValues(t, 1, *byName["hooli"].Used)
	require.Nil(t, byName["hooli"].UsedTokens)
	require.Equal(t, Paused, byName["globex"].WaitReason)
	require.Equal(t, until, *byName["globex"].WaitUntil)
	require.Equal(t, Open, acme.WaitReason, "the circuit of the only worker is open")
	require.Nil(t, acme.WaitUntil)

	one, err := w.reader(t, func(c *Config) { c.Tenant = "acme" }).Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, fleet.Tenants[:1], one.Tenants)
	require.Equal(t, fleet.Totals, one.Totals)
	unknown, err := w.reader(t, func(c *Config) { c.Tenant = "nobody" }).Read(t.Context())
	require.NoError(t, err)
	require.Len(t, unknown.Tenants, 1)
	require.Equal(t, "nobody", unknown.Tenants[0].Tenant)

	// What changes is read again, also that something is gone.
	w.put(t, "team7_circuit", "default.state", "half_open")
	w.publish(t, w.names.ResultSubject("acme", "doc", 2), "result", nil)
	require.NoError(t, ledger.Cool(t.Context(), "acme", time.Hour))
	require.NoError(t, w.js.DeleteStream(t.Context(), w.names.DeadStream()))
	fleet, err = r.Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, "half_open", fleet.Circuits[0].State)
	require.Empty(t, fleet.Dead)
	require.EqualValues(t, 3, *fleet.Tenants[0].Results)
	require.Equal(t, Cooling, fleet.Tenants[0].WaitReason)
	require.WithinDuration(t, time.Now().Add(time.Hour), *fleet.Tenants[0].WaitUntil, time.Minute)
}

func TestAFullWindowSaysUntilWhen(t *testing.T) {
	w := newWorld(t)
	ledger, err := natskv.Open(t.Context(), w.js, w.names.RateLimitBucket(), natskv.WithTimeout(10*time.Second))
	require.NoError(t, err)
	defer func() { require.NoError(t, ledger.Close()) }()
	w.put(t, w.names.LimitsBucket(), "acme", `{"rpm":1,"window_ms":3600000}`)
	w.put(t, w.names.LimitsBucket(), "free", fmt.Sprintf(`{"rpm":%d}`, int64(1<<63-1)))
	_, err = ledger.Admit(t.Context(), "acme", kvcache.Ask{Quota: kvcache.Quota{Window: time.Hour, Requests: 1}})
	require.NoError(t, err)
	fleet, err := w.reader(t).Read(t.Context())
	require.NoError(t, err)
	require.Len(t, fleet.Tenants, 2)
	acme, free := fleet.Tenants[0], fleet.Tenants[1]
	require.Equal(t, Limit, acme.WaitReason)
	require.WithinDuration(t, time.Now().Add(time.Hour), *acme.WaitUntil, 2*time.Minute)
	require.EqualValues(t, 1, *acme.Used)
	require.Zero(t, free.RPM, "no limit")
	require.Nil(t, free.Used)
	require.Equal(t, NotWaiting, free.WaitReason)
}

// More tenants than are listed cost no more, and those with most waiting are listed.
func TestManyTenantsAndManyResults(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, wire.Ensure(t.Context(), w.js, w.names))
	const tenants = 500
	for i := range tenants {
		for index := range 1 + i%3 {
			_, err := w.js.PublishAsync(w.names.ResultSubject(fmt.Sprint("tenant-", i), "doc", index), []byte("result"))
			require.NoError(t, err)
		}
		_, err := w.js.PublishAsync(w.names.ChunkSubject(fmt.Sprint("tenant-", i)), []byte("chunk"))
		require.NoError(t, err)
	}
	<-w.js.PublishAsyncComplete()
	for range 2 {
		w.publish(t, w.names.ChunkSubject("tenant-77"), "chunk", nil)
	}
	r := w.reader(t, func(c *Config) { c.MaxTenants = 50 })
	r.few = 100
	fleet, err := r.Read(t.Context())
	require.NoError(t, err)
	require.Len(t, fleet.Tenants, 50)
	require.True(t, fleet.Truncated)
	require.Equal(t, tenants, fleet.TenantsTotal)
	require.Equal(t, "tenant-77", fleet.Tenants[0].Tenant)
	require.EqualValues(t, 3, fleet.Tenants[0].Waiting)
	require.EqualValues(t, tenants+2, fleet.Totals.Waiting)
	require.Eventually(t, func() bool { // within the time for it at each look
		fleet, err = r.Read(t.Context())
		require.NoError(t, err)
		for _, tenant := range fleet.Tenants {
			if tenant.Results == nil {
				return false
			}
		}
		return true
	}, time.Minute, time.Millisecond)
	for _, tenant := range fleet.Tenants {
		var i int
		_, err := fmt.Sscanf(tenant.Tenant, "tenant-%d", &i)
		require.NoError(t, err)
		require.EqualValues(t, 1+i%3, *tenant.Results, tenant.Tenant)
	}
}

// Of many dead letters the newest are looked at.
func TestTheNewestDeadLetters(t *testing.T) {
	w := newWorld(t)
	require.NoError(t, wire.Ensure(t.Context(), w.js, w.names))
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range newestLetters + 5 {
		kind := "malformed"
		if i < 10 {
			kind = "refused"
		}
		letter := wire.DeadLetter{Kind: kind, OriginSubject: w.names.ChunkSubject("acme"), OriginSequence: 1, FailedAt: at}
		_, err := w.js.PublishMsgAsync(&nats.Msg{Subject: w.names.DeadSubject("acme"), Header: letter.Header(nil), Data: []byte("body")})
		require.NoError(t, err)
	}
	<-w.js.PublishAsyncComplete()
	w.publish(t, w.names.DeadSubject("acme"), "not ours", nil)
	fleet, err := w.reader(t).Read(t.Context())
	require.NoError(t, err)
	require.Equal(t, []DeadKind{{"malformed", newestLetters - 5, at}, {"refused", 4, at}}, fleet.Dead)
	require.EqualValues(t, newestLetters+6, fleet.Totals.Dead)
	stream, err := w.js.Stream(t.Context(), w.names.DeadStream())
	require.NoError(t, err)
	require.Zero(t, stream.CachedInfo().State.Consumers, "nothing is left behind")
}

func TestConfigIsChecked(t *testing.T) {
	w := newWorld(t)
	for field, c := range map[string]Config{
		"JetStream":  {Names: w.names},
		"Names":      {JetStream: w.js},
		"MaxTenants": {JetStream: w.js, Names: w.names, MaxTenants: -1},
	} {
		_, err := NewReader(c)
		var wrong *ConfigError
		require.ErrorAs(t, err, &wrong)
		require.Equal(t, field, wrong.Field)
	}
}

// BenchmarkReadOfManyTenants reads a fleet of 100,000 tenants, 1,000 of them listed.
func BenchmarkReadOfManyTenants(b *testing.B) {
	w := newWorld(b)
	require.NoError(b, wire.Ensure(b.Context(), w.js, w.names))
	for i := range 100_000 {
		_, err := w.js.PublishAsync(w.names.ChunkSubject(fmt.Sprint("tenant-", i)), []byte("chunk"), jetstream.WithStallWait(time.Minute))
		require.NoError(b, err)
	}
	<-w.js.PublishAsyncComplete()
	_, err := wire.EnsureLane(b.Context(), w.js, w.names, "tenant-1", time.Minute, time.Minute)
	require.NoError(b, err)
	r := w.reader(b)
	for b.Loop() {
		w.publish(b, w.names.ChunkSubject("tenant-1"), "chunk", nil) // so that it is read anew
		fleet, err := r.Read(b.Context())
		require.NoError(b, err)
		require.Len(b, fleet.Tenants, DefaultMaxTenants)
	}
}

// BenchmarkReadOfAThousandTenants reads a fleet of 1,000 tenants that all have work, a
// lane, something in flight, an allowance that is used, and results.
func BenchmarkReadOfAThousandTenants(b *testing.B) {
	w := newWorld(b)
	require.NoError(b, wire.Ensure(b.Context(), w.js, w.names))
	ledger, err := natskv.Open(b.Context(), w.js, w.names.RateLimitBucket(), natskv.WithTimeout(10*time.Second))
	require.NoError(b, err)
	defer func() { require.NoError(b, ledger.Close()) }()
	w.put(b, w.names.LimitsBucket(), "tenant-1", `{"rpm":1}`)
	for i := range 1000 {
		tenant := fmt.Sprint("tenant-", i)
		for index := range 30 {
			_, err := w.js.PublishAsync(w.names.ResultSubject(tenant, "doc", index), []byte("result"), jetstream.WithStallWait(time.Minute))
			require.NoError(b, err)
			_, err = w.js.PublishAsync(w.names.ChunkSubject(tenant), []byte("chunk"), jetstream.WithStallWait(time.Minute))
			require.NoError(b, err)
		}
		_, err := ledger.Admit(b.Context(), tenant, kvcache.Ask{Quota: kvcache.Quota{Window: time.Hour, Requests: 10}})
		require.NoError(b, err)
	}
	<-w.js.PublishAsyncComplete()
	for i := range 1000 {
		lane, err := wire.EnsureLane(b.Context(), w.js, w.names, fmt.Sprint("tenant-", i), time.Minute, time.Minute)
		require.NoError(b, err)
		batch, err := lane.Fetch(2)
		require.NoError(b, err)
		for range batch.Messages() {
		}
	}
	r := w.reader(b)
	for b.Loop() {
		w.publish(b, w.names.ChunkSubject("tenant-1"), "chunk", nil) // so that it is read anew
		w.publish(b, w.names.ResultSubject("tenant-1", "doc", 0), "result", nil)
		fleet, err := r.Read(b.Context())
		require.NoError(b, err)
		require.Len(b, fleet.Tenants, 1000)
		require.Equal(b, 2000, fleet.Totals.InFlight)
	}
}
