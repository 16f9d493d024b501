package work_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// BenchmarkChunk is everything that is told of one chunk that is extracted. Beside it,
// such a chunk costs some 200 µs of processor time without its model.
func BenchmarkChunk(b *testing.B) {
	for _, mode := range []struct{ name, sampler, header string }{
		{name: "metrics"},
		{name: "traces, not sampled", sampler: "parentbased_always_on", header: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00"},
		{name: "traces", sampler: "parentbased_always_on", header: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"},
	} {
		b.Run(mode.name, func(b *testing.B) {
			config := telemetry.Config{Service: "bench", Metrics: true, Prometheus: true}
			if mode.sampler != "" {
				collector := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
				defer collector.Close()
				b.Setenv("OTEL_TRACES_SAMPLER", mode.sampler)
				config.Traces, config.Endpoint = true, collector.URL
				b.Setenv("OTEL_METRICS_EXPORTER", "none")
			}
			measured, err := telemetry.Start(b.Context(), config)
			require.NoError(b, err)
			defer measured.Stop()
			names, err := wire.NewNames("")
			require.NoError(b, err)
			watch, err := work.New(measured, names, "default", 0)
			require.NoError(b, err)
			asked := watch.Calls(watch.Requests(&scripted{errs: []error{nil}, usage: extraction.Usage{PromptTokens: 3, CompletionTokens: 2}}, "http://127.0.0.1:8000/v1"))
			header := map[string][]string{"traceparent": {mode.header}}
			b.ReportAllocs()
			for b.Loop() {
				in := watch.Took(b.Context(), consumer.Message{Queue: "chunks", Tenant: "acme", Subject: "weir.chunks.acme", Delivery: 1, StoredAt: time.Now(), Header: header})
				watch.Reads(in, extraction.Chunk{DocumentID: "d"})
				step := func(s consumer.Step) {
					inner, ended := watch.Step(in, s)
					if s == consumer.StepStore {
						watch.Sends(inner, map[string][]string{})
					}
					ended(nil)
				}
				step(consumer.StepFind)
				_, ended := watch.Stage(in, extraction.StageClassify)
				ended(nil)
				_, err := asked.Extract(in, extraction.Request{Tenant: "acme"})
				require.NoError(b, err)
				_, ended = watch.Stage(in, extraction.StageGround)
				ended(nil)
				step(consumer.StepStore)
				step(consumer.StepAck)
				watch.Settled(in, consumer.Settlement{Outcome: "extracted", Done: true})
			}
		})
	}
}
