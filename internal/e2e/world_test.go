package e2e_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
)

// natsServer starts a server with JetStream on a free port.
func natsServer(t *testing.T) string {
	t.Helper()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	return server.URL()
}

func modelServer(t *testing.T) *modelserver.Server {
	t.Helper()
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

// client speaks to the fleet as any NATS client would: by the names of the
// contract and nothing else.
type client struct {
	t  *testing.T
	nc *nats.Conn
	js jetstream.JetStream
}

func connect(t *testing.T, url string) client {
	t.Helper()
	nc, err := nats.Connect(url)
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	require.NoError(t, err)
	return client{t, nc, js}
}

// messages is how many a stream holds; 0 if there is none yet.
func (c client) messages(stream string) int {
	c.t.Helper()
	s, err := c.js.Stream(c.t.Context(), stream)
	if err != nil {
		return 0
	}
	return int(s.CachedInfo().State.Msgs)
}

func (c client) exists(stream string) bool {
	_, err := c.js.Stream(c.t.Context(), stream)
	return err == nil
}

// value reads a key of a KeyValue bucket.
func (c client) value(bucket, key string) string {
	c.t.Helper()
	kv, err := c.js.KeyValue(c.t.Context(), bucket)
	require.NoError(c.t, err)
	entry, err := kv.Get(c.t.Context(), key)
	require.NoError(c.t, err)
	return string(entry.Value())
}

// result is what the contract promises of a result.
type result struct {
	SchemaVersion int    `json:"schema_version"`
	TenantID      string `json:"tenant_id"`
	DocumentID    string `json:"document_id"`
	ChunkID       string `json:"chunk_id"`
	Index         int    `json:"index"`
	Total         int    `json:"total"`
	Status        string `json:"status"`
	Model         string `json:"model"`
	Worker        string `json:"worker"`
	Attempts      int    `json:"attempts"`
	Entities      []struct {
		ID, Name, Type string
	} `json:"entities"`
}

// all reads a whole stream.
func (c client) all(stream string) []*jetstream.RawStreamMsg {
	c.t.Helper()
	s, err := c.js.Stream(c.t.Context(), stream)
	require.NoError(c.t, err)
	state := s.CachedInfo().State
	var messages []*jetstream.RawStreamMsg
	for sequence := state.FirstSeq; sequence <= state.LastSeq && state.Msgs > 0; sequence++ {
		msg, err := s.GetMsg(c.t.Context(), sequence)
		if err == nil {
			messages = append(messages, msg)
		}
	}
	return messages
}

func (c client) results() []result {
	c.t.Helper()
	var results []result
	for _, msg := range c.all("WEIR_RESULTS") {
		var r result
		require.NoError(c.t, json.Unmarshal(msg.Data, &r))
		results = append(results, r)
	}
	return results
}

// worker starts `worker run` against both servers.
func worker(t *testing.T, natsURL string, model *modelserver.Server, more ...string) *process {
	t.Helper()
	return command{
		program: "worker",
		args:    append([]string{"run", "--rpm", "unlimited", "--listen", "", "--initial-delay", "10ms", "--recovery-timeout", "1s", "--ack-wait", "2s"}, more...),
		env:     []string{"NATS_URL=" + natsURL, "OPENAI_BASE_URL=" + model.BaseURL(), "WEIR_MODEL=test-model"},
	}.start(t)
}

// publisher runs a command of publisher to its end.
func publisher(t *testing.T, natsURL string, args ...string) done {
	t.Helper()
	return command{program: "publisher", args: args, env: []string{"NATS_URL=" + natsURL}}.run(t)
}

const soon = 5 * time.Second
