package work

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
)

// destinationKey is for the template of where the messages of a step go.
type destinationKey struct{}

// messaging is a step that speaks to the server about messages.
type messaging struct {
	operation string // send, ack or nak
	kind      string // send or settle
	template  string
	span      trace.SpanKind
}

func (o *Observer) messaging(ctx context.Context, s consumer.Step) (messaging, bool) {
	switch s {
	case consumer.StepSend:
		return messaging{"send", "send", o.names.chunks, trace.SpanKindProducer}, true
	case consumer.StepStore:
		return messaging{"send", "send", o.names.results, trace.SpanKindProducer}, true
	case consumer.StepSetAside:
		return messaging{"send", "send", o.names.dead, trace.SpanKindProducer}, true
	case consumer.StepAck, consumer.StepPutBack:
		m := messaging{"ack", "settle", o.names.chunks, trace.SpanKindClient}
		if s == consumer.StepPutBack {
			m.operation = "nak"
		}
		if j := o.journey(ctx); j != nil {
			m.template = o.names.of(j.message.Queue)
		}
		return m, true
	}
	return messaging{}, false
}

// Step implements [consumer.Observer].
func (o *Observer) Step(ctx context.Context, s consumer.Step) (context.Context, func(error)) {
	began := time.Now()
	m, speaks := o.messaging(ctx, s)
	if speaks && m.kind == "send" {
		ctx = context.WithValue(ctx, destinationKey{}, m.template)
	}
	var span trace.Span
	if o.traces {
		name, options := string(s), []trace.SpanStartOption{trace.WithTimestamp(began)}
		if speaks {
			name = m.operation + " " + m.template
			options = append(options, trace.WithSpanKind(m.span), trace.WithAttributes(
				attribute.String(systemKey, system), attribute.String(operationNameKey, m.operation),
				attribute.String(operationTypeKey, m.kind), attribute.String(templateKey, m.template)))
		}
		ctx, span = o.tracer.Start(ctx, name, append(options, trace.WithAttributes(attribute.String(stageAttribute, string(s))))...)
	}
	inner := ctx
	return inner, func(err error) {
		took := time.Since(began)
		o.stage.took(inner, took, string(s), failure(err))
		if speaks {
			o.operation.took(inner, took, system, m.operation, m.kind, m.template, failure(err))
		}
		end(span, err)
	}
}

// stageAttribute says in spans what the label stage says in metrics.
const stageAttribute = "weirkeeper.stage"

// Stage fits [extraction.WithStages].
func (o *Observer) Stage(ctx context.Context, s extraction.Stage) (context.Context, func(error)) {
	return o.within(ctx, string(s))
}

// within is a stage inside this process.
func (o *Observer) within(ctx context.Context, stage string) (context.Context, func(error)) {
	began := time.Now()
	var span trace.Span
	if o.traces {
		ctx, span = o.tracer.Start(ctx, stage, trace.WithTimestamp(began), trace.WithAttributes(attribute.String(stageAttribute, stage)))
	}
	inner := ctx
	return inner, func(err error) {
		o.stage.took(inner, time.Since(began), stage, failure(err))
		end(span, err)
	}
}

func end(span trace.Span, err error) {
	if span != nil {
		fail(span, err)
		span.End()
	}
}

func markFailed(span trace.Span, kind string) {
	span.SetAttributes(attribute.String(errorKey, kind))
	span.SetStatus(codes.Error, kind)
}
