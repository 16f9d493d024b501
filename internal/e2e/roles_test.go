package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// TestEveryRoleDoesItsWorkWithItsOwnAccount with the configuration of
// docs/security.md, and the server has to refuse nothing on the way.
func TestEveryRoleDoesItsWorkWithItsOwnAccount(t *testing.T) {
	fleetTest(t)
	g, model := guard(t, nil), modelServer(t)
	succeeds := func(ended done) done {
		t.Helper()
		require.Equal(t, 0, ended.code, ended)
		require.Empty(t, g.log.seen(), ended)
		return ended
	}
	made := succeeds(g.run("operator", "worker", "setup"))
	require.Contains(t, made.out, "created  stream WEIR_CHUNKS\n")
	again := succeeds(g.run("operator", "worker", "setup"))
	require.Equal(t, strings.ReplaceAll(made.out, "created", "exists "), again.out)

	start := func(more ...string) *process {
		env := g.as("worker", "OPENAI_BASE_URL="+model.BaseURL(), "WEIR_MODEL=test-model")
		args := append([]string{"run", "--rpm", "1000", "--listen", "", "--initial-delay", "10ms", "--recovery-timeout", "1s", "--carry-over"}, more...)
		return command{program: "worker", args: args, env: env}.start(t)
	}
	first, second := start(), start()
	file := writeFile(t, "a.txt", letter)
	succeeds(g.run("publisher", "publisher", "publish", "--tenant", "acme", file))
	succeeds(g.run("publisher", "publisher", "publish", "--tenant", "acme", file)) // a copy
	require.NoError(t, g.client("sender").nc.Publish("weir.documents.globex", []byte(strings.Repeat(letter, 60))))
	admin := g.administrator()
	eventually(t, "results of both tenants", func() bool { return admin.messages("WEIR_RESULTS") > 2 })

	// What fails, with everything that can become of a chunk.
	model.OnMarker("poison", modelserver.Writes("prose"))
	model.OnMarker("slow down", modelserver.Fails(http.StatusTooManyRequests, modelserver.StyleOpenAI, "rate_limit_exceeded", "slow down"), modelserver.Behaviour{})
	model.OnMarker("broken", modelserver.Fails(500, modelserver.StyleOpenAI, "server_error", "broken"))
	for tenant, text := range map[string]string{"acme": "poison met Ada.", "globex": "slow down, said Ada.", "initech": "a broken Ada."} {
		succeeds(g.run("publisher", "publisher", "publish", "--tenant", tenant, writeFile(t, "b.txt", text)))
	}
	require.NoError(t, g.client("sender").nc.Publish("weir.chunks.acme", []byte("no chunk")))
	eventually(t, "dead letters", func() bool { return admin.messages("WEIR_DEAD") >= 2 })
	eventually(t, "queues are empty", func() bool { return admin.messages("WEIR_CHUNKS")+admin.messages("WEIR_DOCUMENTS") == 0 })

	succeeds(g.run("publisher", "publisher", "publish", "--tenant", "acme", "--wait", "--timeout", "20s", "--run", "second", file))
	for _, args := range [][]string{{"status"}, {"status", "--watch", "--run", "second", "--timeout", "20s"}, {"graph"}, {"diff", "--to", "second"}} {
		succeeds(g.run("publisher", "publisher", append(args, "--tenant", "acme")...))
	}
	for _, args := range []string{"circuit list", "circuit show default", "limits show", "pause --list", "dead list", "top --once", "top --once --json"} {
		succeeds(g.run("viewer", "worker", strings.Fields(args)...))
	}
	for _, args := range []string{
		"circuit list", "circuit open default", "circuit show default", "circuit reset default", "limits show", "limits set acme --rpm 500", "limits unset acme",
		"pause acme --for 1m", "pause --list", "resume acme", "pause --fleet --for 1m", "resume", "dead list",
		"dead replay --dry-run --tenant acme", "dead replay --tenant acme",
	} {
		succeeds(g.run("operator", "worker", strings.Fields(args)...))
	}
	succeeds(command{
		program: "worker", args: []string{"check", "--rpm", "1000"},
		env: g.as("worker", "OPENAI_BASE_URL="+model.BaseURL(), "WEIR_MODEL=test-model"),
	}.run(t))
	require.Equal(t, 0, first.stop(), first.output)
	second.kill()
	third := start()
	succeeds(g.run("publisher", "publisher", "publish", "--tenant", "acme", writeFile(t, "c.txt", "Ada met Mary.")))
	eventually(t, "queues are empty", func() bool { return admin.messages("WEIR_CHUNKS") == 0 })
	require.Equal(t, 0, third.stop(), third.output)
	require.Empty(t, g.log.seen())
}

