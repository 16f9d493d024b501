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
	keys      *keyring
	learnt    memory
	meter     meter
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
	p := &Provider{config: c, keys: newKeyring(c)}
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

// Learnt is what a provider has found out about its server.
type Learnt struct {
	// MaxTokens bounds the answer: as configured, or less if the server has said that
	// this is too much.
	MaxTokens int
	// Streams says that answers are asked for as event streams: it is configured, and
	// the server has not refused.
	Streams bool
}

// Learnt is a snapshot.
func (p *Provider) Learnt() Learnt {
	d := p.learnt.dialect()
	return Learnt{MaxTokens: tighter(p.config.MaxTokens, d.budget), Streams: p.config.Stream && d.streaming != noStream}
}

// Extract asks the model. A text that is blank or not clean UTF-8 is refused
// before anything is sent. When the server refuses a feature of the request, the
// request is sent again without it, at most six times; later calls leave it out
// from the start. When it says that prompt and MaxTokens together are too much for
// the model, and that fewer would do, the request is sent again with fewer, at most
// twice; later calls leave half of the model's context to the prompt.
func (p *Provider) Extract(ctx context.Context, req extraction.Request) (extraction.Completion, error) {
	if err := check(req); err != nil {
		return extraction.Completion{}, err
	}
	own, cuts := 0, 2 // a budget for this request alone, and how often it may yet be cut
	for {
		if err := expired(ctx); err != nil {
			return extraction.Completion{}, err
		}
		spoken := p.learnt.dialect()
		asked := spoken
		asked.budget = tighter(own, spoken.budget)
		completion, failure := p.attempt(ctx, req, asked)
		if failure == nil {
			return completion, nil
		}
		if failure.other != nil {
			return extraction.Completion{}, failure.other
		}
		if all, this := failure.room.budgets(failure.budget); this > 0 && cuts > 0 {
			own, cuts = this, cuts-1
			p.learnBudget(ctx, spoken, all)
			continue
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

// learnBudget remembers a budget for all requests, if there is anything to
// remember.
func (p *Provider) learnBudget(ctx context.Context, spoken dialect, budget int) {
	if budget == 0 {
		return
	}
	next := spoken
	if next.budget = tighter(spoken.budget, budget); next == spoken {
		return
	}
	p.learnt.merge(next)
	p.config.Logger.WarnContext(ctx, "model server does not allow answers as long as asked for, going on with shorter ones",
		"model", p.Model(), "max_tokens", next.budget)
}

// failure is why an attempt brought no completion. Either the provider's error is
// set, or another, which says nothing about the server: the caller's context has
// ended, or the request cannot be built.
type failure struct {
	other     error
	provider  *extraction.ProviderError
	complaint complaint // what the server does not support
	room      room      // what it says of sizes, if they are the reason
	budget    int       // that was asked for
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
