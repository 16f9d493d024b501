package openai

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Defaults of [Config].
const (
	DefaultBaseURL     = "https://api.openai.com/v1"
	DefaultName        = "openai"
	DefaultMaxTokens   = 8192
	DefaultTimeout     = 600 * time.Second
	DefaultConcurrency = 8
	DefaultIdleTimeout = 60 * time.Second
)

// Config describes one model on one server.
type Config struct {
	// BaseURL is the server's address up to and without /chat/completions, such
	// as http://127.0.0.1:11434/v1. Defaults to [DefaultBaseURL].
	BaseURL string
	// APIKey is sent as a bearer token. Without one, no Authorization header is
	// sent: local servers need none.
	APIKey string `json:"-"`
	// KeySource returns the key to send, for whoever keeps it where it is replaced
	// from time to time. It is asked before every request, must be quick and safe for
	// concurrent use, and stands in for APIKey, which must be empty. What it returned
	// is hidden in errors. As long as it returns nothing of use, the last key stays.
	KeySource func() string `json:"-"`
	// Model is the model's name as the server knows it. Required.
	Model string
	// Name is the first half of what Model() reports. Defaults to [DefaultName].
	Name string
	// MaxTokens bounds the answer. Defaults to [DefaultMaxTokens].
	MaxTokens int
	// Timeout is the longest one HTTP attempt may take, from connecting to the
	// last byte. Defaults to [DefaultTimeout], which is also the most.
	Timeout time.Duration
	// Stream asks for answers as event streams. Extract returns the same, whole:
	// nothing of an answer is of use before its end. What it is good for is that a
	// server which has begun to answer and hangs is noticed after IdleTimeout, and
	// that proxies which cut silent connections let it be. A server that refuses to
	// stream is asked without from then on, and one that ignores the wish is
	// understood.
	Stream bool
	// IdleTimeout is how long a stream may be silent once it has begun. Before that
	// only Timeout counts: long queues and prompts are silent, too. Defaults to
	// [DefaultIdleTimeout].
	IdleTimeout time.Duration
	// Concurrency is how many calls are usually in flight: so many connections
	// are kept open between calls. Defaults to [DefaultConcurrency].
	Concurrency int
	// Header is sent with every request. Its values are treated as secrets.
	Header map[string]string `json:"-"`
	// Body holds fields that are added to every request's JSON, such as
	// chat_template_kwargs, or temperature (which is 0 otherwise).
	Body map[string]any
	// RootCAs are the certificate authorities to trust. Defaults to the system's.
	RootCAs *x509.CertPool
	// Transport replaces the HTTP transport, RootCAs and Concurrency included. It
	// stays the caller's: Close does not touch it. Defaults to one that takes
	// proxies from the environment and speaks HTTP/2 over TLS.
	Transport http.RoundTripper
	// Logger hears what the server turned out not to support. Defaults to none.
	Logger *slog.Logger
}

// String is the configuration without its secrets.
func (c Config) String() string { return fmt.Sprintf("openai.Config(%s at %s)", c.Model, c.BaseURL) }

// GoString keeps the secrets out of %#v.
func (c Config) GoString() string { return c.String() }

// LogValue keeps the secrets out of logs.
func (c Config) LogValue() slog.Value { return slog.StringValue(c.String()) }

// Fields of the request that are not the user's to set: the adapter depends on
// them.
func reservedFields() []string {
	return []string{"model", "messages", "stream", "stream_options", "response_format", "n", "max_tokens", "max_completion_tokens", "tools", "functions"}
}

// Headers that belong to the connection or to what is sent over it. With an
// Accept-Encoding of its own, a caller would have to decompress answers.
func reservedHeaders() []string {
	return []string{"Accept-Encoding", "Connection", "Content-Length", "Content-Type", "Host", "Trailer", "Transfer-Encoding"}
}

// withDefaults fills in what is absent and refuses what cannot work.
func (c Config) withDefaults() (Config, error) {
	wrong := func(argument, reason string) (Config, error) {
		return Config{}, &extraction.ArgumentError{Argument: argument, Reason: reason}
	}
	if c.BaseURL = strings.TrimRight(strings.TrimSpace(c.BaseURL), "/"); c.BaseURL == "" {
		c.BaseURL = DefaultBaseURL
	}
	if reason := badBaseURL(c.BaseURL); reason != "" {
		return wrong("BaseURL", reason)
	}
	if c.KeySource != nil {
		if c.APIKey != "" {
			return wrong("KeySource", "must not be given together with APIKey")
		}
		c.APIKey = c.KeySource() // the first
	}
	c.APIKey = strings.TrimSpace(c.APIKey) // a key read from a file ends in a newline
	if !headerValue(c.APIKey) {
		return wrong("APIKey", "has characters that a header cannot carry")
	}
	if c.Model = strings.TrimSpace(c.Model); c.Model == "" {
		return wrong("Model", "is required")
	}
	if c.Name == "" {
		c.Name = DefaultName
	}
	if strings.ContainsAny(c.Name, "/ \t\r\n") {
		return wrong("Name", "must not contain a slash or a space")
	}
	if c.MaxTokens == 0 {
		c.MaxTokens = DefaultMaxTokens
	}
	if c.MaxTokens < 0 {
		return wrong("MaxTokens", "must be positive")
	}
	if c.Timeout == 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Timeout < 0 || c.Timeout > DefaultTimeout {
		return wrong("Timeout", fmt.Sprintf("must be positive and at most %s", DefaultTimeout))
	}
	if c.IdleTimeout == 0 {
		c.IdleTimeout = DefaultIdleTimeout
	}
	if c.IdleTimeout < 0 {
		return wrong("IdleTimeout", "must be positive")
	}
	if c.Concurrency == 0 {
		c.Concurrency = DefaultConcurrency
	}
	if c.Concurrency < 0 {
		return wrong("Concurrency", "must be positive")
	}
	for _, name := range slices.Sorted(maps.Keys(c.Header)) {
		if !headerName(name) || !headerValue(c.Header[name]) {
			return wrong("Header", fmt.Sprintf("%q is not a valid header", name))
		}
		if slices.Contains(reservedHeaders(), http.CanonicalHeaderKey(name)) {
			return wrong("Header", fmt.Sprintf("must not set %q", name))
		}
	}
	for _, name := range reservedFields() {
		if _, ok := c.Body[name]; ok {
			return wrong("Body", fmt.Sprintf("must not set %q", name))
		}
	}
	if _, err := json.Marshal(c.Body); err != nil {
		return wrong("Body", "cannot be written as JSON")
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c, nil
}

// badBaseURL never quotes the URL: it may hold a password.
func badBaseURL(s string) string {
	u, err := url.Parse(s)
	switch {
	case err != nil || (u.Scheme != "http" && u.Scheme != "https") || u.Host == "":
		return "must be an http or https URL, such as http://127.0.0.1:11434/v1"
	case u.User != nil:
		return "must not contain a user or password; the API key is given apart from it"
	case u.RawQuery != "" || u.Fragment != "":
		return "must not have a query or fragment"
	case strings.HasSuffix(u.Path, "/chat/completions"):
		return "must end before /chat/completions"
	}
	return ""
}

func headerName(s string) bool {
	const punctuation = "!#$%&'*+-.^_`|~"
	for i := range len(s) {
		c := s[i]
		letter := c|0x20 >= 'a' && c|0x20 <= 'z'
		if !letter && (c < '0' || c > '9') && strings.IndexByte(punctuation, c) < 0 {
			return false
		}
	}
	return s != ""
}

func headerValue(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) < 0
}
