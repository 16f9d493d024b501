package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// checkReport is what `worker check --json` prints.
type checkReport struct {
	OK     bool
	Checks []struct{ Check, Status, Detail, Next string }
}

func (r checkReport) find(t *testing.T, name string) (status, detail, next string) {
	t.Helper()
	for _, c := range r.Checks {
		if c.Check == name {
			return c.Status, c.Detail, c.Next
		}
	}
	require.Fail(t, "no check "+name)
	return "", "", ""
}

// check runs `worker check --json`.
func check(t *testing.T, url string, env []string, args ...string) (checkReport, done) {
	t.Helper()
	ended := command{
		program: "worker", args: append([]string{"check", "--json", "--rpm", "60"}, args...),
		env: append([]string{"NATS_URL=" + url}, env...),
	}.run(t)
	var told checkReport
	require.NoError(t, json.Unmarshal([]byte(ended.out), &told), ended)
	require.Equal(t, told.OK, ended.code == 0, ended)
	return told, ended
}

// stored counts the messages of all streams.
func (c client) stored() map[string]uint64 {
	c.t.Helper()
	counts := map[string]uint64{}
	lister := c.js.ListStreams(c.t.Context())
	for info := range lister.Info() {
		counts[info.Config.Name] = info.State.Msgs
	}
	require.NoError(c.t, lister.Err())
	return counts
}

// TestR32CheckProvesTheWiring beside a fleet at work, and leaves no trace there.
//
// R32 of docs/clauses.md.
func TestR32CheckProvesTheWiring(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.RequireKey("sk-hunter2hunter2")
	env := []string{"OPENAI_BASE_URL=" + model.BaseURL(), "OPENAI_API_KEY=sk-hunter2hunter2", "WEIR_MODEL=test-model"}
	w := command{program: "worker", args: []string{"run", "--rpm", "100", "--listen", ""}, env: append(env, "NATS_URL="+url)}.start(t)
	published := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "a.txt", letter))
	require.Equal(t, 0, published.code, published)
	c, asked := connect(t, url), model.Stats().Requests
	before := c.stored()
	require.Contains(t, before, "LEDGER_weir_ratelimit")

	told, ended := check(t, url, env)
	require.Equal(t, 0, ended.code, ended)
	require.NotContains(t, ended.out+ended.errOut, "hunter2")
	for _, name := range []string{"nats", "jetstream", "rights", "streams", "buckets", "model", "limiter", "breaker", "permanent"} {
		status, detail, next := told.find(t, name)
		require.Equal(t, "ok", status, name)
		require.NotEmpty(t, detail)
		require.Empty(t, next)
	}
	_, detail, _ := told.find(t, "model")
	require.Contains(t, detail, "json_schema")
	require.Equal(t, asked+1, model.Stats().Requests, "one call")
	for name, where := range map[string]string{"limiter": "bucket weir_ratelimit", "breaker": "bucket weir_circuit"} {
		_, detail, _ = told.find(t, name)
		require.Contains(t, detail, where, "proved on the store that the fleet uses")
	}
	require.Equal(t, before, c.stored())
	published = publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "b.txt", "Ada met Mary."))
	require.Equal(t, 0, published.code, published)
	require.Equal(t, 0, w.stop())
}

// R32 of docs/clauses.md.
func TestR32CheckMakesNothingThatLasts(t *testing.T) {
	t.Parallel()
	url := natsServer(t)
	ended := command{program: "worker", args: []string{"check"}, env: []string{"NATS_URL=" + url}}.run(t)
	require.Equal(t, 0, ended.code, ended)
	require.Equal(t, 9, strings.Count(ended.out, "\n"), "one line each")
	require.Contains(t, ended.out, "WEIR_CHUNKS")
	require.Empty(t, ended.errOut)
	require.Empty(t, connect(t, url).stored())
}