// TestACommandThatIsNotAllowedNamesTheRight and does not wait for an answer that the
// server will never give.
func TestACommandThatIsNotAllowedNamesTheRight(t *testing.T) {
	fleetTest(t)
	g := guard(t, nil)
	ended := g.run("operator", "worker", "setup")
	require.Equal(t, 0, ended.code, ended)
	for _, args := range []string{"limits set acme --rpm 5", "pause acme", "circuit open default"} {
		ended := g.run("operator", "worker", strings.Fields(args)...)
		require.Equal(t, 0, ended.code, ended)
	}
	for args, right := range map[string]string{
		"limits set acme --rpm 7": "$KV.weir_limits.acme",
		"limits unset acme":       "$KV.weir_limits.acme",
		"pause acme":              "$KV.weir_pause.tenant.acme",
		"resume acme":             "$KV.weir_pause.tenant.acme",
		"circuit reset default":   "$KV.weir_circuit.default.",
	} {
		ended := g.run("viewer", "worker", strings.Fields(args)...)
		require.Equal(t, 1, ended.code, "%s: %v", args, ended)
		require.Contains(t, ended.errOut, "may not publish to "+right, args)
		require.NotContains(t, ended.errOut, "deadline", args)
		require.Equal(t, 1, strings.Count(ended.errOut, "\n"), "said once: %s", ended.errOut)
	}
}

// TestRolesMayNotDoMore than their work.
func TestRolesMayNotDoMore(t *testing.T) {
	fleetTest(t)
	g := guard(t, nil)
	ended := g.run("operator", "worker", "setup")
	require.Equal(t, 0, ended.code, ended)
	admin := g.administrator()
	_, err := admin.js.Publish(t.Context(), "weir.results.acme.d.0", []byte("secret of acme"))
	require.NoError(t, err)
	_, err = admin.js.Publish(t.Context(), "weir.dead.acme", []byte("secret of acme"))
	require.NoError(t, err)
	for role, denied := range map[string][]string{
		"sender": {
			"$JS.API.STREAM.INFO.WEIR_RESULTS", "$JS.API.DIRECT.GET.WEIR_RESULTS.weir.results.acme.d.0", "$JS.API.STREAM.MSG.GET.WEIR_CHUNKS", "$JS.API.CONSUMER.CREATE.WEIR_RESULTS.x",
			"weir.results.acme.d.0", "weir.dead.acme", "$KV.weir_circuit.default.state", "other.subject",
		},
		"publisher": {
			"$JS.API.CONSUMER.CREATE.WEIR_CHUNKS.x.weir.chunks.*", "$JS.API.CONSUMER.CREATE.WEIR_CHUNKS.x",
			"weir.results.acme.d.0", "weir.dead.acme", "$KV.weir_circuit.default.state", "$KV.weir_limits.acme", "$KV.weir_pause.fleet",
			"$JS.API.STREAM.CREATE.OTHER", "$JS.API.STREAM.DELETE.WEIR_CHUNKS", "$JS.API.STREAM.PURGE.WEIR_CHUNKS", "$JS.API.STREAM.MSG.DELETE.WEIR_RESULTS",
			"$JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.weir_chunks_acme", "$JS.ACK.WEIR_CHUNKS.x.1.1.1.1.0", "other.subject",
		},
		"worker": {
			"$JS.API.STREAM.DELETE.WEIR_CHUNKS", "$JS.API.STREAM.CREATE.WEIR_CHUNKS", "$JS.API.STREAM.UPDATE.WEIR_CHUNKS", "$JS.API.STREAM.PURGE.WEIR_RESULTS", "$JS.API.STREAM.PURGE.WEIR_CHUNKS",
			"$JS.API.STREAM.MSG.DELETE.WEIR_DEAD", "$KV.weir_limits.acme", "$KV.weir_pause.fleet", "weir.documents.acme", "$JS.API.CONSUMER.CREATE.WEIR_RESULTS.x", "other.subject",
		},
		"viewer": {
			"weir.chunks.acme", "weir.dead.acme", "$KV.weir_circuit.default.state", "$KV.weir_limits.acme", "$KV.weir_pause.fleet", "$KV.weir_workers.x", "$LEDGER.weir_ratelimit.acme",
			"$JS.API.STREAM.CREATE.KV_weir_circuit", "$JS.API.STREAM.MSG.DELETE.WEIR_DEAD", "$JS.API.DIRECT.GET.WEIR_RESULTS.weir.results.acme.d.0",
		},
		"operator": {"weir.results.acme.d.0", "weir.dead.acme", "$JS.API.STREAM.DELETE.WEIR_CHUNKS", "$JS.API.STREAM.PURGE.WEIR_DEAD", "$JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.weir_chunks_acme", "$LEDGER.weir_ratelimit.acme", "other.subject"},
	} {
		t.Run(role, func(t *testing.T) {
			c := g.client(role)
			for _, subject := range denied {
				require.NoError(t, c.nc.Publish(subject, []byte("{}")))
				require.NoError(t, c.nc.Flush())
				require.ErrorIs(t, c.nc.LastError(), nats.ErrPermissionViolation)
				require.ErrorContains(t, c.nc.LastError(), `"`+subject+`"`)
			}
			for _, subject := range []string{"_INBOX.>", "_INBOX_other.>", "weir.>", "weir.results.>", "weir.dead.>", "$KV.>", ">"} {
				sub, err := c.nc.SubscribeSync(subject)
				require.NoError(t, err)
				require.NoError(t, c.nc.Flush())
				require.ErrorContains(t, c.nc.LastError(), `"`+subject+`"`)
				_ = sub.Unsubscribe()
			}
		})
	}
	require.Equal(t, 1, admin.messages("WEIR_RESULTS"))
	require.Equal(t, 1, admin.messages("WEIR_DEAD"))
	_, err = admin.js.Stream(t.Context(), "OTHER")
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}
