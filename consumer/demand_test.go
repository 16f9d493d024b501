package consumer_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
)

// Promise 2: whoever scales a fleet is told of tenants that more workers would help,
// and not of those that wait for their window or for the circuit.
func TestStatusTellsWhomMoreWorkersWouldHelp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	gate := &rules{server: &consumer.Allowance{Wait: time.Hour}}
	g := newGate()
	r := w.start(g, func(c *consumer.Config) { c.Gate, c.Concurrency = gate, 2 })
	demand := func() [2]int { s := r.Status(); return [2]int{s.TenantsReady, s.TenantsWaiting} }
	require.Equal(t, [2]int{}, demand(), "nothing is known to wait")

	w.sendTo20("throttled")
	w.sendTo20("first")
	w.sendTo20("second")
	require.Eventually(t, func() bool { return demand() == [2]int{0, 3} }, patience, tick, "the circuit is open")

	gate.set(func() {
		gate.server = nil
		gate.tenants = map[string]consumer.Allowance{"throttled": {Wait: time.Hour}}
	})
	g.waitFor(t, 2)
	require.Eventually(t, func() bool { return demand()[0] >= 2 }, patience, tick, "slots are all that is missing")
	require.Equal(t, 2, r.Status().ChunksInHand)
	close(g.open)
	require.Eventually(t, func() bool { return demand() == [2]int{0, 1} }, patience, tick, "only the window is waited for")
	require.Zero(t, w.delivered("throttled"))
}
