package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Headers of W3C Trace Context, as they stand in messages.
const (
	traceparent = "traceparent"
	tracestate  = "tracestate"
)

// longestState bounds a tracestate that is passed on, in bytes: every result would
// carry it.
const longestState = 512

// Extract puts the trace that a message belongs to into the context. A header that is
// none changes nothing.
func Extract(ctx context.Context, header map[string][]string) context.Context {
	if len(header) == 0 {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, carrier(header))
}

// Inject writes the trace of the context into a message's header, if there is one.
func Inject(ctx context.Context, header map[string][]string) {
	if trace.SpanContextFromContext(ctx).IsValid() {
		delete(header, "Traceparent")
		delete(header, "Tracestate")
		delete(header, tracestate)
		propagation.TraceContext{}.Inject(ctx, carrier(header))
	}
}

// carrier is a message's header. Its names are written in lower case, as W3C and other
// clients of NATS do, and also read as clients of HTTP write them.
type carrier map[string][]string

// Get implements propagation.TextMapCarrier.
func (c carrier) Get(name string) string {
	values := c[name]
	if len(values) == 0 && name != "" {
		values = c[string(name[0]-'a'+'A')+name[1:]]
	}
	if len(values) == 0 || name == tracestate && len(values[0]) > longestState {
		return ""
	}
	return values[0]
}

// Set implements propagation.TextMapCarrier.
func (c carrier) Set(name, value string) { c[name] = []string{value} }

// Keys implements propagation.TextMapCarrier.
func (c carrier) Keys() []string { return []string{traceparent, tracestate} }
