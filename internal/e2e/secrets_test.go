package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"
)

// Distinctive parts of secrets: none may be in anything that anybody can read.
const (
	pageSecret      = "p4ge-p4ge-p4ge-p4ge"
	collectorSecret = "c0llector-c0llector"

	keySecret      = "sk-k3yk3yk3yk3yk3y"
	headerSecret   = "h34d3r-h34d3r"
	proxySecret    = "pr0xy-pr0xy"
	passwordSecret = "n4ts-n4ts-n4ts"
)

func withoutSecrets(t *testing.T, where, text string) {
	t.Helper()
	for _, secret := range []string{keySecret, headerSecret, proxySecret, passwordSecret, pageSecret, collectorSecret} {
		require.NotContains(t, text, secret, where)
	}
}

// TestSecretsAreNowhere although the model server sends them back in every way that
// it can, and whatever else goes wrong.
func TestSecretsAreNowhere(t *testing.T) {
	fleetTest(t)
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: true, StoreDir: t.TempDir(), Username: "fleet", Password: passwordSecret,
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	echo := "no, " + keySecret + " and " + headerSecret + " will not do"
	quoted := fmt.Sprintf(`{"error":{"message":%q,"code":%q}}`, echo, keySecret)
	model := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case strings.Contains(string(body), "redirected Ada."):
			w.Header().Set("Location", "http://elsewhere.example/"+keySecret+"?key="+keySecret)
			w.WriteHeader(http.StatusFound)
		case strings.Contains(string(body), "broken Ada."):
			http.Error(w, echo, http.StatusInternalServerError)
		case strings.Contains(string(body), "refused Ada."):
			http.Error(w, quoted, http.StatusBadRequest)
		case strings.Contains(string(body), "prose Ada."):
			_, _ = fmt.Fprintf(w, `{"choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, echo)
		default:
			http.Error(w, quoted, http.StatusUnauthorized)
		}
	}))
	defer model.Close()

	keyFile := writeFile(t, "key", keySecret+"\n")
	passwordFile := writeFile(t, "password", passwordSecret+"\n")
	nats := []string{"NATS_URL=" + srv.ClientURL(), "NATS_USER=fleet", "WEIR_NATS_PASSWORD_FILE=" + passwordFile}
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, "no, "+r.Header.Get("X-Key"), http.StatusForbidden)
	}))
	defer collector.Close()
	env := append(nats, "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL, "OTEL_EXPORTER_OTLP_HEADERS=x-key="+collectorSecret, "OTEL_BSP_SCHEDULE_DELAY=50", "WEIR_TOKEN_FILE="+writeFile(t, "page", pageSecret),
		"OPENAI_BASE_URL="+model.URL+"/v1", "OPENAI_API_KEY_FILE="+keyFile, "WEIR_OPENAI_HEADER=X-Gateway: "+headerSecret, "HTTP_PROXY=http://user:"+proxySecret+"@127.0.0.1:1")
	address := freeAddress(t)
	w := command{program: "worker", args: []string{
		"run", "--rpm", "1000", "--log-level", "debug", "--listen", address, "--initial-delay", "10ms", "--max-attempts", "2", "--max-retries", "1", "--failure-threshold", "50",
	}, env: env}.start(t)
	c := connect(t, strings.Replace(srv.ClientURL(), "nats://", "nats://fleet:"+passwordSecret+"@", 1))
	for _, text := range []string{"redirected Ada.", "broken Ada.", "refused Ada.", "prose Ada."} {
		published := command{program: "publisher", args: []string{"publish", "--tenant", "acme", "--log-level", "debug", writeFile(t, "a.txt", text)}, env: nats}.run(t)
		require.Equal(t, 0, published.code, published)
		withoutSecrets(t, "publisher", published.String())
	}
	eventually(t, "dead letters", func() bool { return c.messages("WEIR_DEAD") == 4 })
	require.Equal(t, 0, command{program: "publisher", args: []string{"publish", "--tenant", "acme", writeFile(t, "b.txt", "a wrong key for Ada.")}, env: nats}.run(t).code)
	eventually(t, "an open circuit", func() bool { return strings.Contains(w.output.String(), "to=open") })

	eventually(t, "traces are refused", func() bool { return strings.Contains(w.output.String(), "telemetry: cannot export") })
	status, done := order(t, address, pageSecret, "/api/circuit/open", `{"circuit":"default","reason":"moves"}`)
	require.Equal(t, http.StatusOK, status, done)
	withoutSecrets(t, "an order", done)
	_, done = order(t, address, pageSecret[1:], "/api/circuit/open", `{"circuit":"default"}`)
	withoutSecrets(t, "a refused order", done)
	for _, path := range []string{"/snapshot", "/metrics", "/readyz", "/healthz", "/", "/api/fleet", "/api/history", "/api/letters", "/api/about"} {
		response, err := http.Get("http://" + address + path)
		require.NoError(t, err)
		body, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		withoutSecrets(t, path, string(body))
	}
	for _, args := range []string{"check --json --rpm 1000", "circuit show default --json", "dead list --json", "dead show 1 --json", "top --once --json", "limits show --json", "run --help"} {
		ended := command{program: "worker", args: strings.Fields(args), env: env}.run(t)
		withoutSecrets(t, args, ended.String())
	}
	for _, args := range []string{"status --tenant acme --json", "graph --tenant acme"} {
		withoutSecrets(t, args, command{program: "publisher", args: strings.Fields(args), env: nats}.run(t).String())
	}

	// A proxy that is not there, and a NATS server that wants another password.
	away := append(env, "OPENAI_BASE_URL=http://model.example/v1")
	ended := command{program: "worker", args: []string{"check", "--json", "--rpm", "1000"}, env: away}.run(t)
	require.Equal(t, 1, ended.code)
	withoutSecrets(t, "a proxy that is away", ended.String())
	for _, wrong := range [][]string{
		{"NATS_URL=nats://fleet:" + passwordSecret + "x@" + strings.TrimPrefix(srv.ClientURL(), "nats://")},
		{"NATS_URL=nats://" + passwordSecret + "@" + strings.TrimPrefix(srv.ClientURL(), "nats://")},
		{"NATS_URL=" + srv.ClientURL(), "NATS_USER=fleet", "NATS_PASSWORD=" + passwordSecret + "x"},
		{"NATS_URL=" + srv.ClientURL(), "NATS_TOKEN=" + passwordSecret},
	} {
		ended := command{program: "worker", args: []string{"run", "--provider", "offline"}, env: wrong}.run(t)
		require.Equal(t, 2, ended.code, ended)
		withoutSecrets(t, "a refused connection", ended.String())
	}
	withoutSecrets(t, "the worker's log", w.output.String())
	for _, stream := range []string{"WEIR_DEAD", "WEIR_RESULTS", "KV_weir_circuit", "KV_weir_workers", "KV_weir_attempts"} {
		for _, msg := range c.all(stream) {
			withoutSecrets(t, stream, fmt.Sprint(msg.Subject, msg.Header, string(msg.Data)))
		}
	}
	require.Equal(t, 0, w.stop(), w.output)
	withoutSecrets(t, "the worker's log", w.output.String())
}

// The HTTP endpoint is for this machine unless somebody says otherwise, and then the
// log warns of what everybody can see, unless a token is asked for.
func TestListensOnThisMachineUnlessToldOtherwise(t *testing.T) {
	t.Parallel()
	url := natsServer(t)
	_, port, err := net.SplitHostPort(freeAddress(t))
	require.NoError(t, err)
	for _, c := range []struct {
		listen, token string
		warns, pprof  bool
	}{{":" + port, "", false, false}, {":" + port, "", false, true}, {"0.0.0.0:0", "", true, false}, {"0.0.0.0:0", "0123456789abcdef", false, true}} {
		listen, warns := c.listen, c.warns
		args := []string{"run", "--provider", "offline", "--listen", listen}
		if c.pprof {
			args = append(args, "--pprof")
		}
		w := command{program: "worker", args: args, env: []string{"NATS_URL=" + url, "WEIR_TOKEN=" + c.token}}.start(t)
		eventually(t, "it works", func() bool { return strings.Contains(w.output.String(), "msg=working") })
		if listen == ":"+port { // profiles are for who has asked for them
			status, body := get("127.0.0.1:"+port, "/debug/pprof/heap?debug=1")
			require.Equal(t, map[bool]int{false: http.StatusNotFound, true: http.StatusOK}[c.pprof], status, body)
			require.Equal(t, c.pprof, strings.Contains(body, "heap profile"))
		}
		require.Equal(t, 0, w.stop())
		require.Equal(t, warns, strings.Contains(w.output.String(), "without a password"), w.output)
		require.Equal(t, listen != "0.0.0.0:0", strings.Contains(w.output.String(), "msg=listening address=127.0.0.1:"+port))
		require.Equal(t, c.token != "", strings.Contains(w.output.String(), "asks whoever comes from elsewhere for the token"))
		require.NotContains(t, w.output.String(), "0123456789abcdef")
	}
}
