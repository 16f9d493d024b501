package e2e_test

import (
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// lines is n documents, each one chunk of its own text.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `{"document_id":"doc-%d","text":"Ada Lovelace wrote letter %d to Charles Babbage in London."}`+"\n", i, i)
	}
	return b.String()
}

func TestThreeWorkersGiveOneResultPerChunkEvenWhenOneIsKilled(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.Default(modelserver.Behaviour{DelayMS: 10})
	file := writeFile(t, "docs.jsonl", lines(1000))
	published := publisher(t, url, "publish", "--tenant", "acme", file)
	require.Equal(t, 0, published.code, published)

	victim := worker(t, url, model)
	others := []*process{worker(t, url, model), worker(t, url, model)}
	c := connect(t, url)
	eventually(t, "a third of the results", func() bool { return c.messages("WEIR_RESULTS") >= 300 })
	require.Less(t, c.messages("WEIR_RESULTS"), 1000, "the kill came too late to show anything")
	victim.kill()

	waited := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "50s", file)
	require.Equal(t, 0, waited.code, waited)

	byDocument := map[string]int{}
	workers := map[string]bool{}
	for _, r := range c.results() {
		byDocument[r.DocumentID]++
		workers[r.Worker] = true
		require.Equal(t, "ok", r.Status)
		require.Equal(t, "acme", r.TenantID)
		require.NotEmpty(t, r.Entities)
	}
	require.Len(t, byDocument, 1000)
	require.Len(t, c.results(), 1000)
	require.Len(t, workers, 3, "every worker should have had a share")
	require.Zero(t, c.messages("WEIR_CHUNKS"))
	require.Zero(t, c.messages("WEIR_DEAD"))
	// What the victim had in work may be asked about twice, nothing else.
	require.LessOrEqual(t, model.Stats().Requests, 1000+8)

	for _, p := range others {
		require.Equal(t, 0, p.stop(), p.output)
	}
	status := publisher(t, url, "status", "--tenant", "acme", "--json")
	require.Equal(t, 0, status.code, status)
	var told struct {
		Documents []struct {
			Done, Waiting int
		} `json:"documents"`
		WaitingChunks int `json:"waiting_chunks"`
	}
	require.NoError(t, json.Unmarshal([]byte(status.out), &told))
	require.Len(t, told.Documents, 1000)
	require.Zero(t, told.WaitingChunks)

	// The same documents again cost no model call.
	before := model.Stats().Requests
	idle := worker(t, url, model)
	again := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", "--json", file)
	require.Equal(t, 0, again.code, again)
	var counts struct{ Chunks, Existing, Sent int }
	require.NoError(t, json.Unmarshal([]byte(again.out), &counts))
	require.Equal(t, 1000, counts.Existing)
	require.Zero(t, counts.Sent)
	require.Equal(t, before, model.Stats().Requests)
	require.Equal(t, 0, idle.stop())
}

// Three processes, one allowance.
func TestTheFleetSharesOneLimit(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "acme", writeFile(t, "docs.jsonl", lines(60))).code)
	for range 3 {
		worker(t, url, model, "--rpm", "20", "--window", "2s")
	}
	c := connect(t, url)
	eventually(t, "every chunk has a result", func() bool { return c.messages("WEIR_RESULTS") == 60 })
	require.Equal(t, 60, model.Stats().Requests)
	// The limit is on admission; a call needs a moment to arrive.
	require.LessOrEqual(t, model.MaxInWindow(2*time.Second-200*time.Millisecond, ""), 20)
}

func TestStoppedWorkerFinishesWhatItHasAndExitsWithZero(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.Default(modelserver.Behaviour{Hang: true})
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "acme", writeFile(t, "docs.jsonl", lines(10))).code)
	w := worker(t, url, model, "--concurrency", "4")
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 4 }))
	stopped := make(chan int, 1)
	go func() { stopped <- w.stop() }()
	eventually(t, "the worker says that it stops", func() bool { return strings.Contains(w.output.String(), "drain") })
	model.Release()
	require.Equal(t, 0, <-stopped, w.output)

	c := connect(t, url)
	require.Equal(t, 4, c.messages("WEIR_RESULTS"), "what was in work is finished")
	require.Equal(t, 4, model.Stats().Requests, "nothing new was begun")
	require.Equal(t, 6, c.messages("WEIR_CHUNKS"), "nothing is lost")
}

