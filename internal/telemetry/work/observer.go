package work

import (
	"context"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// MaxTenants bounds the cap of the tenant label.
const MaxTenants = 1000

// Observer measures and traces one worker. Its methods are safe for concurrent use.
type Observer struct {
	*instruments
	tracer  trace.Tracer
	traces  bool
	tenants *tenants
	circuit string
	names   templates
	earlier *earlier
}

var _ consumer.Observer = (*Observer)(nil)

// New returns the observer of a worker in the namespace of names that shares the circuit
// of this name. Metrics tell the first maxTenants tenants apart, or none if that is 0. The
// error is a [*telemetry.SettingError].
func New(t *telemetry.Telemetry, names wire.Names, circuit string, maxTenants int) (*Observer, error) {
	if maxTenants < 0 || maxTenants > MaxTenants {
		return nil, &telemetry.SettingError{Setting: "--metrics-tenants", Problem: "must be 0 to 1000"}
	}
	o := &Observer{tracer: t.Tracer(), traces: t.Traces(), tenants: newTenants(maxTenants), circuit: circuit, names: newTemplates(names), earlier: newEarlier()}
	var err error
	o.instruments, err = newInstruments(t.Meter(), circuit, o.tenants.name())
	return o, err
}

// templates name destinations without whose they are.
type templates struct{ chunks, documents, results, dead string }

func newTemplates(names wire.Names) templates {
	chunks := strings.TrimSuffix(names.ChunkFilter(), "*")
	root := strings.TrimSuffix(chunks, "chunks.")
	return templates{
		chunks: chunks + "{tenant}", documents: root + "documents.{tenant}",
		results: root + "results.{tenant}.{document}.{index}", dead: root + "dead.{tenant}",
	}
}

func (t templates) of(queue string) string {
	if queue == "documents" {
		return t.documents
	}
	return t.chunks
}

const (
	system  = "nats"
	process = "process"
)

// journey is one message on its way through the worker, in the context of the work.
type journey struct {
	message consumer.Message
	tenant  string // its label
	began   time.Time
	span    trace.Span // nil without traces
}

type journeyKey struct{}

func (o *Observer) journey(ctx context.Context) *journey {
	j, _ := ctx.Value(journeyKey{}).(*journey)
	return j
}

// Took implements [consumer.Observer].
func (o *Observer) Took(ctx context.Context, m consumer.Message) context.Context {
	j := &journey{message: m, tenant: o.tenants.label(m.Tenant), began: time.Now()}
	ctx = telemetry.Extract(ctx, m.Header) // also without traces: what comes of it belongs to the same
	template := o.names.of(m.Queue)
	waited := max(0, j.began.Sub(m.StoredAt))
	if o.traces {
		options := []trace.SpanStartOption{
			trace.WithSpanKind(trace.SpanKindConsumer), trace.WithTimestamp(j.began),
			trace.WithAttributes(
				attribute.String(systemKey, system), attribute.String(operationNameKey, process), attribute.String(operationTypeKey, process),
				attribute.String("messaging.destination.name", m.Subject), attribute.String(templateKey, template),
				attribute.Int("messaging.message.body.size", m.Bytes),
				attribute.String("weirkeeper.tenant", m.Tenant), attribute.Int("weirkeeper.delivery", m.Delivery),
				attribute.Int64("weirkeeper.sequence", int64(m.Sequence)), attribute.Float64("weirkeeper.queue_duration", waited.Seconds()),
			)}
		if before, ok := o.earlier.take(m.ID()); ok {
			options = append(options, trace.WithLinks(trace.Link{
				SpanContext: before, Attributes: []attribute.KeyValue{attribute.String("weirkeeper.link", "earlier_delivery")},
			}))
		}
		ctx, j.span = o.tracer.Start(ctx, process+" "+template, options...)
	}
	o.consumed.add(ctx, 1, system, process, template)
	if m.Delivery > 1 {
		o.redeliveries.add(ctx, 1, m.Queue)
	} else {
		o.queued.took(ctx, waited, m.Queue)
	}
	return context.WithValue(ctx, journeyKey{}, j)
}

// Reads implements [consumer.Observer].
func (o *Observer) Reads(ctx context.Context, c extraction.Chunk) {
	if j := o.journey(ctx); j != nil && j.span != nil {
		j.span.SetAttributes(
			attribute.String("weirkeeper.document", c.DocumentID), attribute.String("weirkeeper.chunk_id", c.ChunkID),
			attribute.Int("weirkeeper.chunk_index", c.Index), attribute.Int("weirkeeper.chunk_total", c.Total),
		)
	}
}

// Sends implements [consumer.Observer].
func (o *Observer) Sends(ctx context.Context, header map[string][]string) {
	telemetry.Inject(ctx, header)
	if template, ok := ctx.Value(destinationKey{}).(string); ok {
		o.sent.add(ctx, 1, system, "send", template)
	}
}

// Settled implements [consumer.Observer].
func (o *Observer) Settled(ctx context.Context, s consumer.Settlement) {
	j := o.journey(ctx)
	if j == nil {
		return
	}
	failed := failure(s.Err)
	switch {
	case s.Dead != "":
		failed = s.Dead
		o.deadLetters.add(ctx, 1, s.Dead, j.tenant)
	case s.PutBack:
		failed = s.Outcome
		o.naks.add(ctx, 1, s.Outcome, j.tenant)
	}
	if s.Attempt {
		o.failedAttempts.add(ctx, 1, s.Outcome, j.tenant)
	}
	o.deliveries.add(ctx, 1, s.Outcome, j.message.Queue, j.tenant)
	o.process.took(ctx, time.Since(j.began), system, process, o.names.of(j.message.Queue), failed)
	if j.span == nil {
		return
	}
	j.span.SetAttributes(attribute.String("weirkeeper.outcome", s.Outcome), attribute.Int("weirkeeper.failed_attempts", s.Attempts))
	if s.PutBack {
		j.span.SetAttributes(attribute.Float64("weirkeeper.delay", s.Delay.Seconds()))
		o.earlier.keep(j.message.ID(), j.span.SpanContext())
	}
	if s.Dead != "" || s.Attempt { // to be refused, or to stop, is no failure
		markFailed(j.span, failed)
	}
	j.span.End()
}
