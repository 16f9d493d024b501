package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
)

// order gives one to a worker's status page, and returns the status and the answer.
func order(t *testing.T, address, token, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+path, strings.NewReader(body))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(text)
}

type shownFleet struct {
	At       time.Time
	Error    string
	Workers  []struct{ Worker, State string }
	Circuits []struct{ Name, State, Reason string }
	Tenants  []struct {
		Tenant     string
		Waiting    int
		RPM        int
		WaitReason string `json:"wait_reason"`
	}
	Dead   []struct{ Kind string }
	Pauses []struct {
		Tenant string
		Fleet  bool
	}
}

func fleetOf(t *testing.T, address string) (f shownFleet) {
	t.Helper()
	status, body := get(address, "/api/fleet")
	require.Equal(t, http.StatusOK, status, body)
	require.NoError(t, json.Unmarshal([]byte(body), &f), body)
	return f
}

// Somebody with a browser and the token sees a fleet and steers it, and the commands
// see what she did.
func TestTheStatusPageSteersAFleet(t *testing.T) {
	fleetTest(t)
	const token = "hunter2-hunter2-hunter2"
	url, model, address := natsServer(t), modelServer(t), freeAddress(t)
	w := worker(t, url, model, "--listen", address, "--token-file", writeFile(t, "token", token+"\n"), "--log-level", "debug")
	eventually(t, "the worker is seen", func() bool {
		status, _ := get(address, "/api/fleet")
		return status == http.StatusOK && len(fleetOf(t, address).Workers) == 1
	})
	status, page := get(address, "/")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, page, "<title>Weirkeeper</title>")
	second := worker(t, url, model, "--failure-threshold", "9") // of which more below
	done := func(path, body string) string {
		t.Helper()
		status, answer := order(t, address, token, path, body)
		require.Equal(t, http.StatusOK, status, answer)
		return answer
	}
	refused := func(path, body, why string) {
		t.Helper()
		status, answer := order(t, address, token, path, body)
		require.Equal(t, http.StatusUnprocessableEntity, status, answer)
		require.Contains(t, answer, why)
	}
	status, _ = order(t, address, "hunter2-hunter2-hunter3", "/api/pause", `{"fleet":true,"minutes":5}`)
	require.Equal(t, http.StatusUnauthorized, status)

	// A pause of a tenant, and of all.
	require.Contains(t, done("/api/pause", `{"tenant":"acme","minutes":5,"reason":"too dear"}`), "tenant acme is paused until")
	require.Contains(t, done("/api/pause", `{"fleet":true,"minutes":5}`), "the whole fleet is paused until")
	paused := steer(t, url, "pause", "--list")
	require.Contains(t, paused.out, "too dear")
	require.Contains(t, paused.out, "the whole fleet")
	eventually(t, "the pauses are shown", func() bool { return len(fleetOf(t, address).Pauses) == 2 })
	require.Contains(t, done("/api/resume", `{"tenant":"acme"}`), "the whole fleet is still paused")
	require.Contains(t, done("/api/resume", `{"fleet":true}`), "the whole fleet goes on")
	require.Contains(t, done("/api/resume", `{"fleet":true}`), "is not paused")
	refused("/api/pause", `{"minutes":5}`, "give tenant, the name of one, or fleet: true")
	refused("/api/limits/unset", `{}`, "give tenant, the name of one")
	refused("/api/pause", `{"tenant":"acme","fleet":true,"minutes":5}`, "not both")
	refused("/api/pause", `{"tenant":"acme"}`, "from 1 to 43200 minutes")

	// Limits.
	require.Contains(t, done("/api/limits/set", `{"tenant":"a b","rpm":7,"window_ms":5000}`), "tenant a b has limits")
	require.JSONEq(t, `{"rpm":7,"window_ms":5000}`, connect(t, url).value("weir_limits", "=YSBi"))
	require.Contains(t, done("/api/limits/unset", `{"tenant":"a b"}`), "limits hold again")
	require.Contains(t, done("/api/limits/unset", `{"tenant":"a b"}`), "had no limits")
	refused("/api/limits/set", `{"tenant":"a b"}`, "at least one of rpm, window_ms and tpm: whole numbers, from 1")
	refused("/api/limits/set", `{"tenant":"a b","rpm":0}`, "rpm is 0")
	refused("/api/limits/unset", `{"fleet":true}`, "the workers' flags")

	// What was set aside is shown, and sent again.
	model.Default(modelserver.Behaviour{Content: new("no JSON")})
	require.Equal(t, 3, publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "a.txt", letter)).code)
	eventually(t, "the letter is shown", func() bool {
		_, letters := get(address, "/api/letters")
		return strings.Contains(letters, `"kind":"malformed"`) && strings.Contains(letters, `"tenant":"acme"`)
	})
	model.Default(modelserver.Behaviour{})
	refused("/api/dead/replay", `{}`, "give kind, one of invalid_message, malformed, ")
	require.Contains(t, done("/api/dead/replay", `{"kind":"refused"}`), "0 letters sent again")
	require.Contains(t, done("/api/dead/replay", `{"kind":"malformed"}`), "1 letter sent again")
	eventually(t, "it is done", func() bool { return len(connect(t, url).results()) == 1 })
	require.Zero(t, connect(t, url).messages("WEIR_DEAD"))

	// The circuit.
	require.Contains(t, done("/api/circuit/open", `{"circuit":"default","reason":"the model moves"}`), "circuit default is open until reset")
	eventually(t, "the circuit and its history are shown", func() bool {
		circuits := fleetOf(t, address).Circuits
		_, history := get(address, "/api/history")
		return len(circuits) == 1 && circuits[0].State == "open" && circuits[0].Reason == "the model moves" && strings.Contains(history, `"state":"open","reason":"the model moves"`)
	})
	require.Contains(t, done("/api/circuit/reset", `{"circuit":"default"}`), "circuit default is closed")
	require.Contains(t, done("/api/circuit/reset", `{"circuit":"defualt"}`), "nothing to reset")
	// Whatever it is called: programs that use the breaker alone may name theirs as they like.
	names := []string{"a.b", "a/b c", "..", "<script>alert(1)</script>", "Straße 中文", "x.state", "-x", "a\nb\u202e", "'; rm -rf /"}
	named := func(name string) string {
		order, err := json.Marshal(map[string]string{"circuit": name})
		require.NoError(t, err)
		return string(order)
	}
	for _, name := range names {
		require.Contains(t, done("/api/circuit/open", named(name)), "is open until reset; nothing was stored of it before", name)
	}
	eventually(t, "they are shown under their names", func() bool {
		open := map[string]bool{}
		for _, c := range fleetOf(t, address).Circuits {
			open[c.Name] = c.State == "open"
		}
		return !slices.ContainsFunc(names, func(name string) bool { return !open[name] })
	})
	for _, name := range names {
		require.Regexp(t, "is closed\"", done("/api/circuit/reset", named(name)), name)
	}
	require.Equal(t, "open", steered[struct{ State string }](t, url, "circuit", "open", "--reason", "x", "a/b c").State)
	require.Regexp(t, "is closed\"", done("/api/circuit/reset", named("a/b c")), "one that a command has opened")
	refused("/api/circuit/open", `{"circuit":""}`, "must have a name")
	refused("/api/circuit/open", `{"circuit":"`+strings.Repeat("x", 701)+`"}`, "700 bytes at most")
	refused("/api/circuit/open", "{\"circuit\":\"\xff\"}", "not UTF-8")

	// That the other worker was started with another setting is told everywhere, and keeps
	// nobody from working.
	eventually(t, "the workers see that they differ", func() bool {
		status, ready := get(address, "/readyz")
		return status == http.StatusOK && strings.Contains(ready, "workers were started with different --failure-threshold of circuit default: 5 (")
	})
	_, snapshot := get(address, "/snapshot")
	require.Contains(t, snapshot, `"setting": "--failure-threshold"`)
	_, metrics := get(address, "/metrics")
	require.Regexp(t, `(?m)^weirkeeper_settings_differ(\{.*\})? 1$`, metrics)
	_, fleet := get(address, "/api/fleet")
	require.Contains(t, fleet, `"setting":"--failure-threshold","circuit":"default","values":[{"value":"5","worker":"`)
	require.Equal(t, 1, strings.Count(w.output.String(), `msg="workers were started with different settings`), w.output)
	require.Contains(t, second.output.String(), `msg="workers were started with different settings`)

	require.Equal(t, 0, second.stop())
	require.Equal(t, 0, w.stop(), w.output)
	require.NotContains(t, w.output.String(), "hunter2")
	require.Contains(t, w.output.String(), "order from the status page")
}