func TestWorkerThatIsStoppedBeforeItHasBegunExitsWithZero(t *testing.T) {
	fleetTest(t)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	w := worker(t, "nats://"+silent.Addr().String(), modelServer(t))
	conn, err := silent.Accept()
	require.NoError(t, err)
	defer conn.Close()
	require.Equal(t, 0, w.stop(), w.output)
}

// A second signal is for a user who does not want to wait.
func TestSecondSignalStopsAtOnce(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.Default(modelserver.Behaviour{Hang: true})
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "acme", writeFile(t, "a.txt", "Ada met Charles.")).code)
	w := worker(t, url, model)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 1 }))
	require.NoError(t, w.Signal(interrupt))
	eventually(t, "the worker says that it stops", func() bool { return strings.Contains(w.output.String(), "drain") })
	begun := time.Now()
	require.Equal(t, 1, w.stop())
	require.Less(t, time.Since(begun), soon)
}

func TestAnyNATSClientIsAPublisher(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	w := worker(t, url, model)
	c := connect(t, url)
	eventually(t, "the worker has made the streams", func() bool { return c.exists("WEIR_DEAD") })

	// nats pub weir.documents.acme "..."
	require.NoError(t, c.nc.Publish("weir.documents.acme", []byte("Ada Lovelace met Charles Babbage in London.")))
	require.NoError(t, c.nc.Publish("weir.chunks.acme", []byte(`{"text":"Grace Hopper met Howard Aiken."}`)))
	eventually(t, "two results", func() bool { return c.messages("WEIR_RESULTS") == 2 })
	for _, r := range c.results() {
		require.Equal(t, 0, r.Index)
		require.Equal(t, 1, r.Total)
		require.Len(t, r.DocumentID, 16)
		require.Len(t, r.ChunkID, 64)
	}
	graph := publisher(t, url, "graph", "--tenant", "acme", "--format", "json")
	require.Equal(t, 0, graph.code, graph)
	for _, name := range []string{"Ada Lovelace", "Charles Babbage", "Grace Hopper"} {
		require.Contains(t, graph.out, name)
	}

	// Tenants and documents may have any name.
	for _, tenant := range []string{"a b", "ü.*", ">", "x.y"} {
		done := publisher(t, url, "publish", "--tenant", tenant, "--document", "report. *>"+tenant, "--wait", "--timeout", "20s", writeFile(t, "a.txt", "Ada met Charles in "+tenant))
		require.Equal(t, 0, done.code, done)
		status := publisher(t, url, "status", "--tenant", tenant, "--json")
		require.Contains(t, status.out, `"done": 1`, status)
	}
	require.Equal(t, 0, w.stop(), w.output)
}

// Nothing that arrives is lost: it has a result or a dead letter that says why.
func TestBadMessagesAreSetAsideWhole(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	w := worker(t, url, model)
	c := connect(t, url)
	eventually(t, "the worker has made the streams", func() bool { return c.exists("WEIR_DEAD") })
	bad := []string{
		"not JSON",
		`["a list"]`,
		`{"no_text":true,"unknown":{"deep":[1]}}`,
		`{"text":7}`,
		`{"text":""}`,
		`{"text":" \n\t"}`,
		`{"text":"a\u0000b"}`,
		"{\"text\":\"\xff\"}",
		`{"text":"a","index":3,"total":2}`,
		`{"text":"a","index":-1}`,
		`{"text":"a","metadata":{"n":7}}`,
		"",
	}
	for _, body := range bad {
		msg := nats.NewMsg("weir.chunks.acme")
		msg.Data = []byte(body)
		msg.Header.Set("X-Mine", "kept")
		require.NoError(t, c.nc.PublishMsg(msg))
	}
	require.NoError(t, c.nc.Publish("weir.documents.acme", []byte(" \n")))
	eventually(t, "all of them set aside", func() bool { return c.messages("WEIR_DEAD") == len(bad)+1 })
	bodies := map[string]bool{}
	for _, msg := range c.all("WEIR_DEAD") {
		require.Equal(t, "invalid_message", msg.Header.Get("Weir-Error-Kind"))
		require.NotEmpty(t, msg.Header.Get("Weir-Error"))
		bodies[string(msg.Data)] = true
		if msg.Header.Get("Weir-Origin-Subject") == "weir.chunks.acme" {
			require.Equal(t, "kept", msg.Header.Get("X-Mine"))
		}
	}
	for _, body := range bad {
		require.True(t, bodies[body], "the body is kept as it was: %q", body)
	}
	require.Zero(t, model.Stats().Requests)
	require.Zero(t, c.messages("WEIR_RESULTS"))
	require.Equal(t, 0, w.stop(), w.output)
}

