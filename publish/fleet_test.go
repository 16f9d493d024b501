package publish_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// fleet stands in for the workers: a real server with the real streams, whose
// chunks are settled when the test says so.
type fleet struct {
	t     *testing.T
	js    jetstream.JetStream
	names wire.Names
	queue jetstream.Consumer
}

func newFleet(t *testing.T) *fleet {
	t.Helper()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir(), InProcess: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	conn, err := server.Connect(natsconn.Options{Name: "test"})
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	js, err := jetstream.New(conn)
	require.NoError(t, err)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	f := &fleet{t: t, js: js, names: names}
	f.queue = f.consumer()
	return f
}

func (f *fleet) consumer() jetstream.Consumer {
	f.t.Helper()
	queue, err := f.js.CreateOrUpdateConsumer(f.t.Context(), f.names.ChunkStream(), jetstream.ConsumerConfig{Durable: "test", AckPolicy: jetstream.AckExplicitPolicy})
	require.NoError(f.t, err)
	return queue
}

// take pulls what waits, up to n messages.
func (f *fleet) take(n int) []jetstream.Msg {
	f.t.Helper()
	stream, err := f.js.Stream(f.t.Context(), f.names.ChunkStream())
	require.NoError(f.t, err)
	held, err := f.queue.Info(f.t.Context())
	require.NoError(f.t, err)
	// The consumer hears of stored messages a moment later than the publisher.
	n = min(n, int(stream.CachedInfo().State.Msgs)-held.NumAckPending)
	var messages []jetstream.Msg
	for len(messages) < n {
		batch, err := f.queue.Fetch(n-len(messages), jetstream.FetchMaxWait(10*time.Second))
		require.NoError(f.t, err)
		for msg := range batch.Messages() {
			messages = append(messages, msg)
		}
		require.NoError(f.t, batch.Error())
	}
	return messages
}

// finish stores a result for a chunk, as a worker does.
func (f *fleet) finish(msg jetstream.Msg, extracted extraction.Extraction) {
	f.t.Helper()
	chunk, err := wire.DecodeChunk(msg.Data())
	require.NoError(f.t, err)
	tenant, err := f.names.Tenant(msg.Subject())
	require.NoError(f.t, err)
	meta, err := msg.Metadata()
	require.NoError(f.t, err)
	if extracted.Status == "" {
		extracted.Status = extraction.StatusOK
	}
	body, err := wire.EncodeResult(wire.Result{
		TenantID: tenant, DocumentID: chunk.DocumentID, ChunkID: chunk.ChunkID, Index: chunk.Index, Total: chunk.Total, Title: chunk.Title,
		ByteStart: chunk.ByteStart, ByteEnd: chunk.ByteEnd, Metadata: chunk.Metadata,
		Extraction: extracted, Attempts: 1, StartedAt: time.Now(), FinishedAt: time.Now(), Worker: "test",
	})
	require.NoError(f.t, err)
	result := nats.NewMsg(f.names.ResultSubject(tenant, chunk.DocumentID, chunk.Index))
	result.Header.Set(wire.HeaderOriginTime, meta.Timestamp.UTC().Format(time.RFC3339Nano))
	result.Data = body
	_, err = f.js.PublishMsg(context.Background(), result)
	require.NoError(f.t, err)
	require.NoError(f.t, msg.DoubleAck(context.Background()))
}

// bury dead-letters a message, as a worker does.
func (f *fleet) bury(msg jetstream.Msg, kind string) {
	f.t.Helper()
	meta, err := msg.Metadata()
	require.NoError(f.t, err)
	letter := wire.DeadLetter{
		Kind: kind, Error: "because", Attempts: 1, Deliveries: int(meta.NumDelivered),
		OriginSubject: msg.Subject(), OriginSequence: meta.Sequence.Stream, FailedAt: time.Now(),
	}
	dead := nats.NewMsg(f.names.DeadSubjectFor(msg.Subject()))
	dead.Header, dead.Data = letter.Header(msg.Headers()), msg.Data()
	_, err = f.js.PublishMsg(context.Background(), dead)
	require.NoError(f.t, err)
	require.NoError(f.t, msg.DoubleAck(context.Background()))
}

func (f *fleet) plan(id string, sources ...publish.Source) *publish.Plan {
	f.t.Helper()
	return f.planFor("acme co.", id, sources...)
}

func (f *fleet) planFor(tenant, id string, sources ...publish.Source) *publish.Plan {
	f.t.Helper()
	splitter, err := extraction.NewSplitter(40, 5)
	require.NoError(f.t, err)
	plan, err := publish.NewPlan(publish.PlanConfig{Names: f.names, Tenant: tenant, Splitter: splitter, DocumentID: id}, sources)
	require.NoError(f.t, err)
	return plan
}

func (f *fleet) publisher(plan *publish.Plan) *publish.Publisher {
	f.t.Helper()
	publisher, err := publish.New(f.js, plan)
	require.NoError(f.t, err)
	return publisher
}

func (f *fleet) reader() *publish.Reader {
	f.t.Helper()
	reader, err := publish.NewReader(f.js, f.names, "acme co.")
	require.NoError(f.t, err)
	return reader
}

func file(t *testing.T, name, text string) publish.Source {
	t.Helper()
	source, err := openFile(t, write(t, name, text))
	require.NoError(t, err)
	return source
}

// sentences is a text of n sentences of 30 bytes and more.
func sentences(n int) string {
	text := ""
	for i := range n {
		text += "Ada Lovelace met Charles Babbage " + string(rune('A'+i%26)) + ". "
	}
	return text
}