// While NATS is gone the page says since when it shows something old.
func TestTheStatusPageSaysHowOldItIs(t *testing.T) {
	fleetTest(t)
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir()})
	require.NoError(t, err)
	address := freeAddress(t)
	w := worker(t, server.URL(), modelServer(t), "--listen", address)
	eventually(t, "the worker is seen", func() bool {
		status, _ := get(address, "/api/fleet")
		return status == http.StatusOK && len(fleetOf(t, address).Workers) == 1
	})
	require.NoError(t, server.Close())
	eventually(t, "it is told", func() bool { return fleetOf(t, address).Error != "" })
	stale := fleetOf(t, address)
	require.Contains(t, stale.Error, "not connected to NATS")
	require.Len(t, stale.Workers, 1, "what is known stays")
	require.Less(t, stale.At, time.Now())
	w.stop()
}

func TestTokensOfTheStatusPageAreChecked(t *testing.T) {
	skipShort(t)
	for name, flags := range map[string][]string{
		"at least 16": {"--token", "hunter2"},
		"one of them": {"--token", "hunter2-hunter2-hunter2", "--token-file", writeFile(t, "t", "hunter2-hunter2-hunter2")},
		"--listen":    {"--token", "hunter2-hunter2-hunter2", "--listen", ""},
		"empty":       {"--token-file", writeFile(t, "t", "\n")},
		"no such":     {"--token-file", "/nowhere/token"},
		"ASCII":       {"--token", "hünter2 hunter2 hunter2"},
	} {
		ended := command{program: "worker", args: append([]string{"run", "--provider", "offline", "--nats-url", "nats://127.0.0.1:1"}, flags...)}.run(t)
		require.Equal(t, 2, ended.code, fmt.Sprint(name, ended))
		require.Contains(t, ended.errOut, name)
		require.NotContains(t, ended.errOut, "hunter2")
	}
}
