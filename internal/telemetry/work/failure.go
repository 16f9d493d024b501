package work

import (
	"context"
	"errors"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// Why calls are refused.
const (
	reasonLimit   = "rate_limit"     // the tenant's allowance is used up
	reasonCircuit = "circuit_open"   // the circuit is open, or its probes are taken
	reasonWindow  = "exceeds_window" // larger than a whole token window
	reasonStore   = "store"          // the shared state does not answer
	reasonOther   = "other"          // it did not come to its turn: the time was up, or the worker stops
)

// refusal is why a call was refused that never reached the model.
func refusal(err error) string {
	var (
		limit   *resilience.RateLimitExceeded
		open    *resilience.CircuitOpen
		window  *resilience.RequestExceedsWindow
		tokens  *admission.RequestExceedsTokenWindow
		storing *resilience.StoreError
	)
	switch {
	case errors.As(err, &limit):
		return reasonLimit
	case errors.As(err, &open):
		return reasonCircuit
	case errors.As(err, &window), errors.As(err, &tokens):
		return reasonWindow
	case errors.As(err, &storing), errors.Is(err, kvcache.ErrUnavailable), errors.Is(err, kvcache.ErrClosed):
		return reasonStore
	}
	return reasonOther
}

// failure is an error as a label: of few values, and nothing of its text.
func failure(err error) string {
	if err == nil {
		return ""
	}
	var provider *extraction.ProviderError
	switch {
	case errors.As(err, &provider):
		return string(provider.Kind)
	case errors.Is(err, consumer.ErrLost):
		return "lost"
	case errors.Is(err, context.DeadlineExceeded):
		return "timeout"
	case errors.Is(err, context.Canceled):
		return "cancelled"
	}
	if reason := refusal(err); reason != reasonOther {
		return reason
	}
	return "_OTHER"
}

// fail marks a span. An error's text may quote what a server said of a text, so it
// stays out: the log and the dead letter have it.
func fail(span trace.Span, err error) {
	if err == nil {
		return
	}
	kind := failure(err)
	span.SetAttributes(attribute.String(errorKey, kind))
	told := kind
	var provider *extraction.ProviderError
	if errors.As(err, &provider) && provider.Status != 0 {
		span.SetAttributes(attribute.Int("http.response.status_code", provider.Status))
		told += " (status " + strconv.Itoa(provider.Status) + ")"
	}
	span.SetStatus(codes.Error, told)
}
