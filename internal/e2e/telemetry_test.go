package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

const (
	chunkSpan    = "process weir.chunks.{tenant}"
	resultSpan   = "send weir.results.{tenant}.{document}.{index}"
	hiddenKey    = "sk-hunter2hunter2hunter2"
	hiddenHeader = "hunter2collector"
)

// tracedWorker starts a worker that exports at once what it has, and logs everything.
func tracedWorker(t *testing.T, url string, model *modelserver.Server, to *collector, flags ...string) *process {
	t.Helper()
	return command{
		program: "worker",
		args: append([]string{"run", "--rpm", "unlimited", "--initial-delay", "10ms", "--max-retries", "1", "--ack-wait", "2s",
			"--log-format", "json", "--log-level", "debug"}, flags...),
		env: []string{"NATS_URL=" + url, "OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=" + hiddenKey, "WEIR_MODEL=test-model",
			"OTEL_EXPORTER_OTLP_ENDPOINT=" + to.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key=" + hiddenHeader, "OTEL_BSP_SCHEDULE_DELAY=50"},
	}.start(t)
}

// One trace leads from the publisher through every stage, also of a delivery that
// failed, to the result, and nothing in it is a text or a key (A24).
func TestATraceShowsEveryStageOfAChunk(t *testing.T) {
	fleetTest(t)
	url, model, to, address := natsServer(t), modelServer(t), newCollector(t), freeAddress(t)
	badGateway, err := modelserver.Named("bad_gateway")
	require.NoError(t, err)
	model.Then(badGateway, badGateway) // the first delivery fails after its retry
	w := tracedWorker(t, url, model, to, "--listen", address)
	done := publisher(t, url, "publish", "--tenant", "acme", "--document", "d1", "--otlp-endpoint", to.URL,
		"--wait", "--timeout", "20s", writeFile(t, "a.txt", letter))
	require.Equal(t, 0, done.code, done)

	c := connect(t, url)
	stored := c.all("WEIR_RESULTS")
	require.Len(t, stored, 1)
	parts := strings.Split(stored[0].Header["traceparent"][0], "-")
	require.Len(t, parts, 4, "of the result")
	trace := parts[1]

	openMetrics := ""
	eventually(t, "an exemplar of the trace is served", func() bool {
		request, err := http.NewRequest(http.MethodGet, "http://"+address+"/metrics", nil)
		require.NoError(t, err)
		request.Header.Set("Accept", "application/openmetrics-text; version=1.0.0")
		openMetrics = body(request)
		return strings.Contains(openMetrics, `trace_id="`+trace+`"`)
	})
	require.Equal(t, 0, w.stop(), w.output)

	spans := to.all()
	document := one(t, spans, trace, "publish document")
	require.Equal(t, "weirkeeper-publisher", document.service)
	require.Empty(t, document.parent())
	sent := one(t, spans, trace, "send weir.chunks.{tenant}")
	require.Equal(t, document.id(), sent.parent())

	deliveries := named(spans, trace, chunkSpan)
	require.Len(t, deliveries, 2)
	for _, d := range deliveries {
		require.Equal(t, sent.id(), d.parent())
		require.Equal(t, "weirkeeper-worker", d.service)
		require.Equal(t, "d1", d.attribute("weirkeeper.document"))
		require.NotEmpty(t, d.attribute("weirkeeper.chunk_id"))
	}
	first, second := deliveries[0], deliveries[1]
	require.Equal(t, "failed", first.attribute("weirkeeper.outcome"))
	require.Empty(t, first.Links)
	require.Len(t, second.Links, 1)
	require.Equal(t, first.SpanId, second.Links[0].SpanId)
	require.Equal(t, "extracted", second.attribute("weirkeeper.outcome"))

	// Every stage is a child of its delivery, within its time.
	byID := map[string]span{}
	for _, s := range spans {
		byID[s.id()] = s
	}
	stages := func(of span) map[string]int {
		n := map[string]int{}
		for _, s := range spans {
			for up := s; up.Span != nil; up = byID[up.parent()] {
				if up.id() == of.id() && s.id() != of.id() {
					n[s.Name]++
					require.False(t, s.began().Before(of.began()), s.Name)
					require.False(t, s.ended().After(of.ended()), s.Name)
					require.True(t, s.ended().After(s.began()), "%s has a duration", s.Name)
				}
			}
		}
		return n
	}
	require.Equal(t, map[string]int{
		"find_result": 1, "classify": 1, "model_call": 1, "admission": 1, "chat test-model": 2, "nak weir.chunks.{tenant}": 1,
	}, stages(first))
	require.Equal(t, map[string]int{
		"find_result": 1, "classify": 1, "model_call": 1, "admission": 1, "chat test-model": 1, "ground": 1, resultSpan: 1, "ack weir.chunks.{tenant}": 1,
	}, stages(second))
	require.Equal(t, parts[2], one(t, spans, trace, resultSpan).id(), "the result carries the span that sent it")
	failed := named(spans, trace, "chat test-model")[0]
	require.Equal(t, "unavailable", failed.attribute("error.type"))
	require.Equal(t, "unavailable (status 502)", failed.Status.Message)
	answered := named(spans, trace, "chat test-model")[2]
	require.Equal(t, "test-model", answered.attribute("gen_ai.response.model"))
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(model.URL(), "http://"))
	require.Equal(t, port, strconv.FormatInt(answered.number("server.port"), 10))

	require.Contains(t, to.metrics, "gen_ai.client.operation.duration")
	require.Contains(t, to.metrics, "weirkeeper.deliveries")
	hidden(t, to.text+openMetrics+w.output.String())

	// The log follows the same chunk by the same ids.
	line := logged(t, w, "done")
	require.Equal(t, trace, line["trace_id"])
	require.Equal(t, "acme", line["tenant"])
	require.Equal(t, "d1", line["document"])
	require.EqualValues(t, 0, line["index"])
	require.EqualValues(t, 2, line["delivery"])
	require.Equal(t, second.attribute("weirkeeper.chunk_id"), line["chunk_id"])
	require.NotEmpty(t, line["worker"])
}

