package e2e_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// inHand is how many chunks a worker works on; -1 if it does not say.
func inHand(address string) int {
	var told struct {
		Worker struct {
			Chunks int `json:"chunks_in_hand"`
		}
	}
	if _, body := get(address, "/snapshot"); json.Unmarshal([]byte(body), &told) != nil {
		return -1
	}
	return told.Worker.Chunks
}

// A worker that the operating system stops for longer than its ack wait, and than a
// chunk may take, comes back to work that another has done: every chunk has one
// result and no failed attempt, nothing is set aside, the calls that ran out of time
// meanwhile do not open the fleet's circuit, and the worker goes on.
func TestAWorkerStoppedByTheOperatingSystem(t *testing.T) {
	fleetTest(t)
	url, model, address := natsServer(t), modelServer(t), freeAddress(t)
	const deadline = 3 * time.Second
	flags := []string{"--ack-wait", "1s", "--chunk-deadline", deadline.String(), "--max-attempts", "1", "--max-retries", "0", "--failure-threshold", "1", "--recovery-timeout", "10m"}
	model.OnMarker("of acme", modelserver.Behaviour{Hang: true})
	model.OnMarker("of late", modelserver.Behaviour{DelayMS: 1000}) // answered while nobody listens
	c := connect(t, url)
	stopped := worker(t, url, model, append(flags, "--listen", address)...)
	eventually(t, "the worker has made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
	c.backlog("acme", 4)
	c.backlog("late", 4)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 8 }))
	require.NoError(t, stopped.Pause())
	since := time.Now()
	model.OnMarker("of acme")
	other := worker(t, url, model, flags...)
	eventually(t, "another does the work", func() bool {
		return c.messages("WEIR_RESULTS") == 8 && time.Since(since) > deadline+500*time.Millisecond
	})
	require.NoError(t, stopped.Resume())
	eventually(t, "the worker gives up what it had", func() bool { return inHand(address) == 0 })
	require.GreaterOrEqual(t, strings.Count(stopped.output.String(), "outcome=lost"), 4)
	require.Equal(t, 0, other.stop())

	require.Equal(t, 8, c.messages("WEIR_RESULTS"))
	require.Zero(t, c.messages("WEIR_CHUNKS"))
	require.Zero(t, c.messages("WEIR_DEAD"))
	for _, r := range c.results() {
		require.Equal(t, 1, r.Attempts)
	}
	circuits, err := c.js.KeyValue(t.Context(), "weir_circuit")
	require.NoError(t, err)
	_, err = circuits.Get(t.Context(), "default.state")
	require.True(t, errors.Is(err, jetstream.ErrKeyNotFound), "the circuit has never been anything but closed")

	c.backlog("next", 8)
	eventually(t, "it goes on, alone", func() bool { return c.messages("WEIR_RESULTS") == 16 })
	results, err := c.js.Stream(t.Context(), "WEIR_RESULTS")
	require.NoError(t, err)
	require.EqualValues(t, 16, results.CachedInfo().State.LastSeq, "no result was ever replaced")
	require.Equal(t, 0, stopped.stop())
}
