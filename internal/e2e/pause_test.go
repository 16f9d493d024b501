package e2e_test

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

type pause struct {
	Fleet                   bool
	Tenant, Reason, Problem string
	Until                   time.Time
}

// pausesSeen is what a worker tells of what is paused.
func pausesSeen(t *testing.T, address string) []pause {
	t.Helper()
	status, body := get(address, "/snapshot")
	require.Equal(t, http.StatusOK, status)
	var told struct{ Pauses []pause }
	require.NoError(t, json.Unmarshal([]byte(body), &told))
	return told.Pauses
}

// A tenant that is paused is left alone by every worker, wherever it keeps its
// limits: what is in hand finishes, nothing else is taken, others go on, and no
// attempt is used up.
func TestOperatorsPauseATenantOfARunningFleet(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	require.Empty(t, steered[[]pause](t, url, "pause", "--list"))
	c := connect(t, url)
	require.False(t, c.exists("KV_weir_pause"), "nothing is created by looking")
	first, second := freeAddress(t), freeAddress(t)
	ready(t, url, model, 1, "--concurrency", "2", "--listen", first)
	ready(t, url, model, 1, "--concurrency", "2", "--listen", second, "--cache", "memory")
	followed := func(n int) {
		t.Helper()
		begun := time.Now()
		eventually(t, "both workers follow", func() bool {
			return len(pausesSeen(t, first)) == n && len(pausesSeen(t, second)) == n
		})
		t.Logf("followed after %v", time.Since(begun))
		require.Less(t, time.Since(begun), 2*time.Second+soon)
	}
	for _, address := range []string{first, second} {
		eventually(t, "the worker is ready", func() bool {
			status, _ := get(address, "/readyz")
			return status == http.StatusOK
		})
	}

	model.Default(modelserver.Behaviour{Hang: true})
	c.backlog("acme", 30)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 4 }))
	paused := steered[[]pause](t, url, "pause", "acme", "--reason", "too dear, token=hunter2")
	require.Len(t, paused, 1)
	require.WithinDuration(t, time.Now().Add(time.Hour), paused[0].Until, time.Minute)
	require.NotContains(t, c.value("weir_pause", "tenant.acme"), "hunter2")
	followed(1)
	require.Contains(t, pausesSeen(t, first)[0].Reason, "too dear")
	_, body := get(first, "/readyz")
	require.JSONEq(t, `{"ok":true,"reasons":[],"notes":["1 tenant paused"]}`, body)
	model.Default(modelserver.Behaviour{})
	model.Release()
	other := publisher(t, url, "publish", "--tenant", "b", "--wait", "--timeout", "20s", writeFile(t, "b.txt", letter))
	require.Equal(t, 0, other.code, other)
	require.Never(t, func() bool { return model.Stats().Requests > 5 }, 1500*time.Millisecond, 50*time.Millisecond, "4 in hand, 1 of another tenant")
	require.Equal(t, 5, c.messages("WEIR_RESULTS"), "what was in hand is finished")
	require.LessOrEqual(t, c.deliveries("acme"), 4)

	require.Equal(t, paused[0].Until, steered[[]pause](t, url, "resume", "acme")[0].Until)
	resumed := time.Now()
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests > 5 }))
	t.Logf("resumed after %v", time.Since(resumed))
	require.Less(t, time.Since(resumed), 2*time.Second+soon)
	eventually(t, "the tenant's work is done", func() bool { return c.messages("WEIR_RESULTS") == 31 })
	require.Equal(t, 31, model.Stats().Requests)
	for _, r := range c.results() {
		require.Equal(t, 1, r.Attempts)
	}

	// The whole fleet. Garbage pauses nothing.
	bucket, err := c.js.KeyValue(t.Context(), "weir_pause")
	require.NoError(t, err)
	_, err = bucket.PutString(t.Context(), "tenant.b", "garbage")
	require.NoError(t, err)
	steered[[]pause](t, url, "pause", "a b", "--for", "1h")
	steered[[]pause](t, url, "pause", "--fleet", "--reason", "backup")
	followed(2)
	_, body = get(second, "/readyz")
	require.Contains(t, body, "the whole fleet is paused until")
	require.Contains(t, body, "backup")
	listed := steered[[]pause](t, url, "pause", "--list")
	require.Len(t, listed, 3)
	require.True(t, listed[0].Fleet)
	require.Equal(t, "a b", listed[1].Tenant)
	require.NotEmpty(t, listed[2].Problem)
	left := steer(t, url, "resume", "a b")
	require.Equal(t, 0, left.code, left)
	require.Contains(t, left.errOut, "the whole fleet is still paused")
	c.backlog("b", 3)
	require.NoError(t, c.nc.Publish("weir.documents.d", []byte("Ada met Charles.")))
	eventually(t, "documents are split none the less", func() bool { return c.messages("WEIR_DOCUMENTS") == 0 && c.messages("WEIR_CHUNKS") == 4 })
	require.Never(t, func() bool { return model.Stats().Requests > 31 }, 1500*time.Millisecond, 50*time.Millisecond)

	// It ends by itself.
	until := steered[[]pause](t, url, "pause", "--fleet", "--for", "2s")[0].Until
	eventually(t, "work goes on by itself", func() bool { return c.messages("WEIR_RESULTS") == 35 })
	t.Logf("done %v after its end", time.Since(until))
	require.False(t, time.Now().Before(until), "not before its time")
	require.Less(t, time.Since(until), soon)
	require.Zero(t, c.messages("WEIR_DEAD"))
	followed(0)
}

