package e2e_test

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// steer runs a command of worker for operators to its end.
func steer(t *testing.T, url string, args ...string) done {
	t.Helper()
	return command{program: "worker", args: args, env: []string{"NATS_URL=" + url}}.run(t)
}

// steered is steer for commands that must succeed; it reads what they print with --json.
func steered[T any](t *testing.T, url string, args ...string) T {
	t.Helper()
	ended := steer(t, url, append(args, "--json")...)
	require.Equal(t, 0, ended.code, ended)
	var told T
	require.NoError(t, json.Unmarshal([]byte(ended.out), &told), ended)
	return told
}

type circuit struct {
	Circuit, State, Reason string
	Forced                 bool
}

func TestOperatorsOpenAndCloseTheCircuitOfAFleet(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	require.Empty(t, steered[[]circuit](t, url, "circuit", "list"), "and nothing is created by looking")
	require.Equal(t, "closed", steered[circuit](t, url, "circuit", "show", "default").State)
	require.False(t, connect(t, url).exists("KV_weir_circuit"))

	opened := steered[circuit](t, url, "circuit", "open", "default", "--reason", "the model moves house, token=hunter2")
	require.Equal(t, "open", opened.State)
	require.True(t, opened.Forced)
	c := connect(t, url)
	require.Equal(t, "open", c.value("weir_circuit", "default.state"))
	require.NotContains(t, c.value("weir_circuit", "default.reason"), "hunter2")

	address := freeAddress(t)
	w := worker(t, url, model, "--listen", address)
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "acme", writeFile(t, "a.txt", letter)).code)
	waited := publisher(t, url, "publish", "--tenant", "acme", "--wait", "--timeout", "3s", writeFile(t, "b.txt", "Ada met Mary."))
	require.Equal(t, 4, waited.code, "longer than the recovery timeout of 1s: %s", waited)
	require.Zero(t, model.Stats().Requests)
	listed := steered[[]circuit](t, url, "circuit", "list")
	require.Len(t, listed, 1)
	require.Contains(t, listed[0].Reason, "moves house")

	status, ready := get(address, "/readyz")
	require.Equal(t, http.StatusOK, status, "a restart would not help")
	require.Contains(t, ready, `"notes": [
    "circuit default is open until reset: the model moves house`)

	require.Equal(t, "closed", steered[circuit](t, url, "circuit", "reset", "default").State)
	eventually(t, "the fleet works on", func() bool { return c.exists("WEIR_RESULTS") && len(c.results()) == 2 })
	require.Zero(t, c.messages("WEIR_DEAD"))

	// One that opened by itself says why.
	model.RequireKey("another")
	require.Equal(t, 0, publisher(t, url, "publish", "--tenant", "acme", writeFile(t, "c.txt", "Ada met Charles.")).code)
	eventually(t, "the circuit opens", func() bool { return steered[circuit](t, url, "circuit", "show", "default").State == "open" })
	shown := steer(t, url, "circuit", "show", "default")
	require.Contains(t, shown.out, "401")
	require.NotContains(t, shown.out, "until reset")
	model.RequireKey("")
	require.Equal(t, "closed", steered[circuit](t, url, "circuit", "reset", "default").State)
	eventually(t, "the rest is done", func() bool { return len(c.results()) == 3 })
	require.Equal(t, 0, w.stop())

	unknown := steer(t, url, "circuit", "reset", "defualt")
	require.Equal(t, 0, unknown.code)
	require.Contains(t, unknown.errOut, "nothing is stored")
	require.Len(t, steered[[]circuit](t, url, "circuit", "list"), 1)

	require.Equal(t, "open", steered[circuit](t, url, "circuit", "open", "gpu <1>").State)
	require.Regexp(t, `ends +until it is reset`, steer(t, url, "circuit", "show", "gpu <1>").out)
	top := steer(t, url, "top", "--once")
	require.Contains(t, top.out, "circuit gpu <1> is open")
	require.Contains(t, top.out, "until it is reset")
	require.Equal(t, "closed", steered[circuit](t, url, "circuit", "forget", "gpu <1>").State)
	require.Contains(t, steer(t, url, "circuit", "forget", "gpu <1>").errOut, "nothing is stored")
	require.Len(t, steered[[]circuit](t, url, "circuit", "list"), 1)
}

