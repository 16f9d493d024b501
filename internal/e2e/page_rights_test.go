package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// TestThePageWithTheAccountOfAWorker shows the fleet, and refuses orders by the name of
// the right until the worker has those to steer. The server has to refuse nothing else.
func TestThePageWithTheAccountOfAWorker(t *testing.T) {
	fleetTest(t)
	const token = "0123456789abcdef"
	g, model, address := guard(t, nil), modelServer(t), freeAddress(t)
	ended := g.run("operator", "worker", "setup")
	require.Equal(t, 0, ended.code, ended)
	w := command{
		program: "worker", args: []string{"run", "--rpm", "1000", "--listen", address},
		env: g.as("worker", "OPENAI_BASE_URL="+model.BaseURL(), "WEIR_MODEL=test-model", "WEIR_TOKEN="+token),
	}.start(t)
	admin := g.administrator()
	require.NoError(t, g.client("sender").nc.Publish("weir.chunks.acme", []byte("no chunk")))
	eventually(t, "a dead letter", func() bool { return admin.messages("WEIR_DEAD") == 1 })
	require.NoError(t, g.client("sender").nc.Publish("weir.chunks.acme", []byte(`{"text":"Ada met Mary."}`)))
	eventually(t, "a result", func() bool { return admin.messages("WEIR_RESULTS") == 1 })
	eventually(t, "the fleet, the letter and a sample of the last hour", func() bool {
		_, history := get(address, "/api/history")
		_, fleet := get(address, "/api/fleet")
		_, letters := get(address, "/api/letters")
		return strings.Contains(fleet, `"acme"`) && strings.Contains(letters, "invalid_message") && strings.Contains(history, `"at"`)
	})
	require.Empty(t, g.log.seen())

	order := func(path, body string) (int, string) {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+"/api/"+path, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer "+token)
		request.Header.Set("Content-Type", "application/json")
		response, err := http.DefaultClient.Do(request)
		require.NoError(t, err)
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		return response.StatusCode, string(text)
	}
	for given, right := range map[string]string{
		`pause {"tenant":"acme","minutes":5}`:   "publish to $KV.weir_pause.tenant.acme",
		`limits/set {"tenant":"acme","rpm":20}`: "publish to $KV.weir_limits.",
	} {
		path, body, _ := strings.Cut(given, " ")
		asked := time.Now()
		status, text := order(path, body)
		require.Equal(t, http.StatusBadGateway, status, text)
		require.Contains(t, text, "NATS does not allow this worker to "+right)
		require.Less(t, time.Since(asked), soon, "the server has said so at once")
	}

	names, err := wire.NewNames("")
	require.NoError(t, err)
	g.reload(func(account string) string {
		before, after, found := strings.Cut(account, "user: worker\n")
		require.True(t, found)
		var more strings.Builder
		for _, right := range names.RightsToSteer() {
			fmt.Fprintf(&more, "            %q\n", right)
		}
		return before + "user: worker\n" + strings.Replace(after, "publish: [\n", "publish: [\n"+more.String(), 1)
	})
	seen := len(g.log.seen())
	for _, given := range []string{
		`pause {"tenant":"acme","minutes":5}`, `resume {"tenant":"acme"}`, `pause {"fleet":true,"minutes":5}`, `resume {"fleet":true}`,
		`limits/set {"tenant":"acme","rpm":20}`, `limits/unset {"tenant":"acme"}`, `circuit/open {"circuit":"default","reason":"moves"}`, `circuit/reset {"circuit":"default"}`,
		`dead/replay {"kind":"invalid_message"}`,
	} {
		path, body, _ := strings.Cut(given, " ")
		status, text := order(path, body)
		require.Equal(t, http.StatusOK, status, "%s %s", given, text)
	}
	require.Empty(t, g.log.seen()[seen:])
	require.Equal(t, 0, w.stop(), w.output)
}
