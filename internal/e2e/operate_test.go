package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	ports, err := freeport.Take(1)
	require.NoError(t, err)
	return fmt.Sprintf("127.0.0.1:%d", ports[0])
}

// get asks a worker's HTTP server; status 0 means that it does not answer.
func get(address, path string) (status int, body string) {
	response, err := http.Get("http://" + address + path)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, ""
	}
	return response.StatusCode, string(text)
}

func TestAWorkerTellsHowItIs(t *testing.T) {
	fleetTest(t)
	url, model, address := natsServer(t), modelServer(t), freeAddress(t)
	w := worker(t, url, model, "--listen", address, "--queue-capacity", "7", "--concurrency", "3")
	eventually(t, "the worker is ready", func() bool {
		status, _ := get(address, "/readyz")
		return status == http.StatusOK
	})
	done := publisher(t, url, "publish", "--tenant", "hidden-tenant", "--document", "hidden-document", "--wait", "--timeout", "20s", writeFile(t, "a.txt", letter))
	require.Equal(t, 0, done.code, done)

	status, body := get(address, "/healthz")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"ok":true,"reasons":[]}`, body)

	_, metrics := get(address, "/metrics")
	require.Contains(t, metrics, `weirkeeper_deliveries_total{outcome="extracted",queue="chunks"} 1`)
	require.Contains(t, metrics, `weirkeeper_circuit_state{circuit="default",state="closed"} 1`)
	require.Contains(t, metrics, "weirkeeper_chunks_in_hand 0")

	_, body = get(address, "/snapshot")
	var told struct {
		Worker    struct{ Connected, Consuming bool }
		Admission struct {
			Queued, Active   int
			QueueCapacity    int `json:"queue_capacity"`
			ConcurrencyLimit int `json:"concurrency_limit"`
		}
		Circuit struct{ State string }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &told))
	require.Equal(t, 7, told.Admission.QueueCapacity)
	require.Equal(t, 3, told.Admission.ConcurrencyLimit)
	require.Zero(t, told.Admission.Queued+told.Admission.Active)
	require.True(t, told.Worker.Connected)
	require.Equal(t, "closed", told.Circuit.State)
	for _, secret := range []string{"Lovelace", "hidden-tenant", "hidden-document"} {
		require.NotContains(t, metrics+body, secret)
	}

	// A worker that drains is alive and not ready.
	model.Default(modelserver.Behaviour{Hang: true})
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "a", writeFile(t, "b.txt", "Ada met Mary.")).code)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 1 }))
	_, body = get(address, "/snapshot")
	require.NoError(t, json.Unmarshal([]byte(body), &told))
	require.Equal(t, 1, told.Admission.Active, "a call is under way")
	require.NoError(t, w.Signal(interrupt))
	eventually(t, "the worker drains", func() bool {
		status, body := get(address, "/readyz")
		return status == http.StatusServiceUnavailable && strings.Contains(body, "draining")
	})
	status, _ = get(address, "/healthz")
	require.Equal(t, http.StatusOK, status)
	model.Release()
	require.Equal(t, 0, w.wait())
}

func TestListeningIsNoReasonNotToWorkUnlessAskedFor(t *testing.T) {
	skipShort(t)
	url := natsServer(t)
	taken, err := net.Listen("tcp", "127.0.0.1:9464")
	if err == nil { // else somebody else has it, which serves as well
		defer taken.Close()
	}
	offline := []string{"run", "--provider", "offline"}
	w := command{program: "worker", args: offline, env: []string{"NATS_URL=" + url}}.start(t)
	eventually(t, "the worker works", func() bool { return strings.Contains(w.output.String(), "working") })
	require.Contains(t, w.output.String(), "--listen")
	require.Equal(t, 0, w.stop(), w.output)

	refused := command{program: "worker", args: append(offline, "--listen", "127.0.0.1:9464"), env: []string{"NATS_URL=" + url}}.run(t)
	require.Equal(t, 2, refused.code, refused)
	require.Contains(t, refused.errOut, "--listen")
}

// One process with a server in it, whose files outlive it.
func TestEmbeddedServerKeepsItsFiles(t *testing.T) {
	fleetTest(t)
	address, dir := freeAddress(t), t.TempDir()
	config := writeFile(t, "weir.yaml", fmt.Sprintf("provider: offline\nembedded: true\nnats-url: nats://%s\nlisten: \"\"\n", address))
	run := command{program: "worker", args: []string{"--config", config}, dir: dir}
	w := run.start(t)
	eventually(t, "the worker works", func() bool { return strings.Contains(w.output.String(), "working") })
	url := "nats://" + address
	done := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "a.txt", letter))
	require.Equal(t, 0, done.code, done)
	require.Equal(t, 0, w.stop(), w.output)
	left, err := os.ReadDir(filepath.Join(dir, "weirkeeper-data"))
	require.NoError(t, err)
	require.NotEmpty(t, left)

	again := run.start(t)
	eventually(t, "the worker works again", func() bool { return strings.Contains(again.output.String(), "working") })
	graph := publisher(t, url, "graph", "--tenant", "acme")
	require.Equal(t, 0, graph.code, graph)
	require.Contains(t, graph.out, "Ada Lovelace")

	// Its port is taken now.
	second := command{program: "worker", args: []string{"--config", config}, dir: t.TempDir()}.run(t)
	require.Equal(t, 2, second.code, second)
	require.Contains(t, second.errOut, "in use")
	require.Equal(t, 0, again.stop(), again.output)
}

func TestSecretsAreInNoOutput(t *testing.T) {
	fleetTest(t)
	url, model, address := natsServer(t), modelServer(t), freeAddress(t)
	model.RequireKey("another") // the server's refusal quotes the key that it got
	const key = "sk-hunter2hunter2hunter2"
	withPassword := strings.Replace(url, "nats://", "nats://user:hunter2pass@", 1)
	config := writeFile(t, "weir.yaml", "openai-api-key: "+key+"\nrpm: 100\nopenai-header: |\n  X-Gateway: hunter2gateway\n  X-Other: hunter2other\n")
	w := command{
		program: "worker",
		args:    []string{"run", "--config", config, "--listen", address, "--log-level", "debug", "--failure-threshold", "1"},
		env:     []string{"NATS_URL=" + withPassword, "OPENAI_BASE_URL=" + model.BaseURL()},
	}.start(t)
	require.Equal(t, 0, publisher(t, withPassword, "publish", "--tenant", "a", writeFile(t, "a.txt", letter)).code)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.WithKey > 0 }))
	eventually(t, "the circuit opens with the reason", func() bool {
		_, body := get(address, "/snapshot")
		return strings.Contains(body, `"open"`)
	})
	require.Equal(t, "open", connect(t, url).value("weir_circuit", "default.state"))
	_, snapshot := get(address, "/snapshot")
	_, metrics := get(address, "/metrics")
	require.Equal(t, 0, w.stop())
	output := w.output.String() + snapshot + metrics
	c := connect(t, url)
	for _, bucket := range []string{"KV_weir_circuit", "WEIR_DEAD", "WEIR_RESULTS"} {
		if c.exists(bucket) {
			for _, msg := range c.all(bucket) {
				output += fmt.Sprint(msg.Header) + string(msg.Data)
			}
		}
	}
	require.NotContains(t, output, "hunter2")

	// Nor when something is wrong with the command line itself.
	for _, args := range [][]string{
		{"run", "--config", config, "--rpm", "nonsense"},
		{"run", "--config", writeFile(t, "bad.yaml", "openai-api-key: "+key+"\nopenai_api_key: "+key+"\n")},
		{"run", "--config", writeFile(t, "bad.yaml", "openai-api-key: ["+key+"]\n")},
		{"run", "--config", writeFile(t, "bad.yaml", "openai-header: "+key+"\n")},
		{"run", "--config", writeFile(t, "bad.yaml", "openai-header: 'Host: "+key+"'\n")},
	} {
		done := command{program: "worker", args: args, env: []string{"NATS_URL=nats://user:hunter2pass@127.0.0.1:1", "OPENAI_API_KEY=" + key}}.run(t)
		require.Equal(t, 2, done.code, done)
		require.NotContains(t, done.errOut+done.out, "hunter2")
	}
}

// Two tenants publish the same text, one of them puts a document back, all of it
// within the streams' memory of copies: everybody waits for results and gets them.
func TestCopiesAreNotLost(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	w := command{program: "worker", args: []string{"run", "--provider", "offline", "--listen", ""}, env: []string{"NATS_URL=" + url}}.start(t)
	first, second := writeFile(t, "1.txt", letter), writeFile(t, "2.txt", "Mary Somerville met Ada Lovelace in London.")
	for _, args := range [][]string{
		{"--tenant", "t1", first},
		{"--tenant", "t2", first},
		{"--tenant", "v", "--document", "D", first},
		{"--tenant", "v", "--document", "D", second},
		{"--tenant", "v", "--document", "D", first},
	} {
		done := publisher(t, url, append([]string{"publish", "--wait", "--timeout", "20s"}, args...)...)
		require.Equal(t, 0, done.code, done)
		require.Contains(t, done.errOut, "1 sent")
	}
	graph := publisher(t, url, "graph", "--tenant", "v")
	require.Contains(t, graph.out, "Charles Babbage")
	require.NotContains(t, graph.out, "Somerville")

	long := strings.Repeat("d", 512)
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "long", "--document", long, "--wait", "--timeout", "20s", first).code)
	table := publisher(t, url, "status", "--tenant", "long")
	for line := range strings.SplitSeq(table.out, "\n") {
		require.Less(t, len(line), 160)
	}
	require.Contains(t, publisher(t, url, "status", "--tenant", "long", "--json").out, long)
	require.Equal(t, 0, w.stop(), w.output)
}
