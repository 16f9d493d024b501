package telemetry

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/trace"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// setenv replaces whatever OTEL_ variables the developer has.
func setenv(t *testing.T, pairs ...string) {
	t.Helper()
	for _, pair := range os.Environ() {
		if name, _, _ := strings.Cut(pair, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
		}
	}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		t.Setenv(name, value)
	}
}

func TestWhoAsksForExport(t *testing.T) {
	for name, tc := range map[string]struct {
		endpoint        string
		env             []string
		metrics, traces target
	}{
		"nobody":         {},
		"the flag":       {endpoint: "http://a:4318", metrics: target{true, "http://a:4318/v1/metrics"}, traces: target{true, "http://a:4318/v1/traces"}},
		"with a path":    {endpoint: "https://a/otlp/", metrics: target{true, "https://a/otlp/v1/metrics"}, traces: target{true, "https://a/otlp/v1/traces"}},
		"the variable":   {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a:4318"}, metrics: target{on: true}, traces: target{on: true}},
		"for one":        {env: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://a:4318/v1/traces"}, traces: target{on: true}},
		"by name":        {env: []string{"OTEL_METRICS_EXPORTER=otlp"}, metrics: target{on: true}},
		"not that one":   {endpoint: "http://a", env: []string{"OTEL_TRACES_EXPORTER=none"}, metrics: target{true, "http://a/v1/metrics"}},
		"it is served":   {endpoint: "http://a", env: []string{"OTEL_METRICS_EXPORTER=prometheus"}, traces: target{true, "http://a/v1/traces"}},
		"switched off":   {endpoint: "http://a", env: []string{"OTEL_SDK_DISABLED=True"}},
		"the protocol":   {env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://a", "OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf"}, metrics: target{on: true}, traces: target{on: true}},
		"of one overall": {env: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://a", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/protobuf"}, traces: target{on: true}},
		"another's":      {env: []string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}}, // nothing is exported, so it does not matter
	} {
		t.Run(name, func(t *testing.T) {
			setenv(t, tc.env...)
			got, err := targetOf(metrics, tc.endpoint)
			require.NoError(t, err)
			require.Equal(t, tc.metrics, got)
			got, err = targetOf(traces, tc.endpoint)
			require.NoError(t, err)
			require.Equal(t, tc.traces, got)
		})
	}
}

func TestWhatCannotBeExportedIsSaid(t *testing.T) {
	for _, tc := range []struct {
		endpoint, setting string
		env               []string
	}{
		{endpoint: "a:4318", setting: "--otlp-endpoint"},
		{endpoint: "ftp://a", setting: "--otlp-endpoint"},
		{endpoint: "http://", setting: "--otlp-endpoint"},
		{endpoint: "http://u:hunter2@a", setting: "--otlp-endpoint"},
		{endpoint: "http://a?key=hunter2", setting: "--otlp-endpoint"},
		{endpoint: "http://a", env: []string{"OTEL_EXPORTER_OTLP_PROTOCOL=grpc"}, setting: "OTEL_EXPORTER_OTLP_PROTOCOL"},
		{endpoint: "http://a", env: []string{"OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=http/json"}, setting: "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"},
		{env: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=http://u:%zzhunter2@a"}, setting: "OTEL_EXPORTER_OTLP_ENDPOINT"},
		{env: []string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=http://u:hunter2@a"}, setting: "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"},
		{endpoint: "http://a", env: []string{"OTEL_EXPORTER_OTLP_HEADERS=x-key=a,hunter2"}, setting: "OTEL_EXPORTER_OTLP_HEADERS"},
		{endpoint: "http://a", env: []string{"OTEL_EXPORTER_OTLP_HEADERS==hunter2"}, setting: "OTEL_EXPORTER_OTLP_HEADERS"},
		{endpoint: "http://a", env: []string{"OTEL_EXPORTER_OTLP_METRICS_HEADERS=x-key=%zzhunter2"}, setting: "OTEL_EXPORTER_OTLP_METRICS_HEADERS"},
		{env: []string{"OTEL_TRACES_EXPORTER=hunter2"}, setting: "OTEL_TRACES_EXPORTER"},
		{env: []string{"OTEL_TRACES_EXPORTER=prometheus"}, setting: "OTEL_TRACES_EXPORTER"},
	} {
		setenv(t, tc.env...)
		_, err := Start(t.Context(), Config{Endpoint: tc.endpoint, Traces: true, Metrics: true})
		var wrong *SettingError
		require.ErrorAs(t, err, &wrong, tc)
		require.Equal(t, tc.setting, wrong.Setting)
		require.NotContains(t, err.Error(), "hunter2")
		for _, pair := range tc.env { // the next one has its own
			name, _, _ := strings.Cut(pair, "=")
			t.Setenv(name, "")
		}
	}
}

func TestNothingIsStartedForNobody(t *testing.T) {
	setenv(t)
	quiet, err := Start(t.Context(), Config{Service: "a", Metrics: true, Traces: true})
	require.NoError(t, err)
	defer quiet.Stop()
	require.False(t, quiet.Measures())
	require.False(t, quiet.Traces())
	require.Nil(t, quiet.Handler())
	require.Empty(t, quiet.stops)
}

// A collector that refuses is complained about once, without keys, and stops nobody.
func TestAFailingCollectorIsALineInTheLog(t *testing.T) {
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "who is "+r.Header.Get("X-Key")+" "+r.Header.Get("X-Other"), http.StatusForbidden)
	}))
	defer refusing.Close()
	setenv(t, "OTEL_EXPORTER_OTLP_HEADERS=x-key=Bearer%20hunter2bearer,x-other=hunter2plain")
	var log bytes.Buffer
	exporting, err := Start(t.Context(), Config{Service: "a", Endpoint: refusing.URL, Metrics: true, Traces: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	require.True(t, exporting.Measures())
	require.True(t, exporting.Traces())
	for range 3 {
		_, span := exporting.Tracer().Start(t.Context(), "a")
		span.End()
	}
	exporting.Stop()
	exporting.Stop()
	require.Equal(t, 1, strings.Count(log.String(), "level=WARN"), log.String())
	require.Contains(t, log.String(), "403")
	require.NotContains(t, log.String(), "hunter2")
}

// What the library itself has to say goes to our log, without what it quotes.
func TestMistakesAreToldInOurLog(t *testing.T) {
	setenv(t, "OTEL_EXPORTER_OTLP_TIMEOUT=hunter2", "OTEL_EXPORTER_OTLP_CLIENT_KEY=/nowhere/key", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE=/nowhere/cert")
	var log bytes.Buffer
	exporting, err := Start(t.Context(), Config{Service: "a", Endpoint: "http://127.0.0.1:1", Metrics: true, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	require.NoError(t, err)
	exporting.Stop()
	require.Contains(t, log.String(), `level=WARN msg="telemetry: a setting is not understood, and left out" problem="parse duration"`)
	require.Contains(t, log.String(), "file=/nowhere/cert")
	require.NotContains(t, log.String(), "hunter2")
}

func TestComplaintsAreRare(t *testing.T) {
	var log bytes.Buffer
	c := newComplaints(slog.New(slog.NewTextHandler(&log, nil)))
	for range 100 {
		c.Handle(errors.New("Post http://u:hunter2@a: refused"))
	}
	require.Equal(t, 1, strings.Count(log.String(), "\n"))
	require.NotContains(t, log.String(), "hunter2")
	newComplaints(nil).Handle(errors.New("nobody hears it"))
}

func TestLogsHaveTheTrace(t *testing.T) {
	var log bytes.Buffer
	logger := Logs(slog.New(slog.NewTextHandler(&log, nil))).With("a", 1).WithGroup("g")
	logger.InfoContext(t.Context(), "without")
	require.NotContains(t, log.String(), "trace_id")
	span := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{15: 1}, SpanID: trace.SpanID{7: 2}})
	logger.InfoContext(trace.ContextWithSpanContext(context.Background(), span), "with")
	require.Contains(t, log.String(), "trace_id=00000000000000000000000000000001")
	require.Contains(t, log.String(), "span_id=0000000000000002")
}
