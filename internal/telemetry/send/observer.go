package send

import (
	"context"
	"errors"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// Observer traces one publisher. Like that, it is for one goroutine.
type Observer struct {
	tracer   trace.Tracer
	tenant   string
	subject  string
	template string
}

var _ publish.Observer = (*Observer)(nil)

// New returns the observer of a publisher that sends for a tenant.
func New(t *telemetry.Telemetry, names wire.Names, tenant string) *Observer {
	return &Observer{t.Tracer(), tenant, names.ChunkSubject(tenant), strings.TrimSuffix(names.ChunkFilter(), "*") + "{tenant}"}
}

// document is one that is being sent: its span ends when nothing of it is on its way.
type document struct {
	span   trace.Span
	flying int
	handed bool
	failed int
}

func (d *document) land() {
	if !d.handed || d.flying > 0 {
		return
	}
	if d.failed > 0 {
		d.span.SetStatus(codes.Error, "not all chunks were sent")
	}
	d.span.End()
}

type documentKey struct{}

// Document implements [publish.Observer].
func (o *Observer) Document(ctx context.Context, planned publish.PlannedDocument) (context.Context, func(error)) {
	d := &document{}
	ctx, d.span = o.tracer.Start(ctx, "publish document", trace.WithAttributes(
		attribute.String("weirkeeper.tenant", o.tenant), attribute.String("weirkeeper.document", planned.ID),
		attribute.Int("weirkeeper.chunk_total", planned.Chunks), attribute.Int("weirkeeper.document_size", planned.Bytes)))
	return context.WithValue(ctx, documentKey{}, d), func(err error) {
		d.handed = true
		if err != nil {
			d.failed++
		}
		d.land()
	}
}

// Chunk implements [publish.Observer].
func (o *Observer) Chunk(ctx context.Context, c extraction.Chunk, bytes int, header map[string][]string) func(bool, error) {
	d, _ := ctx.Value(documentKey{}).(*document)
	if d == nil {
		d = &document{span: trace.SpanFromContext(ctx)}
	}
	d.flying++
	ctx, span := o.tracer.Start(ctx, "send "+o.template, trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(
		attribute.String("messaging.system", "nats"), attribute.String("messaging.operation.name", "send"), attribute.String("messaging.operation.type", "send"),
		attribute.String("messaging.destination.name", o.subject), attribute.String("messaging.destination.template", o.template),
		attribute.String("messaging.message.id", c.ChunkID), attribute.Int("messaging.message.body.size", bytes),
		attribute.String("weirkeeper.tenant", o.tenant), attribute.String("weirkeeper.document", c.DocumentID),
		attribute.String("weirkeeper.chunk_id", c.ChunkID), attribute.Int("weirkeeper.chunk_index", c.Index)))
	telemetry.Inject(ctx, header)
	return func(duplicate bool, err error) {
		span.SetAttributes(attribute.Bool("weirkeeper.duplicate", duplicate))
		if err != nil {
			kind := "_OTHER"
			switch {
			case errors.Is(err, context.Canceled):
				kind = "cancelled"
			case errors.Is(err, context.DeadlineExceeded):
				kind = "timeout"
			}
			span.SetAttributes(attribute.String("error.type", kind))
			span.SetStatus(codes.Error, kind)
			d.failed++
		}
		span.End()
		d.flying--
		d.land()
	}
}
