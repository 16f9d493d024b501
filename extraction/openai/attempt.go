package openai

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"time"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/retryafter"
)

// attempt sends the request once.
func (p *Provider) attempt(ctx context.Context, req extraction.Request, d dialect) (extraction.Completion, *failure) {
	head, err := p.head(req, d)
	if err != nil {
		return extraction.Completion{}, &failure{other: err}
	}
	body, err := head.body(req.Text)
	if err != nil {
		return extraction.Completion{}, &failure{other: err}
	}
	attemptCtx, cancel := context.WithTimeout(ctx, p.config.Timeout)
	defer cancel()
	x := &exchange{transport: p.transport, header: p.config.Header, body: body}
	if head.streamed {
		watched, end := context.WithCancelCause(attemptCtx)
		defer end(nil)
		attemptCtx, x.watch = watched, &watch{idle: p.config.IdleTimeout, end: end}
	}
	err = p.send(attemptCtx, x)

	switch {
	case x.succeeded() && x.err == nil:
		completion, failed := p.judge(&x.reply, req, head)
		if failed != nil {
			failed.Status = x.status
			return extraction.Completion{}, &failure{provider: failed}
		}
		completion.OutputMode = head.mode.String()
		return completion, nil
	case x.status != 0 && !x.succeeded():
		// The status says enough, even if the body was cut.
		failed := p.refused(x, req, head)
		return extraction.Completion{}, failed
	}

	// Nothing came, or not all of it. The caller's own context comes first: its
	// end says nothing about the server.
	if ended := expired(ctx); ended != nil {
		return extraction.Completion{}, &failure{other: ended}
	}
	return extraction.Completion{}, &failure{provider: p.unreachable(x, err, attemptCtx.Err())}
}

// send lets the library send the request. It is not asked to read the
// response: on a decode error its answer may be half filled, an error body with
// status 200 looks like an answer without choices, a stream that was cut like one
// that has ended, and the reasons of failures are lost. Everything needed is in the
// exchange.
func (p *Provider) send(ctx context.Context, x *exchange) error {
	config := sdk.DefaultConfig(p.keys.current())
	config.BaseURL = p.config.BaseURL
	config.HTTPClient = x
	client := sdk.NewClientWithConfig(config)
	if x.watch == nil {
		_, err := client.CreateChatCompletion(ctx, request())
		return err
	}
	stream, err := client.CreateChatCompletionStream(ctx, request())
	if stream != nil {
		_ = stream.Close() // it has been read
	}
	return err
}

// unreachable describes a failure of the connection.
func (p *Provider) unreachable(x *exchange, err, timeout error) *extraction.ProviderError {
	failed := &extraction.ProviderError{Kind: extraction.KindUnavailable, Status: x.status, Err: err}
	switch {
	case errors.Is(x.err, errSilent):
		failed.Detail = fmt.Sprintf("%s, for %s", errSilent, p.config.IdleTimeout)
	case timeout != nil:
		failed.Detail = fmt.Sprintf("no complete answer within %s", p.config.Timeout)
	case x.status != 0:
		failed.Detail = p.keys.redactor().detail("the answer broke off: "+err.Error(), "")
	default:
		failed.Detail = p.keys.redactor().detail(err.Error(), "")
	}
	return failed
}

// refused translates an error response.
func (p *Provider) refused(x *exchange, req extraction.Request, asked *head) *failure {
	e := parseErrorBody(x.refusal)
	shown := e.describe(len(x.refusal))
	e.Message = hideText(e.Message, req.Text) // the document may speak of response_format or content filters, too
	kind := kindOf(x.status, e)
	failed := &extraction.ProviderError{
		Kind:   kind,
		Status: x.status,
		Detail: p.keys.redactor().detail(shown, req.Text),
	}
	if wait, ok := retryafter.Parse(x.response, time.Now()); ok {
		failed.RetryAfter = wait
	}
	out := &failure{provider: failed, budget: asked.budget}
	switch {
	case x.status >= 300 && x.status < 400:
		failed.Detail = p.keys.redactor().detail("redirected"+elsewhere(x.response.Get("Location"))+
			"; redirects are not followed, set the base URL to the server's real address", req.Text)
	case kind == extraction.KindInvalidRequest || kind == extraction.KindContextTooLong:
		if sizes, stated := roomOf(x.status, e, asked.budget); stated {
			out.room = sizes
		}
		if kind == extraction.KindInvalidRequest {
			out.complaint = complaintOf(x.status, e)
		}
		if out.complaint == aboutFormat && asked.mode == modeText {
			out.complaint = noComplaint // nothing was asked for
		}
		if (out.complaint == aboutStream || out.complaint == aboutStreamOptions) && x.watch == nil {
			out.complaint = noComplaint
		}
	}
	return out
}

// elsewhere names the host and path of a redirect, without a query that may hold
// a token.
func elsewhere(location string) string {
	u, err := url.Parse(location)
	if err != nil || location == "" {
		return ""
	}
	return " to " + (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