// A raw document keeps the trace of whoever sent it, into the dead letter of its
// chunk, even if the server's error quotes the text and the key.
func TestATraceOfADocumentEndsInItsDeadLetter(t *testing.T) {
	fleetTest(t)
	url, model, to := natsServer(t), modelServer(t), newCollector(t)
	model.Then(modelserver.Behaviour{Status: http.StatusBadRequest, Error: &modelserver.ErrorBody{
		Style: modelserver.StyleFlat, Type: "invalid", Message: "cannot read " + letter + " with " + hiddenKey,
	}})
	w := tracedWorker(t, url, model, to, "--listen", "")
	c := connect(t, url)
	eventually(t, "the worker works", func() bool { return strings.Contains(w.output.String(), `"working"`) })
	const trace = "0af7651916cd43dd8448eb211c80319c"
	require.NoError(t, c.nc.PublishMsg(&nats.Msg{
		Subject: "weir.documents.acme", Data: []byte(letter),
		Header: nats.Header{"traceparent": {"00-" + trace + "-b7ad6b7169203331-01"}},
	}))
	eventually(t, "the chunk is set aside", func() bool { return c.messages("WEIR_DEAD") == 1 })
	require.Equal(t, 0, w.stop(), w.output)

	spans := to.all()
	split := one(t, spans, trace, "process weir.documents.{tenant}")
	require.Equal(t, "b7ad6b7169203331", split.parent())
	require.Equal(t, split.id(), one(t, spans, trace, "split").parent())
	sent := one(t, spans, trace, "send weir.chunks.{tenant}")
	require.Equal(t, split.id(), sent.parent())
	chunk := one(t, spans, trace, chunkSpan)
	require.Equal(t, sent.id(), chunk.parent())
	require.Equal(t, "dead_invalid_request", chunk.attribute("weirkeeper.outcome"))
	dead := one(t, spans, trace, "send weir.dead.{tenant}")
	require.Contains(t, c.all("WEIR_DEAD")[0].Header["traceparent"][0], trace+"-"+dead.id())
	hidden(t, to.text+w.output.String())
}

// A worker that exports nothing passes the trace on.
func TestATraceGoesThroughAWorkerWithoutTraces(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	worker(t, url, model, "--listen", freeAddress(t))
	c := connect(t, url)
	eventually(t, "the stream is there", func() bool { return c.exists("WEIR_CHUNKS") })
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"
	require.NoError(t, c.nc.PublishMsg(&nats.Msg{
		Subject: "weir.chunks.acme", Data: []byte(`{"text":"Ada met Charles."}`), Header: nats.Header{"traceparent": {parent}},
	}))
	eventually(t, "the result is stored", func() bool { return c.messages("WEIR_RESULTS") == 1 })
	require.Equal(t, []string{parent}, []string(c.all("WEIR_RESULTS")[0].Header["traceparent"]))
}

// What is wrong with the settings is said at once, without what may be a secret.
func TestTelemetrySettingsAreChecked(t *testing.T) {
	skipShort(t)
	for _, tc := range []struct {
		args, env []string
		named     string
	}{
		{args: []string{"--otlp-endpoint", "http://user:hunter2@127.0.0.1:4318"}, named: "--otlp-endpoint"},
		{args: []string{"--otlp-endpoint", "127.0.0.1:4317"}, named: "--otlp-endpoint"},
		{args: []string{"--otlp-endpoint", "http://127.0.0.1:4318"}, env: []string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, named: "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{env: []string{"OTEL_TRACES_EXPORTER=hunter2"}, named: "OTEL_TRACES_EXPORTER"},
		{env: []string{"OTEL_RESOURCE_ATTRIBUTES=hunter2"}, named: "OTEL_RESOURCE_ATTRIBUTES"},
		{args: []string{"--metrics-tenants", "1001"}, named: "--metrics-tenants"},
		{args: []string{"--pprof", "--listen", ""}, named: "--pprof"},
	} {
		done := command{program: "worker", args: append([]string{"run", "--provider", "offline"}, tc.args...), env: append(tc.env, "NATS_URL=nats://127.0.0.1:1")}.run(t)
		require.Equal(t, 2, done.code, done)
		require.Contains(t, done.errOut, tc.named)
		require.NotContains(t, done.errOut, "hunter2")
	}
}

// hidden fails if a text holds what must not be seen.
func hidden(t *testing.T, text string) {
	t.Helper()
	for _, secret := range []string{"hunter2", "Lovelace", "Babbage", "You extract", "met_with"} {
		require.NotContains(t, text, secret)
	}
}

// logged is the first line of a worker's log with that message.
func logged(t *testing.T, w *process, message string) map[string]any {
	t.Helper()
	for line := range strings.Lines(w.output.String()) {
		var fields map[string]any
		if json.Unmarshal([]byte(line), &fields) == nil && fields["msg"] == message {
			return fields
		}
	}
	require.Fail(t, fmt.Sprintf("nobody logged %q", message), w.output)
	return nil
}
