package e2e_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func watchStatus(url string, more ...string) command {
	return command{program: "publisher", args: append([]string{"status", "--tenant", "acme", "--watch"}, more...), env: []string{"NATS_URL=" + url}}
}

// A watch says in words what a tenant waits for, ends by itself when everything is
// done, and its exit code says whether all of it went well.
func TestWatchingAStatus(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	send := func(document string, more ...string) {
		t.Helper()
		args := append([]string{"publish", "--tenant", "acme", "--document", document}, more...)
		done := publisher(t, url, append(args, writeFile(t, "a.txt", letter+document))...)
		require.Equal(t, 0, done.code, done)
	}
	send("first")
	late := watchStatus(url, "--timeout", "2s").run(t)
	require.Equal(t, 4, late.code, late)
	require.Contains(t, late.errOut, "nothing done yet, 1 chunk waiting; no worker is running\n")
	require.Equal(t, 1, strings.Count(late.errOut, "no worker is running"), "a line only on change")
	require.Contains(t, late.out, "tenant acme: 1 chunk waiting")
	require.NotContains(t, late.out+late.errOut, "\x1b")

	p := watchStatus(url).start(t)
	eventually(t, "the watch looks", func() bool { return strings.Contains(p.output.String(), "no worker is running") })
	w := worker(t, url, model)
	require.Equal(t, 0, p.wait(), p.output)
	require.Contains(t, p.output.String(), "1 of 1 chunk done")
	require.Regexp(t, `(?m)^first\s+1\s+1\s+0\s+0`, p.output.String())

	// A pause is told of, in a status too; the limit as well.
	steer := func(args ...string) {
		t.Helper()
		done := command{program: "worker", args: args, env: []string{"NATS_URL=" + url}}.run(t)
		require.Equal(t, 0, done.code, done)
	}
	steer("limits", "set", "acme", "--rpm", "1", "--window", "1h")
	steer("pause", "acme", "--for", "1h", "--reason", "too dear")
	eventually(t, "the worker follows", func() bool {
		return strings.Contains(w.output.String(), "msg=paused") && strings.Contains(w.output.String(), "requests=1 ")
	})
	send("second", "--run", "again")
	status := publisher(t, url, "status", "--tenant", "acme")
	require.Contains(t, status.out, "\npaused until ")
	require.Contains(t, status.out, "(too dear)\n")
	var told struct {
		Standing struct {
			WaitReason string `json:"wait_reason"`
			Workers    int
			RPM        int
		}
		Documents []struct {
			DocumentID string `json:"document_id"`
		}
	}
	require.NoError(t, json.Unmarshal([]byte(publisher(t, url, "status", "--tenant", "acme", "--json").out), &told))
	require.Equal(t, "paused", told.Standing.WaitReason)
	require.Equal(t, 1, told.Standing.RPM)

	// On a terminal it fills the screen, whatever its size.
	x := onTerminal(t, url, 60, 12, "publisher", "status", "--tenant", "acme", "--watch")
	x.shows(60, 12, "tenant acme:", "paused until", "DOCUMENT", "first")
	x.resize(30, 5)
	x.shows(30, 5, "tenant acme:")

	model.Default(modelserver.Behaviour{Status: 400, Body: new(string)})
	steer("limits", "unset", "acme")
	steer("resume", "acme")
	bad := watchStatus(url, "--run", "again", "--json").run(t)
	require.Equal(t, 3, bad.code, bad)
	require.NoError(t, json.Unmarshal([]byte(bad.out), &told))
	require.Len(t, told.Documents, 1, "only those of the run")
	require.Equal(t, "second@run=again", told.Documents[0].DocumentID)
	require.Contains(t, bad.errOut, "dead 1 (invalid_request 1)")
	x.ends(3)
}

func TestWatchingNeedsSense(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	for _, wrong := range [][]string{{"--timeout", "1s"}, {"--run", "a b"}, {"--watch", "--timeout", "-1s"}} {
		done := publisher(t, url, append([]string{"status", "--tenant", "acme"}, wrong...)...)
		require.Equal(t, 2, done.code, done)
	}
	x := onTerminal(t, url, 60, 12, "publisher", "status", "--tenant", "acme", "--watch")
	x.ends(0) // nothing was ever published
}
