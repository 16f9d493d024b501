package e2e_test

import (
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// reload gives the running server another account, as an administrator does.
func (g *guarded) reload(change func(account string) string) {
	g.t.Helper()
	text, err := os.ReadFile(g.config)
	require.NoError(g.t, err)
	require.NoError(g.t, os.WriteFile(g.config, []byte(change(string(text))), 0o600))
	options, err := server.ProcessConfigFile(g.config)
	require.NoError(g.t, err)
	options.NoSigs = true
	require.NoError(g.t, g.srv.ReloadOptions(options))
}

// without is the account whose worker lacks a right.
func without(t *testing.T, right string) (take, give func(string) string) {
	t.Helper()
	line := fmt.Sprintf("%q\n", right)
	begin, end := "user: worker\n", "user: viewer\n"
	edit := func(old, with string) func(string) string {
		return func(account string) string {
			before, rest, ok := strings.Cut(account, begin)
			require.True(t, ok)
			worker, after, ok := strings.Cut(rest, end)
			require.True(t, ok)
			require.Equal(t, 1, strings.Count(worker, old), old)
			return before + begin + strings.Replace(worker, old, with, 1) + end + after
		}
	}
	return edit(line, `"taken.away"`+"\n"), edit(`"taken.away"`+"\n", line)
}

// TestRightsThatAreLostWhileAWorkerRuns are named by the worker, which is not ready
// without them. Meanwhile it asks the model for little in vain, and when the right is
// back it goes on by itself, with nothing lost.
func TestRightsThatAreLostWhileAWorkerRuns(t *testing.T) {
	fleetTest(t)
	const chunks, slots = 12, 2
	for name, c := range map[string]struct {
		right, named string
		dead         int // of the chunks
	}{
		"results":            {"weir.results.*.*.*", "publish to weir.results.*.*.*", 0},
		"dead letters":       {"weir.dead.*", "publish to weir.dead.*", chunks},
		"acks":               {"$JS.ACK.WEIR_CHUNKS.>", "publish to $JS.ACK.WEIR_CHUNKS.>", 0},
		"pulls":              {"$JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.*", "publish to $JS.API.CONSUMER.MSG.NEXT.WEIR_CHUNKS.*", 0},
		"reading results":    {"$JS.API.DIRECT.GET.WEIR_RESULTS.weir.results.*.*.*", "publish to $JS.API.DIRECT.GET.WEIR_RESULTS.weir.results.*.*.*", 0},
		"writing the ledger": {"$LEDGER.weir_ratelimit.*", "publish to $LEDGER.weir_ratelimit.*", 0},
		"reading circuits":   {"$JS.API.DIRECT.GET.KV_weir_circuit.>", "publish to $JS.API.DIRECT.GET.KV_weir_circuit.>", 0},
		"arrivals":           {"weir.arrived.*", "subscribe to weir.arrived.*", 0},
		"the ledger's feed":  {"$LEDGERFEED.weir_ratelimit.*", "subscribe to $LEDGERFEED.weir_ratelimit.*", 0},
		"its inbox":          {"_INBOX_worker.>", "subscribe to _INBOX_worker.>", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, model, address := guard(t, nil), modelServer(t), freeAddress(t)
			ended := g.run("operator", "worker", "setup")
			require.Equal(t, 0, ended.code, ended)
			model.OnMarker("poison", modelserver.Writes("prose"))
			w := command{
				program: "worker", args: []string{"run", "--rpm", "1000", "--concurrency", fmt.Sprint(slots), "--listen", address},
				env: g.as("worker", "OPENAI_BASE_URL="+model.BaseURL(), "WEIR_MODEL=test-model"),
			}.start(t)
			ready := func() bool {
				status, _ := get(address, "/readyz")
				return status == http.StatusOK
			}
			admin, sender := g.administrator(), g.client("sender")
			send := func(tenant, text string) {
				require.NoError(t, sender.nc.Publish("weir.chunks."+tenant, fmt.Appendf(nil, `{"text":%q}`, text)))
				require.NoError(t, sender.nc.Flush())
			}
			eventually(t, "the worker is ready", ready)
			send("first", "Ada met Mary.")
			eventually(t, "a result", func() bool { return admin.messages("WEIR_RESULTS") == 1 })

			take, give := without(t, c.right)
			g.reload(take)
			word := "Ada"
			if c.dead > 0 {
				word = "poison"
			}
			for i := range chunks {
				send(fmt.Sprintf("tenant%d", i%3), fmt.Sprintf("%s met Mary %d.", word, i))
			}
			eventually(t, "the worker names the right", func() bool {
				status, body := get(address, "/readyz")
				return status == http.StatusServiceUnavailable && strings.Contains(body, strings.ReplaceAll(c.named, ">", `\u003e`))
			})
			asked := model.Stats().Requests
			g.reload(give)
			eventually(t, "the worker is ready again", ready)
			eventually(t, "all chunks are done", func() bool { return admin.messages("WEIR_CHUNKS") == 0 })
			require.Equal(t, 1+chunks-c.dead, admin.messages("WEIR_RESULTS"))
			require.Equal(t, c.dead, admin.messages("WEIR_DEAD"))
			t.Logf("%d model calls, %d of them before the right was back", model.Stats().Requests, asked)
			require.LessOrEqual(t, model.Stats().Requests, 1+chunks+slots+1)
			require.Equal(t, 0, w.stop(), w.output)
		})
	}
}
