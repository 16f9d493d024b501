package work_test

import (
	"context"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/work"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

var (
	typeLine = regexp.MustCompile(`(?m)^# TYPE (\S+) (\S+)$`)
	helpLine = regexp.MustCompile(`(?m)^# HELP (\S+) (.+)$`)
	sample   = regexp.MustCompile(`(?m)^([a-z_]+?)(?:_bucket|_sum|_count)?\{(.*)\} `)
	label    = regexp.MustCompile(`([a-z_]+)="`)
	row      = regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| (counter|gauge|histogram) \\|[^|]*\\|([^|]*)\\| .+ \\|$")
)

// The tables of docs/metrics.md are what is served: every name, its type and its labels.
func TestEverySeriesIsDocumented(t *testing.T) {
	served := scrape(t, everything(t))
	types, labels := map[string]string{}, map[string]map[string]bool{}
	for _, m := range typeLine.FindAllStringSubmatch(served, -1) {
		if !strings.HasPrefix(m[1], "go_") && !strings.HasPrefix(m[1], "process_") && !strings.HasPrefix(m[1], "promhttp_") {
			types[m[1]] = m[2]
		}
	}
	for _, m := range sample.FindAllStringSubmatch(served, -1) {
		name := m[1]
		if labels[name] == nil {
			labels[name] = map[string]bool{}
		}
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if l[1] != "le" {
				labels[name][l[1]] = true
			}
		}
	}
	for _, m := range helpLine.FindAllStringSubmatch(served, -1) {
		require.NotEmpty(t, m[2], m[1])
	}

	text, err := os.ReadFile("../../../docs/metrics.md")
	require.NoError(t, err)
	documented := map[string]bool{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		name := m[1]
		documented[name] = true
		require.Equal(t, types[name], m[2], "the type of %s", name)
		for l := range labels[name] {
			want := "`" + l + "`"
			if l == "tenant" {
				want = "tenant"
			}
			require.Contains(t, m[3], want, "a label of %s", name)
		}
		for l := range strings.SplitSeq(strings.TrimSpace(m[3]), ", ") {
			if l = strings.Trim(l, "` "); l != "" {
				require.True(t, labels[name][l], "%s is said to have the label %s", name, l)
			}
		}
	}
	for name := range types {
		require.True(t, documented[name], "%s is served and not in docs/metrics.md", name)
	}
	require.Len(t, documented, len(types))
}

// everything makes an observer and has it hear of everything that there is.
func everything(t *testing.T) *telemetry.Telemetry {
	t.Helper()
	measured, watch := observer(t, 3)
	ctx := t.Context()
	require.NoError(t, watch.Watch(measured, telemetry.Build{Version: "v1", Revision: "abc", Go: "go1"}, func(context.Context) work.Reading {
		return work.Reading{Circuit: &resilience.Snapshot{}, Streams: map[string]uint64{"chunks": 1}}
	}))
	for _, s := range []consumer.Settlement{
		{Outcome: "extracted", Done: true},
		{Outcome: "failed", PutBack: true, Attempt: true, Err: extraction.ErrUnavailable},
		{Outcome: "dead_malformed", Dead: "malformed", Done: true, Err: extraction.ErrMalformed},
	} {
		in := watch.Took(ctx, consumer.Message{Queue: "chunks", Tenant: "acme", Subject: "weir.chunks.acme", Delivery: 1})
		storing, stored := watch.Step(in, consumer.StepStore)
		watch.Sends(storing, map[string][]string{})
		stored(s.Err)
		watch.Settled(in, s)
	}
	model := &scripted{
		errs:  []error{nil, extraction.ErrUnavailable},
		usage: extraction.Usage{PromptTokens: 3, CompletionTokens: 2},
	}
	asked := watch.Calls(watch.Requests(model, "http://127.0.0.1:8000/v1"))
	for range 2 {
		_, _ = asked.Extract(ctx, extraction.Request{Tenant: "acme", Text: "Ada."})
	}
	refusing := watch.Calls(&scripted{errs: []error{&resilience.RateLimitExceeded{RetryAfter: 5}}})
	_, _ = refusing.Extract(ctx, extraction.Request{Tenant: "acme", Text: "Ada."})
	watch.Changed(resilience.Change{From: resilience.Closed, To: resilience.Open})
	cache := kvcache.NewMemory()
	timed := watch.Store("limits", cache)
	_, _, _ = timed.Get(ctx, "a")
	require.NoError(t, cache.Close())
	_, _, _ = timed.Get(ctx, "a")
	return measured
}

func observer(t *testing.T, maxTenants int) (*telemetry.Telemetry, *work.Observer) {
	t.Helper()
	measured, err := telemetry.Start(t.Context(), telemetry.Config{Service: "test", Prometheus: true, Metrics: true, Traces: true})
	require.NoError(t, err)
	t.Cleanup(measured.Stop)
	names, err := wire.NewNames("")
	require.NoError(t, err)
	watch, err := work.New(measured, names, "gpu-1", maxTenants)
	require.NoError(t, err)
	return measured, watch
}

func scrape(t *testing.T, measured *telemetry.Telemetry) string {
	t.Helper()
	answer := httptest.NewRecorder()
	measured.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	require.Equal(t, 200, answer.Code)
	return answer.Body.String()
}

// scripted answers each call with the next error, the last one again and again.
type scripted struct {
	errs  []error
	usage extraction.Usage
	calls int
}

func (s *scripted) Extract(context.Context, extraction.Request) (extraction.Completion, error) {
	err := s.errs[min(s.calls, len(s.errs)-1)]
	s.calls++
	return extraction.Completion{FinishReason: "stop", Usage: s.usage}, err
}

func (s *scripted) Model() string { return "scripted/one" }

// The tenant label is capped, and absent without the flag.
func TestTenantsAreALabelWithinACap(t *testing.T) {
	settle := func(watch *work.Observer) {
		for _, tenant := range []string{"a", "b", "c", "d", "a"} {
			in := watch.Took(t.Context(), consumer.Message{Queue: "chunks", Tenant: tenant})
			watch.Settled(in, consumer.Settlement{Outcome: "extracted", Done: true})
		}
	}
	lines := func(served string) (out []string) {
		for line := range strings.Lines(served) {
			if strings.HasPrefix(line, "weirkeeper_deliveries_total{") {
				out = append(out, strings.TrimSpace(line))
			}
		}
		slices.Sort(out)
		return out
	}
	measured, watch := observer(t, 2)
	settle(watch)
	require.Equal(t, []string{
		`weirkeeper_deliveries_total{outcome="extracted",queue="chunks",tenant="a"} 2`,
		`weirkeeper_deliveries_total{outcome="extracted",queue="chunks",tenant="b"} 1`,
		`weirkeeper_deliveries_total{outcome="extracted",queue="chunks",tenant="other"} 2`,
	}, lines(scrape(t, measured)))

	measured, watch = observer(t, 0)
	settle(watch)
	require.Equal(t, []string{`weirkeeper_deliveries_total{outcome="extracted",queue="chunks"} 5`}, lines(scrape(t, measured)))

	var wrong *telemetry.SettingError
	_, err := work.New(measured, wire.Names{}, "gpu-1", 1001)
	require.ErrorAs(t, err, &wrong)
}