func TestAPauseHasAnEnd(t *testing.T) {
	t.Parallel()
	url := natsServer(t)
	for _, args := range [][]string{
		{"pause", "acme", "--for", "0"}, {"pause", "--fleet", "--for", "0s"}, {"pause", "--fleet", "--for=-1h"}, {"pause", "--fleet", "--for", "721h"}, {"pause", "--fleet", "--for", "soon"},
		{"pause", "--fleet", "--until", "2020-01-01T00:00:00Z"}, {"pause", "--fleet", "--until", "9999-01-01T00:00:00Z"}, {"pause", "--fleet", "--until", "tomorrow"},
		{"pause", "--fleet", "--for", "1h", "--until", "2099-01-01T00:00:00Z"}, {"pause", ""}, {"resume", ""},
		{"pause", "acme", "--fleet"}, {"resume", "acme", "--fleet"}, {"pause", "--list", "--fleet"},
		{"pause", "acme", "--list"}, {"pause", "--list", "--for", "1h"}, {"pause", "--list", "--reason", "why"},
	} {
		ended := steer(t, url, args...)
		require.Equal(t, 2, ended.code, "%v: %s", args, ended)
		require.Empty(t, ended.out)
	}
	require.Empty(t, steered[[]pause](t, url, "pause", "--list"))
	until := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
	require.Equal(t, until, steered[[]pause](t, url, "pause", "--fleet", "--until", until.Format(time.RFC3339))[0].Until)
	table := steer(t, url, "pause", "--list")
	require.Contains(t, table.out, "the whole fleet  "+until.Format(time.RFC3339))
	unknown := steer(t, url, "resume", "acme")
	require.Equal(t, 0, unknown.code)
	require.Contains(t, unknown.errOut, "tenant acme is not paused")
	require.Contains(t, unknown.errOut, "the whole fleet is still paused until")
	require.Equal(t, "the whole fleet goes on; it was paused until "+until.Format(time.RFC3339)+"\n", steer(t, url, "resume").out)
	require.Empty(t, steered[[]pause](t, url, "pause", "--list"))
	meant := steer(t, url, "pause", "--for", "1m")
	require.Equal(t, 0, meant.code, "scripts have always meant the fleet")
	require.Contains(t, meant.errOut, "no tenant given: the whole fleet\n")
	require.Contains(t, meant.out, "the whole fleet")
}
