package openai_test

import (
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

const oneAnswer = `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`

func TestSpeaksHTTP2WithAPrivateAuthority(t *testing.T) {
	var proto, key, extra string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto, key, extra = r.Proto, r.Header.Get("Authorization"), r.Header.Get("X-Gateway")
		_, _ = io.WriteString(w, oneAnswer)
	}))
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake
	server.StartTLS()
	defer server.Close()

	stranger := connect(t, server.URL)
	_, err := stranger.Extract(t.Context(), ask(sentence))
	require.ErrorIs(t, err, extraction.ErrUnavailable)
	require.ErrorContains(t, err, "certificate")

	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	friend := connect(t, server.URL, func(c *openai.Config) {
		c.RootCAs = pool
		c.Header = map[string]string{"X-Gateway": "tenant-a"}
	})
	completion, err := friend.Extract(t.Context(), ask(sentence))
	require.NoError(t, err)
	require.Equal(t, "x", completion.Content)
	require.Equal(t, "HTTP/2.0", proto)
	require.Equal(t, "Bearer "+apiKey, key)
	require.Equal(t, "tenant-a", extra)
}

// The proxy is read from the environment once per process, so it takes another
// process: this test binary again, with the proxy in its environment.
func TestTakesTheProxyFromTheEnvironment(t *testing.T) {
	const inside = "WEIR_TEST_INSIDE_PROXY"
	if os.Getenv(inside) != "" {
		provider := connect(t, "http://model.example/v1")
		completion, err := provider.Extract(t.Context(), ask(sentence))
		require.NoError(t, err)
		require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
		return
	}
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	defer server.Close()
	child := exec.Command(os.Args[0], "-test.run=^TestTakesTheProxyFromTheEnvironment$")
	child.Env = append(os.Environ(), inside+"=1", "HTTP_PROXY="+server.URL(), "NO_PROXY=")
	output, err := child.CombinedOutput()
	require.NoError(t, err, string(output))
	require.Equal(t, 1, server.Stats().Requests)
}

func TestTheCallersTransportIsUsedAndKept(t *testing.T) {
	calls := 0
	transport := roundTrip(func(r *http.Request) (*http.Response, error) {
		calls++
		return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(oneAnswer)), Request: r}, nil
	})
	provider := connect(t, "http://nowhere.example/v1", func(c *openai.Config) { c.Transport = transport })
	_, err := provider.Extract(t.Context(), ask(sentence))
	require.NoError(t, err)
	require.NoError(t, provider.Close())
	require.Equal(t, 1, calls)
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
