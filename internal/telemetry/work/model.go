package work

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	chat   = "chat" // the operation's name in the conventions of generative AI
	input  = "input"
	output = "output"

	stageCall  = "model_call" // with all its waits and requests
	stageAdmit = "admission"  // until the limit and the circuit let the call through, or refused it
)

// call is one logical call of the model, from the pipeline's view.
type call struct {
	mu       sync.Mutex
	attempts int
	admitted func(error) // ends the wait; nil once it has ended
}

type callKey struct{}

// Calls stands around the provider that the pipeline asks: it sees whether a call is
// let through or refused, and how long that takes.
func (o *Observer) Calls(p extraction.Provider) extraction.Provider { return calls{p, o} }

type calls struct {
	extraction.Provider
	observer *Observer
}

// Extract implements [extraction.Provider].
func (p calls) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	o := p.observer
	ctx, ended := o.within(ctx, stageCall)
	c := &call{}
	_, c.admitted = o.within(ctx, stageAdmit)
	answer, err := p.Provider.Extract(context.WithValue(ctx, callKey{}, c), req)
	if c.begin(err) == 0 && err != nil {
		reason := refusal(err)
		o.refused.add(ctx, 1, reason, o.tenants.label(req.Tenant))
		if delayed, ok := errors.AsType[resilience.Delayed](err); ok {
			if wait, known := delayed.RetryDelay(); known {
				o.wait.took(ctx, wait, reason)
			}
		}
	}
	ended(err)
	return answer, err
}

// begin ends the wait, with the error that ended it, and says how many requests
// there were.
func (c *call) begin(err error) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.admitted != nil {
		c.admitted(err)
		c.admitted = nil
	}
	return c.attempts
}

// Requests stands around the provider that asks the model's server, inside whatever
// limits and repeats: it sees each request. endpoint is the server's URL, "" if there is
// none.
func (o *Observer) Requests(p extraction.Provider, endpoint string) extraction.Provider {
	r := requests{Provider: p, observer: o}
	r.vendor, r.model, _ = strings.Cut(p.Model(), "/")
	if u, err := url.Parse(endpoint); err == nil {
		r.host, r.port = u.Hostname(), port(u)
	}
	return r
}

// port is the one that a URL means if it names none, too.
func port(u *url.URL) string {
	switch {
	case u.Port() != "" || u.Host == "":
		return u.Port()
	case u.Scheme == "http":
		return "80"
	}
	return "443"
}

type requests struct {
	extraction.Provider
	observer                  *Observer
	vendor, model, host, port string
}

// Extract implements [extraction.Provider].
func (p requests) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	o, n, tenant := p.observer, 1, p.observer.tenants.label(req.Tenant)
	if c, ok := ctx.Value(callKey{}).(*call); ok {
		c.begin(nil)
		c.mu.Lock()
		c.attempts++
		n = c.attempts
		c.mu.Unlock()
	}
	if n == 1 {
		o.admitted.add(ctx, 1, tenant)
	} else {
		o.retries.add(ctx, 1)
	}
	began := time.Now()
	var span trace.Span
	if o.traces {
		ctx, span = o.tracer.Start(ctx, chat+" "+p.model, trace.WithSpanKind(trace.SpanKindClient), trace.WithTimestamp(began), trace.WithAttributes(p.attributes(req, n)...))
	}
	answer, err := p.Provider.Extract(ctx, req)
	o.call.took(ctx, time.Since(began), chat, p.vendor, p.model, p.host, p.port, failure(err))
	p.used(ctx, input, answer.Usage.PromptTokens, tenant)
	p.used(ctx, output, answer.Usage.CompletionTokens, tenant)
	if span != nil {
		if err == nil {
			span.SetAttributes(
				attribute.StringSlice("gen_ai.response.finish_reasons", []string{finish(answer.FinishReason)}),
				attribute.Int64("gen_ai.usage.input_tokens", answer.Usage.PromptTokens),
				attribute.Int64("gen_ai.usage.output_tokens", answer.Usage.CompletionTokens),
				attribute.String("weirkeeper.output_mode", answer.OutputMode))
			if answer.Model != "" {
				span.SetAttributes(attribute.String("gen_ai.response.model", answer.Model))
			}
		}
		end(span, err)
	}
	return answer, err
}

// finish is a finish_reason that is one of those that there are: a server may write
// anything there.
func finish(reason string) string {
	switch reason {
	case "stop", "length", "content_filter", "tool_calls", "function_call":
		return reason
	}
	return "other"
}

func (p requests) attributes(req extraction.Request, n int) []attribute.KeyValue {
	all := []attribute.KeyValue{
		attribute.String(aiOperationKey, chat), attribute.String(aiProviderKey, p.vendor), attribute.String(aiModelKey, p.model),
		attribute.Int("weirkeeper.request", n), attribute.Bool("weirkeeper.optional", req.Optional),
		attribute.String(stageAttribute, "model_request"),
	}
	if p.host != "" {
		all = append(all, attribute.String(addressKey, p.host))
	}
	if p.port != "" {
		all = append(all, labelled(portKey, p.port))
	}
	return all
}

// used counts tokens, if the server has said how many they were.
func (p requests) used(ctx context.Context, direction string, n int64, tenant string) {
	if n > 0 {
		p.observer.tokens.add(ctx, n, direction, tenant)
		p.observer.callTokens.record(ctx, float64(n), chat, p.vendor, p.model, direction, p.host, p.port)
	}
}
