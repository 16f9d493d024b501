package e2e_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// One message that somebody put among the results hides nothing, and the commands say
// which it is.
func TestAMessageThatIsNoResult(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	require.Equal(t, 0, publisher(t, url, "status", "--tenant", "g").code)
	c := connect(t, url)
	_, err := c.js.Publish(t.Context(), "weir.results.g.doc.0", []byte(`{"index":"zero"}`))
	require.NoError(t, err)
	const result = `{"schema_version":1,"tenant_id":"g","document_id":"doc","chunk_id":"c","index":1,"total":2,"status":"ok","entities":[{"id":"e","name":"Ada","type":"person"}],"relationships":[]}`
	_, err = c.js.Publish(t.Context(), "weir.results.g.doc.1", []byte(result))
	require.NoError(t, err)
	const note = "note: 1 message in WEIR_RESULTS is no result and left out; the first is 1 on weir.results.g.doc.0 (invalid message: body is not a result: index must not be a JSON string): find out who wrote it, and remove it with: nats stream rmm WEIR_RESULTS 1\n"
	for _, args := range [][]string{{"status"}, {"status", "--watch", "--timeout", "10s"}, {"graph", "--format", "json"}} {
		done := publisher(t, url, append(args, "--tenant", "g")...)
		require.Contains(t, done.errOut, note, done)
		require.NotContains(t, done.out, "note", done)
		require.Equal(t, 0, done.code, done)
		require.Contains(t, done.out, map[string]string{"status": "doc", "graph": "Ada"}[args[0]])
	}
	require.Contains(t, publisher(t, url, "diff", "--tenant", "g", "--to", "other").errOut, note)
	top := steer(t, url, "top", "--once")
	require.Equal(t, 0, top.code, top)

	entry := steer(t, url, "limits", "set", "g", "--rpm", "1")
	require.Equal(t, 0, entry.code, entry)
	limits, err := c.js.KeyValue(t.Context(), "weir_limits")
	require.NoError(t, err)
	_, err = limits.PutString(t.Context(), "g", `{"rpm":"1"}`)
	require.NoError(t, err)
	shown := steer(t, url, "limits", "show", "g")
	require.Contains(t, shown.out, "rpm must not be a JSON string")
	require.NotContains(t, shown.out, "Go ")
}
