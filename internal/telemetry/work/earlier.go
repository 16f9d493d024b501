package work

import (
	"sync"

	"go.opentelemetry.io/otel/trace"

	"github.com/weirkeeper/weirkeeper/consumer"
)

// earlierKept is how many messages that went back to the queue are remembered, for
// the link from their next delivery.
const earlierKept = 1024

// earlier knows the spans of deliveries that were put back by this worker. Where
// another one takes them, the trace that they share is what connects them.
type earlier struct {
	mu    sync.Mutex
	spans map[consumer.MessageID]trace.SpanContext
	order []consumer.MessageID // the oldest first
}

func newEarlier() *earlier {
	return &earlier{spans: map[consumer.MessageID]trace.SpanContext{}}
}

func (e *earlier) keep(id consumer.MessageID, span trace.SpanContext) {
	if !span.IsSampled() {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, ok := e.spans[id]; !ok {
		if len(e.order) == earlierKept {
			delete(e.spans, e.order[0])
			e.order = e.order[1:]
		}
		e.order = append(e.order, id)
	}
	e.spans[id] = span
}

func (e *earlier) take(id consumer.MessageID) (trace.SpanContext, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	span, ok := e.spans[id]
	return span, ok
}
