package e2e_test

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// deep is how many chunks of a throttled tenant wait in front of another's.
var deep = flag.Int("deep", 5000, "chunks of the throttled tenant")

// backlog publishes n chunks of a tenant as any client would.
func (c client) backlog(tenant string, n int) {
	c.t.Helper()
	for i := range n {
		_, err := c.js.PublishAsync("weir.chunks."+tenant, fmt.Appendf(nil, `{"document_id":"%s-%d","text":"Ada %d of %s met Charles Babbage."}`, tenant, i, i, tenant),
			jetstream.WithStallWait(patience))
		require.NoError(c.t, err)
	}
	select {
	case <-c.js.PublishAsyncComplete():
	case <-time.After(patience):
		require.FailNow(c.t, "the stream does not take the backlog")
	}
}

// deliveries is how often chunks of the tenant were handed to workers.
func (c client) deliveries(tenant string) int {
	c.t.Helper()
	lane, err := c.js.Consumer(c.t.Context(), "WEIR_CHUNKS", "weir_chunks_"+tenant)
	require.NoError(c.t, err)
	return int(lane.CachedInfo().Delivered.Consumer)
}

// ready starts workers and waits until the streams are there.
func ready(t *testing.T, url string, model *modelserver.Server, n int, flags ...string) client {
	t.Helper()
	c := connect(t, url)
	for range n {
		worker(t, url, model, flags...)
	}
	eventually(t, "the workers have made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
	return c
}

// Promises 1 and 2: the whole allowance is used and not more, and hardly anything is
// delivered that has to be refused.
func TestAThrottledFleetDeliversWhatItCanStart(t *testing.T) {
	skipShort(t) // beside no other test of fleets: it goes by time
	url, model := natsServer(t), modelServer(t)
	model.Default(modelserver.Behaviour{DelayMS: 20})
	c := ready(t, url, model, 4, "--rpm", "50", "--window", "5s")
	c.backlog("acme", 400)
	eventually(t, "the first window is used", func() bool { return model.Stats().Requests >= 50 })
	eventually(t, "three more windows", func() bool { return model.Stats().Requests >= 200 })
	stats := model.Stats()
	took := stats.Last.Sub(stats.First)
	done := stats.Requests
	deliveries := c.deliveries("acme")
	t.Logf("%d calls in %v, %d deliveries: %.2f per chunk; most in a window %d", done, took, deliveries, float64(deliveries)/float64(done), model.MaxInWindow(5*time.Second, ""))
	// A call needs a moment from its admission to its arrival.
	require.LessOrEqual(t, model.MaxInWindow(5*time.Second-200*time.Millisecond, ""), 50)
	// How much of the allowance is used to the percent is for the scenarios of internal/chaos,
	// which have the machine to themselves.
	require.LessOrEqual(t, took, 17*time.Second, "the allowance is used")
	require.LessOrEqual(t, float64(deliveries), 1.15*float64(done))
}

// Promise 2: whoever is throttled costs nobody else anything.
func TestADeepBacklogOfOneTenantDoesNotSlowAnother(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	c := ready(t, url, model, 2, "--rpm", "100", "--window", "60s")
	c.backlog("deep", *deep)
	eventually(t, "the deep tenant is throttled", func() bool { return model.Stats().Requests == 100 })

	var starts []time.Duration
	for i := range 20 {
		text := fmt.Sprintf("Grace %d met Howard Aiken.", i)
		_, err := c.js.Publish(t.Context(), "weir.chunks.quick", fmt.Appendf(nil, `{"document_id":"q%d","text":%q}`, i, text))
		require.NoError(t, err)
		stored := time.Now()
		require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests == 100+i+1 }))
		records := model.Records()
		last := records[len(records)-1]
		require.True(t, strings.Contains(last.Text, text))
		starts = append(starts, last.At.Sub(stored))
	}
	slices.Sort(starts)
	t.Logf("behind %d chunks, from stored to the model: p50 %v, most %v; deliveries of the deep tenant %d", *deep, starts[10], starts[19], c.deliveries("deep"))
	require.LessOrEqual(t, starts[10], 100*time.Millisecond)
	require.LessOrEqual(t, c.deliveries("deep"), 115)
}

// Promise 3: a dead server is left alone, and afterwards all is done without
// another failure.
func TestADeadServerIsLeftAlone(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.Default(modelserver.Behaviour{Status: 503, DelayMS: 20})
	const recovery = 2 * time.Second
	c := ready(t, url, model, 4, "--concurrency", "2", "--max-retries", "0", "--failure-threshold", "5", "--recovery-timeout", recovery.String(), "--max-attempts", "50")
	c.backlog("acme", 200)
	circuits, err := c.js.KeyValue(t.Context(), "weir_circuit")
	require.NoError(t, err)
	eventually(t, "the circuit opens", func() bool {
		state, err := circuits.Get(t.Context(), "default.state")
		return err == nil && string(state.Value()) == "open" && model.Stats().InFlight == 0
	})
	first := model.Stats().Requests
	require.LessOrEqual(t, first, 13)
	begun := time.Now()
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests >= first+3 }))
	probes := time.Since(begun)
	require.GreaterOrEqual(t, probes, 2*recovery, "one call per recovery timeout")
	require.Less(t, probes, 4*recovery+2*time.Second, "and not fewer")

	model.Default(modelserver.Behaviour{})
	failed := model.Stats().Statuses[503]
	eventually(t, "everything is done", func() bool { return c.messages("WEIR_RESULTS") == 200 })
	require.LessOrEqual(t, model.Stats().Statuses[503]-failed, 1, "no other failure than a probe that was under way")
	require.Zero(t, c.messages("WEIR_DEAD"))
	t.Logf("%d calls until the circuit was open, 3 probes in %v; deliveries per chunk %.2f", first, probes, float64(c.deliveries("acme"))/200)
}

// Limits that an operator grants a tenant are followed by a running fleet, up and
// down.
func TestAFleetFollowsATenantsLimits(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	c := ready(t, url, model, 2, "--rpm", "5", "--window", "60s")
	c.backlog("acme", 200)
	eventually(t, "the flags' limit is used up", func() bool { return model.Stats().Requests == 5 })
	bucket, err := c.js.KeyValue(t.Context(), "weir_limits")
	require.NoError(t, err)
	_, err = bucket.PutString(t.Context(), "acme", `{"rpm":60}`)
	require.NoError(t, err)
	granted := time.Now()
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests > 5 }))
	t.Logf("followed after %v", time.Since(granted))
	require.Less(t, time.Since(granted), 2*time.Second+soon)
	eventually(t, "the new limit is used up", func() bool { return model.Stats().Requests == 60 })
	_, err = bucket.PutString(t.Context(), "acme", `not JSON`)
	require.NoError(t, err)
	require.Never(t, func() bool { return model.Stats().Requests > 60 }, 2*time.Second, 50*time.Millisecond)
}
