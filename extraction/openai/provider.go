package openai

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Provider asks one model on one server. It is safe for concurrent use.
type Provider struct {
	config Config
	// transport is used without an http.Client around it: a client would follow
	// redirects, which turn the POST into a GET or carry the key to another host.
	transport http.RoundTripper
	own       *http.Transport // transport, unless the caller brought its own
	redactor  redactor
	learnt    memory
	counts    atomic.Bool // the server has been seen to count prompt tokens honestly
	lastHead  atomic.Pointer[head]
}

var _ extraction.Provider = (*Provider)(nil)

// New checks the configuration; it does not speak to the server. What is wrong
// is an [*extraction.ArgumentError].
func New(c Config) (*Provider, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	p := &Provider{config: c, redactor: newRedactor(c)}
	if p.transport = c.Transport; p.transport == nil {
		p.own = newTransport(c)
		p.transport = p.own
	}
	return p, nil
}

func newTransport(c Config) *http.Transport {
	dialer := net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}
	return &http.Transport{
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: c.RootCAs, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: 10 * time.Second,
		ForceAttemptHTTP2:   true,
		MaxIdleConnsPerHost: c.Concurrency,
		IdleConnTimeout:     90 * time.Second,
	}
}

// Model is "name/model", such as openai/gpt-4.1-mini.
func (p *Provider) Model() string { return p.config.Name + "/" + p.config.Model }

// String is Model: nothing that prints a provider prints its key.
func (p *Provider) String() string { return p.Model() }

// GoString keeps the key out of %#v.
func (p *Provider) GoString() string { return p.Model() }

// Close gives up the connections that are kept for reuse, unless the transport
// is the caller's. The provider stays usable.
func (p *Provider) Close() error {
	if p.own != nil {
		p.own.CloseIdleConnections()
	}
	return nil
}

// Extract asks the model. A text that is blank or not clean UTF-8 is refused
// before anything is sent. When the server refuses a feature of the request, the
// request is sent again without it, at most four times; later calls leave it out
// from the start.
func (p *Provider) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	if err := check(req); err != nil {
		return extraction.Completion{}, err
	}
	for {
		if err := expired(ctx); err != nil {
			return extraction.Completion{}, err
		}
		spoken := p.learnt.dialect()
		completion, failure := p.attempt(ctx, req, spoken)
		if failure == nil {
			return completion, nil
		}
		if failure.other != nil {
			return extraction.Completion{}, failure.other
		}
		next, understood := spoken.without(failure.complaint)
		if !understood {
			return extraction.Completion{}, failure.provider
		}
		p.learnt.merge(next)
		p.config.Logger.InfoContext(ctx, "model server does not support a request feature, going on without it",
			"model", p.Model(), "feature", spoken.difference(next))
	}
}

// failure is why an attempt brought no completion. Either the provider's error is
// set, or another, which says nothing about the server: the caller's context has
// ended, or the request cannot be built.
type failure struct {
	other     error
	provider  *extraction.ProviderError
	complaint complaint // what the server does not support
}

func check(req extraction.Request) error {
	if err := extraction.CheckText(req.Text); err != nil {
		return err
	}
	// encoding/json would quietly replace what it cannot encode.
	if !utf8.ValidString(req.SystemPrompt) {
		return &extraction.ArgumentError{Argument: "SystemPrompt", Reason: "is not UTF-8"}
	}
	return nil
}

// expired is the context's error. A connection can notice the deadline before
// the context does, so the deadline itself counts too.
func expired(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return nil
}
