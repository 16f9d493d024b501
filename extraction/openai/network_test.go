package openai_test

import (
	"crypto/x509"
	"encoding/base64"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

const oneAnswer = `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`

// overTLS is a provider for a server with a certificate of its own that has one
// answer, and the protocols of the requests so far.
func overTLS(t *testing.T, answer string, change ...func(*openai.Config)) (provider *openai.Provider, protocols func() []string) {
	t.Helper()
	var mu sync.Mutex
	var seen []string
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		seen = append(seen, r.Proto)
		_, _ = io.WriteString(w, answer)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	trust := func(c *openai.Config) { c.RootCAs = pool }
	return connect(t, server.URL, append(change, trust)...), func() []string {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(seen)
	}
}

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
func inAnotherProcess(t *testing.T, env ...string) {
	t.Helper()
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
	child.Env = append(os.Environ(), "WEIR_TEST_INSIDE=1", "HTTP_PROXY=", "HTTPS_PROXY=", "NO_PROXY=")
	child.Env = append(child.Env, env...)
	output, err := child.CombinedOutput()
	require.NoError(t, err, string(output))
}

func isInside() bool { return os.Getenv("WEIR_TEST_INSIDE") != "" }

func TestTakesTheProxyFromTheEnvironment(t *testing.T) {
	if isInside() {
		for _, stream := range []bool{false, true} {
			provider := connect(t, "http://model.example/v1", func(c *openai.Config) { c.Stream = stream })
			completion, err := provider.Extract(t.Context(), ask(sentence))
			require.NoError(t, err)
			require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
		}
		return
	}
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	defer server.Close()
	inAnotherProcess(t, "HTTP_PROXY="+server.URL())
	require.Equal(t, 2, server.Stats().Requests)
	inAnotherProcess(t, "HTTP_PROXY="+strings.Replace(server.URL(), "http://", "http://user:hunter2@", 1))
	require.Equal(t, 4, server.Stats().Requests)
}

// A proxy that wants a password, that is down, or whose address is wrong, says so
// without the password.
func TestTheProxysPasswordIsNeverShown(t *testing.T) {
	if isInside() {
		for _, scheme := range []string{"http", "https"} {
			_, err := connect(t, scheme+"://model.example/v1").Extract(t.Context(), ask(sentence))
			require.Error(t, err)
			shown := everything(err)
			require.NotContains(t, shown, "hunter2")
			require.NotContains(t, shown, "hunter%32")
			require.NotContains(t, shown, base64.StdEncoding.EncodeToString([]byte("u:hunter2")))
			if kind := os.Getenv("WEIR_TEST_KIND"); kind != "" && scheme == "http" {
				require.ErrorIs(t, err, &extraction.ProviderError{Kind: extraction.Kind(kind)})
			}
		}
		return
	}
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Proxy-Authenticate", "Basic")
		w.WriteHeader(http.StatusProxyAuthRequired)
		_, _ = io.WriteString(w, "wrong password hunter2, "+r.Header.Get("Proxy-Authorization"))
	}))
	defer refusing.Close()
	address := strings.TrimPrefix(refusing.URL, "http://")
	inAnotherProcess(t, "HTTP_PROXY=http://u:hunter%32@"+address, "HTTPS_PROXY=http://u:hunter%32@"+address, "WEIR_TEST_KIND=invalid_request")
	for _, proxy := range []string{"http://u:hunter2@127.0.0.1:1", "http://u:hunter2@127.0.0.1:no-port", "://u:hunter2@%zz", "http://u:hunter2@\x7f", "ftp://u:hunter2@host"} {
		inAnotherProcess(t, "HTTP_PROXY="+proxy, "HTTPS_PROXY="+proxy, "WEIR_TEST_KIND=unavailable")
	}
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