// R32 of docs/clauses.md.
func TestR32CheckSaysWhatIsWrongAndWhatToDo(t *testing.T) {
	t.Parallel()
	good := natsServer(t)
	scripted := func(b modelserver.Behaviour) *modelserver.Server {
		model := modelServer(t)
		model.Default(b)
		return model
	}
	locked, textOnly := modelServer(t), modelServer(t)
	locked.RequireKey("another")
	textOnly.RejectFormats("json_schema")
	odd := natsServer(t)
	_, err := connect(t, odd).js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "WEIR_CHUNKS", Subjects: []string{"weir.chunks.*"}})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		nats, model              string
		failed, detail, next     string
		code                     int // 1 if not given
		skipped, stillOK         []string
		whatIsStillKnownOfModels string
	}{
		"no server": {
			nats: "nats://user:hunter2@127.0.0.1:1", failed: "nats", detail: "127.0.0.1:1", next: "--nats-url",
			skipped: []string{"jetstream", "rights", "streams", "buckets", "limiter", "breaker"}, stillOK: []string{"model", "permanent"},
		},
		"no JetStream": {
			nats: restricted(t, false), failed: "jetstream", detail: "has no JetStream", next: "-js",
			skipped: []string{"rights", "streams", "buckets", "limiter", "breaker"}, stillOK: []string{"nats"},
		},
		"a right is missing": {
			nats: restricted(t, true, "!weir.results.>", "$KV.>", "$LEDGER.>"), failed: "rights", detail: "publish to weir.results.", next: "docs/security.md",
			stillOK: []string{"streams", "limiter", "breaker"},
		},
		"a stream of another shape": {
			nats: odd, code: 2, failed: "streams", detail: "WEIR_CHUNKS: retention", next: "by hand", stillOK: []string{"buckets", "limiter"},
		},
		"no model server": {
			model: "http://" + freeAddress(t) + "/v1", failed: "model", detail: "connection refused", next: "--openai-base-url", stillOK: []string{"breaker", "permanent"},
		},
		"wrong key":     {model: locked.BaseURL(), failed: "model", detail: "401", next: "OPENAI_API_KEY"},
		"unknown model": {model: scripted(modelserver.Fails(404, modelserver.StyleOpenAI, "model_not_found", "The model does not exist")).BaseURL(), failed: "model", detail: "404", next: "--model"},
		"prose":         {model: scripted(modelserver.Writes("Here you are: Ada.")).BaseURL(), failed: "model", detail: "malformed", next: "JSON"},
		"a small context": {
			model: scripted(modelserver.Behaviour{Context: 8192}).BaseURL(), stillOK: []string{"model"}, whatIsStillKnownOfModels: "so they may have 4096",
		},
		"a tiny context": {
			model: scripted(modelserver.Behaviour{Context: 200}).BaseURL(), failed: "model", detail: "context_too_long", next: "count --max-tokens (8192) and the prompt together",
		},
		"no json_schema": {
			model: textOnly.BaseURL(), stillOK: []string{"model"}, whatIsStillKnownOfModels: "does not support response_format json_schema",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, env := c.nats, []string{}
			if url == "" {
				url = good
			}
			if c.model != "" {
				env = append(env, "OPENAI_BASE_URL="+c.model, "OPENAI_API_KEY=sk-hunter2hunter2", "WEIR_MODEL=test-model")
			}
			told, ended := check(t, url, env)
			require.NotContains(t, ended.out+ended.errOut, "hunter2")
			for _, name := range c.skipped {
				status, _, _ := told.find(t, name)
				require.Equal(t, "skipped", status, ended)
			}
			for _, name := range c.stillOK {
				status, _, _ := told.find(t, name)
				require.Equal(t, "ok", status, ended)
			}
			if c.whatIsStillKnownOfModels != "" {
				_, detail, _ := told.find(t, "model")
				require.Contains(t, detail, c.whatIsStillKnownOfModels)
			}
			if c.failed == "" {
				require.Equal(t, 0, ended.code, ended)
				return
			}
			require.Equal(t, max(c.code, 1), ended.code, ended)
			require.Contains(t, ended.errOut, "1 of 9 checks failed")
			status, detail, next := told.find(t, c.failed)
			require.Equal(t, "failed", status, ended)
			require.Contains(t, detail, c.detail)
			require.Contains(t, next, c.next)
		})
	}
}

// restricted starts a server whose user has the rights that docs/wire.md asks
// for, and those to publish to more subjects, or with a "!" not to.
func restricted(t *testing.T, jetStream bool, more ...string) (url string) {
	t.Helper()
	publish := &server.SubjectPermission{
		Allow: []string{"$JS.API.>", "$JS.ACK.>", "weir.>", "$KV.weir_circuit.>", "$KV.weir_attempts.>", "$KV.weir_workers.>", "$LEDGER.weir_ratelimit.>"},
	}
	for _, subject := range more {
		if denied, ok := strings.CutPrefix(subject, "!"); ok {
			publish.Deny = append(publish.Deny, denied)
		} else {
			publish.Allow = append(publish.Allow, subject)
		}
	}
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: server.RANDOM_PORT, NoLog: true, NoSigs: true, JetStream: jetStream, StoreDir: t.TempDir(),
		Users: []*server.User{{Username: "fleet", Password: "hunter2", Permissions: &server.Permissions{
			Publish:   publish,
			Subscribe: &server.SubjectPermission{Allow: []string{"_INBOX.>", "weir.arrived.*", "$LEDGERFEED.weir_ratelimit.>"}},
		}}},
	})
	require.NoError(t, err)
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	require.True(t, srv.ReadyForConnections(10*time.Second))
	return strings.Replace(srv.ClientURL(), "nats://", "nats://fleet:hunter2@", 1)
}

// A worker works with the rights that docs/wire.md asks for and no more, and once
// its buckets are there, so does the check.
//
// R32 of docs/clauses.md.
func TestR32RightsOfTheDocumentationAreEnough(t *testing.T) {
	fleetTest(t)
	url, model := restricted(t, true), modelServer(t)
	told, ended := check(t, url, nil)
	require.Equal(t, 1, ended.code, ended)
	for _, name := range []string{"limiter", "breaker"} {
		status, detail, next := told.find(t, name)
		require.Equal(t, "failed", status)
		require.Contains(t, detail, "cannot be proved yet")
		require.Contains(t, next, "worker setup")
	}
	status, _, _ := told.find(t, "rights")
	require.Equal(t, "ok", status, ended)

	w := worker(t, url, model, "--rpm", "100")
	published := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "20s", writeFile(t, "a.txt", letter))
	require.Equal(t, 0, published.code, published)
	_, ended = check(t, url, nil)
	require.Equal(t, 0, ended.code, ended)
	require.NotContains(t, ended.out+ended.errOut, "hunter2")
	require.Equal(t, 0, w.stop())
	require.NotContains(t, strings.ToLower(w.output.String()), "permissions violation")
}