type tenantLimits struct {
	Tenant   string
	RPM, TPM *int64
	WindowMS *int64 `json:"window_ms"`
}

func TestOperatorsThrottleATenantOfARunningFleet(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	require.Empty(t, steered[[]tenantLimits](t, url, "limits", "show"))
	require.Len(t, steered[[]tenantLimits](t, url, "limits", "set", "acme corp", "--rpm", "1", "--window", "10m"), 1)
	c := connect(t, url)
	require.JSONEq(t, `{"rpm":1,"window_ms":600000}`, c.value("weir_limits", "=YWNtZSBjb3Jw"))

	w := worker(t, url, model)
	args := []string{"publish", "--tenant", "acme corp"}
	for _, text := range []string{"Ada met Mary.", "Ada met Charles.", "Charles met Mary."} {
		args = append(args, writeFile(t, "a.txt", text))
	}
	require.Equal(t, 0, publisher(t, url, args...).code)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests == 1 }))
	other := publisher(t, url, "publish", "--tenant", "b", "--wait", "--timeout", "20s", writeFile(t, "b.txt", letter))
	require.Equal(t, 0, other.code, other)
	require.Equal(t, 2, model.Stats().Requests, "others go on")

	shown := steered[[]tenantLimits](t, url, "limits", "show", "acme corp")
	require.Len(t, shown, 1)
	require.EqualValues(t, 1, *shown[0].RPM)
	require.Nil(t, shown[0].TPM)
	table := steer(t, url, "limits", "show", "acme corp")
	require.Regexp(t, `acme corp\s+1\s+10m0s\s+as the workers\s+1/1\s+-\s+limit \d+m`, table.out)
	table = steer(t, url, "limits", "set", "acme corp", "--rpm", "1", "--window", "10m")
	require.Regexp(t, `acme corp\s+1\s+10m0s\s+as the workers\s+1/1\s+-\s+limit \d+m`, table.out, "what is used does not change by setting limits")
	require.Empty(t, table.errOut)
	unset := steer(t, url, "limits", "unset", "acme corp")
	require.Equal(t, "the workers' limits hold again for tenant acme corp\n", unset.out, "what is lifted is not shown as if it held")
	require.Empty(t, steered[[]tenantLimits](t, url, "limits", "show"))
	eventually(t, "the tenant is unlimited again", func() bool { return len(c.results()) == 4 })
	require.Equal(t, 0, w.stop())
}

type deadLetter struct {
	Sequence uint64
	Tenant   string
	Kind     string
	Document string `json:"document_id"`
	Body     string
	Replayed []string
}

type replays struct {
	DryRun         bool `json:"dry_run"`
	Replayed, Left []struct {
		Letter uint64
		Reason string
	}
}

