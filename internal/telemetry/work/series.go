package work

import (
	"context"
	"strconv"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
)

// Labels of series.
const (
	outcomeKey   = "outcome"
	queueKey     = "queue"
	circuitKey   = "circuit"
	kindKey      = "kind"
	reasonKey    = "reason"
	stageKey     = "stage"
	storeKey     = "store"
	streamKey    = "stream"
	stateKey     = "state"
	directionKey = "direction"
	tenantKey    = "tenant"
	operationKey = "operation"
	errorKey     = "error.type"

	systemKey        = "messaging.system"
	operationNameKey = "messaging.operation.name"
	operationTypeKey = "messaging.operation.type"
	templateKey      = "messaging.destination.template"

	aiOperationKey = "gen_ai.operation.name"
	aiProviderKey  = "gen_ai.provider.name"
	aiModelKey     = "gen_ai.request.model"
	aiTokenTypeKey = "gen_ai.token.type"
	addressKey     = "server.address"
	portKey        = "server.port"
)

// maxLabels is how many labels a series has at most.
const maxLabels = 6

// labels are the label values of one instrument that have been seen, each as what the
// library wants to have: to make that anew for every number would cost more than the
// number.
type labels struct {
	names []string
	mu    sync.RWMutex
	known map[[maxLabels]string]options
}

type options struct {
	add    []metric.AddOption
	record []metric.RecordOption
}

func newLabels(names ...string) *labels {
	return &labels{names: names, known: map[[maxLabels]string]options{}}
}

// of returns the options for values, in the order of the names. An empty value leaves
// its label out.
func (l *labels) of(values [maxLabels]string) options {
	l.mu.RLock()
	o, ok := l.known[values]
	l.mu.RUnlock()
	if ok {
		return o
	}
	var attributes []attribute.KeyValue
	for i, name := range l.names {
		if values[i] != "" {
			attributes = append(attributes, labelled(name, values[i]))
		}
	}
	set := metric.WithAttributeSet(attribute.NewSet(attributes...))
	o = options{add: []metric.AddOption{set}, record: []metric.RecordOption{set}}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[values] = o
	return o
}

// labelled is a label as the conventions have it: a port is a number there.
func labelled(name, value string) attribute.KeyValue {
	if n, err := strconv.Atoi(value); err == nil && name == portKey {
		return attribute.Int(name, n)
	}
	return attribute.String(name, value)
}

// counter counts.
type counter struct {
	metric.Int64Counter
	*labels
}

func (c counter) add(ctx context.Context, n int64, values ...string) {
	c.Int64Counter.Add(ctx, n, c.of(padded(values)).add...)
}

// begin makes the series exist before anything is counted, so that its first increase
// is seen as one.
func (c counter) begin(values ...string) { c.add(context.Background(), 0, values...) }

// distribution is a histogram.
type distribution struct {
	metric.Float64Histogram
	*labels
}

func (d distribution) record(ctx context.Context, x float64, values ...string) {
	d.Float64Histogram.Record(ctx, x, d.of(padded(values)).record...)
}

func (d distribution) took(ctx context.Context, t time.Duration, values ...string) {
	d.record(ctx, t.Seconds(), values...)
}

func padded(values []string) (all [maxLabels]string) {
	copy(all[:], values)
	return all
}
