package e2e_test

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector takes OTLP over HTTP, as a collector would.
type collector struct {
	*httptest.Server
	mu      sync.Mutex
	spans   []span
	metrics map[string]bool // names
	text    string          // everything that was sent, as text
}

// span is one of a trace, with the service that it is from.
type span struct {
	*tracepb.Span
	service string
}

func (s span) trace() string    { return hex.EncodeToString(s.TraceId) }
func (s span) id() string       { return hex.EncodeToString(s.SpanId) }
func (s span) parent() string   { return hex.EncodeToString(s.ParentSpanId) }
func (s span) began() time.Time { return time.Unix(0, int64(s.StartTimeUnixNano)) }
func (s span) ended() time.Time { return time.Unix(0, int64(s.EndTimeUnixNano)) }

// attribute is the value of one, as text; "" if there is none.
func (s span) attribute(name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			if text := a.Value.GetStringValue(); text != "" {
				return text
			}
			return a.Value.String()
		}
	}
	return ""
}

// number is an attribute that is sent as a whole number, or -1.
func (s span) number(name string) int64 {
	for _, a := range s.Attributes {
		if n, ok := a.Value.GetValue().(*common.AnyValue_IntValue); ok && a.Key == name {
			return n.IntValue
		}
	}
	return -1
}

func newCollector(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(c.take))
	t.Cleanup(c.Close)
	return c
}

func (c *collector) take(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil || r.Header.Get("Content-Type") != "application/x-protobuf" {
		http.Error(w, "want protobuf", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch r.URL.Path {
	case "/v1/traces":
		var all tracepb.TracesData // on the wire the same as a request to export them
		err = proto.Unmarshal(body, &all)
		c.text += all.String()
		for _, resource := range all.ResourceSpans {
			service := ""
			for _, a := range resource.Resource.Attributes {
				if a.Key == "service.name" {
					service = a.Value.GetStringValue()
				}
			}
			for _, scope := range resource.ScopeSpans {
				for _, s := range scope.Spans {
					c.spans = append(c.spans, span{s, service})
				}
			}
		}
	case "/v1/metrics":
		var all metricspb.MetricsData
		err = proto.Unmarshal(body, &all)
		c.text += all.String()
		for _, resource := range all.ResourceMetrics {
			for _, scope := range resource.ScopeMetrics {
				for _, m := range scope.Metrics {
					c.metrics[m.Name] = true
				}
			}
		}
	default:
		http.NotFound(w, r)
		return
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
	}
}

// all returns what has come so far.
func (c *collector) all() []span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]span(nil), c.spans...)
}

// named returns the spans of a trace that have that name, in the order in which they
// began.
func named(spans []span, trace, name string) (found []span) {
	for _, s := range spans {
		if s.trace() == trace && s.Name == name {
			found = append(found, s)
		}
	}
	for i := range found {
		for j := i; j > 0 && found[j].began().Before(found[j-1].began()); j-- {
			found[j], found[j-1] = found[j-1], found[j]
		}
	}
	return found
}

// one is the only span of that name.
func one(t *testing.T, spans []span, trace, name string) span {
	t.Helper()
	found := named(spans, trace, name)
	require.Len(t, found, 1, name)
	return found[0]
}

// body is the answer to a request, "" if there is none.
func body(request *http.Request) string {
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return ""
	}
	return string(text)
}