func TestOperatorsSendDeadLettersAgain(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	require.Empty(t, steered[[]deadLetter](t, url, "dead", "list"))
	refusal, err := modelserver.Named("refusal")
	require.NoError(t, err)
	model.OnMarker("Secret", refusal)
	w := worker(t, url, model)
	for tenant, text := range map[string]string{"acme": "Secret Smith met Ada.", "other": "Secret Jones met Ada."} {
		lost := publisher(t, url, "publish", "--tenant", tenant, "--document", "d", "--wait", "--timeout", "20s", writeFile(t, "a.txt", text))
		require.Equal(t, 3, lost.code, lost)
	}
	require.NoError(t, connect(t, url).nc.Publish("weir.chunks.acme", []byte("no chunk")))
	eventually(t, "it is set aside", func() bool { return connect(t, url).messages("WEIR_DEAD") == 3 })

	require.Len(t, steered[[]deadLetter](t, url, "dead", "list"), 3)
	require.Len(t, steered[[]deadLetter](t, url, "dead", "list", "--older-than", "1h"), 0)
	require.Len(t, steered[[]deadLetter](t, url, "dead", "list", "--newer-than", "1h", "--kind", "invalid_message"), 1)
	acme := steered[[]deadLetter](t, url, "dead", "list", "--tenant", "acme", "--kind", "refused")
	require.Len(t, acme, 1)
	require.Equal(t, "d", acme[0].Document)
	number := strconv.FormatUint(acme[0].Sequence, 10)
	require.Contains(t, steered[deadLetter](t, url, "dead", "show", number).Body, "Secret Smith")

	asked := model.Stats().Requests
	require.Equal(t, 2, steer(t, url, "dead", "replay", "--all", "--tenant", "acme").code)
	require.Equal(t, 3, connect(t, url).messages("WEIR_DEAD"))
	dry := steered[replays](t, url, "dead", "replay", "--dry-run", "--all")
	meant := steer(t, url, "dead", "replay", "--dry-run")
	require.Equal(t, 0, meant.code, meant)
	require.Contains(t, meant.errOut, "no tenant or filter given: all letters that can be read")
	require.True(t, dry.DryRun)
	require.Len(t, dry.Replayed, 3)
	require.Equal(t, 3, connect(t, url).messages("WEIR_DEAD"))
	require.Equal(t, asked, model.Stats().Requests)

	// It fails once more, and says that it has before.
	steered[replays](t, url, "dead", "replay", number)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests == asked+1 }))
	eventually(t, "it is set aside again", func() bool { return connect(t, url).messages("WEIR_DEAD") == 3 })
	acme = steered[[]deadLetter](t, url, "dead", "list", "--tenant", "acme", "--kind", "refused")
	require.Len(t, acme[0].Replayed, 1)
	require.True(t, strings.HasPrefix(acme[0].Replayed[0], number+" refused "), acme)

	// The model has come to its senses, and somebody has published another version.
	model.OnMarker("Secret")
	newer := publisher(t, url, "publish", "--tenant", "other", "--document", "d", "--wait", "--timeout", "20s", writeFile(t, "a.txt", "Jones met Ada, and no more is said."))
	require.Equal(t, 0, newer.code, newer)
	ended := steer(t, url, "dead", "replay", "--kind", "refused", "--json")
	require.Equal(t, 1, ended.code, ended)
	var told replays
	require.NoError(t, json.Unmarshal([]byte(ended.out), &told), ended)
	require.Len(t, told.Replayed, 1)
	require.Len(t, told.Left, 1)
	require.Contains(t, told.Left[0].Reason, "later version")
	c := connect(t, url)
	eventually(t, "the chunk is done", func() bool { return len(c.results()) == 2 })
	left := steered[[]deadLetter](t, url, "dead", "list")
	require.Len(t, left, 2)
	require.Equal(t, 0, w.stop())

	require.Equal(t, 1, steer(t, url, "dead", "show", "999").code)
	require.Equal(t, 2, steer(t, url, "dead", "list", "--kind", "nonsense").code)
	require.Equal(t, 2, steer(t, url, "dead", "replay", "1", "--tenant", "acme").code)
}

// 5 instead of 5000000: the backlog waits, the log says why, and once it is put right
// the fleet goes on.
func TestATypingErrorInATokenLimitCostsNoBacklog(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	require.Contains(t, steer(t, url, "limits", "set", "tp", "--tpm", "5", "--window", "5s").errOut, "warning: a tpm of 5 is less than a chunk of 3000 characters needs")
	w := worker(t, url, model, "--tpm", "1000")
	c := connect(t, url)
	eventually(t, "the workers have made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
	require.Contains(t, w.output.String(), "--tpm is less than one full chunk needs")
	c.backlog("tp", 400)
	eventually(t, "the worker says so", func() bool {
		return strings.Contains(w.output.String(), "raise --tpm (worker limits set TENANT --tpm N)")
	})
	require.Equal(t, 400, c.messages("WEIR_CHUNKS"))
	require.Empty(t, steer(t, url, "limits", "set", "tp", "--tpm", "5000000").errOut)
	eventually(t, "the backlog is done, but for the few that were tried", func() bool { return c.messages("WEIR_RESULTS") >= 200 })
	require.Zero(t, c.messages("WEIR_DEAD"))
	require.Equal(t, 1, strings.Count(w.output.String(), "raise --tpm (worker limits set"), "once")
	require.Equal(t, 0, w.stop())
}