func TestBadAnswersEndInDeadLettersThatSayWhy(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	want := map[string]string{
		"prose": "malformed", "list": "malformed", "truncated_json": "malformed", "empty": "empty",
		"length": "truncated", "refusal": "refused", "context_openai": "context_too_long", "bad_request": "invalid_request",
		"ok_html": "attempts_exhausted", "server_error": "attempts_exhausted",
	}
	var docs strings.Builder
	for name := range want {
		behaviour, err := modelserver.Named(name)
		require.NoError(t, err)
		model.OnMarker("case-"+name+"-end", behaviour)
		fmt.Fprintf(&docs, `{"document_id":"%s","text":"Ada met Charles in case-%s-end."}`+"\n", name, name)
	}
	docs.WriteString(`{"document_id":"good","text":"Ada Lovelace met Charles Babbage."}` + "\n")
	w := worker(t, url, model, "--max-attempts", "2", "--max-retries", "0", "--failure-threshold", "100")
	done := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "40s", "--json", writeFile(t, "docs.jsonl", docs.String()))
	require.Equal(t, 3, done.code, done)
	var told struct {
		Done, Dead  int
		DeadLetters []struct {
			DocumentID string `json:"document_id"`
			Kind       string
		} `json:"dead_letters"`
	}
	require.NoError(t, json.Unmarshal([]byte(done.out), &told))
	require.Equal(t, 1, told.Done)
	got := map[string]string{}
	for _, d := range told.DeadLetters {
		got[d.DocumentID] = d.Kind
		require.Contains(t, done.errOut, "document "+d.DocumentID+" chunk 0: "+d.Kind)
	}
	require.Equal(t, want, got)

	status := publisher(t, url, "status", "--tenant", "acme", "prose")
	require.Equal(t, 0, status.code)
	require.Contains(t, status.out, "1 (malformed 1)")
	require.Equal(t, 0, w.stop(), w.output)
}

func TestWaitGivesUpInTime(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	done := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "300ms", writeFile(t, "a.txt", "Ada met Charles."))
	require.Equal(t, 4, done.code, done)
	require.Contains(t, done.errOut, "1 chunk has neither a result nor a dead letter")
	require.Contains(t, done.errOut, "no worker is running\n", "why is what to know next")
	require.Less(t, done.took, soon)
}

func TestAStreamOfAnotherShapeIsNamed(t *testing.T) {
	t.Parallel()
	url := natsServer(t)
	c := connect(t, url)
	_, err := c.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WEIR_CHUNKS", Subjects: []string{"weir.chunks.*"}, Retention: jetstream.LimitsPolicy})
	require.NoError(t, err)
	for _, cmd := range []command{
		{program: "worker", args: []string{"run", "--provider", "offline", "--listen", ""}},
		{program: "publisher", args: []string{"status", "--tenant", "a"}},
	} {
		cmd.env = []string{"WEIR_NATS_URL=" + url}
		done := cmd.run(t)
		require.Equal(t, 2, done.code, done)
		require.Contains(t, done.errOut, "WEIR_CHUNKS")
		require.Contains(t, done.errOut, "retention")
		require.Empty(t, done.out)
	}
	stream, err := c.js.Stream(t.Context(), "WEIR_CHUNKS")
	require.NoError(t, err)
	require.Equal(t, jetstream.LimitsPolicy, stream.CachedInfo().Config.Retention, "it is left alone")
}
