package e2e_test

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// stopMargin is by how much a worker may outlive its drain timeout here. The docs say
// 8 s, of which two are for the telemetry that this one does not have, and tell people
// to kill it after 10 s.
const stopMargin = 6 * time.Second

// Whoever stops workers may do so because NATS is gone, or hangs: the worker ends in
// time then, too, with calls in hand that never end and others that are answered when
// nobody can store it. What it had is delivered again.
func TestAWorkerStopsInTimeWithoutNATS(t *testing.T) {
	fleetTest(t)
	for name, signal := range map[string]syscall.Signal{"killed": syscall.SIGKILL, "stopped": syscall.SIGSTOP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			model := modelServer(t)
			address := freeAddress(t)
			url := "nats://" + address
			nats := command{
				program: "worker",
				args:    []string{"run", "--embedded", "--store-dir", filepath.Join(t.TempDir(), "store"), "--nats-url", url, "--namespace", "idle", "--provider", "offline", "--listen", ""},
			}.start(t)
			eventually(t, "NATS answers", func() bool { return strings.Contains(nats.output.String(), "working") })

			const drain = time.Second
			model.OnMarker("of hangs", modelserver.Behaviour{Hang: true})
			model.OnMarker("of late", modelserver.Behaviour{DelayMS: 700})
			w := worker(t, url, model, "--drain-timeout", drain.String(), "--listen", freeAddress(t), "--ack-wait", "30s")
			c := connect(t, url)
			eventually(t, "the worker has made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
			c.backlog("hangs", 4)
			c.backlog("late", 4)
			require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 8 }))
			require.NoError(t, nats.Signal(signal))
			if signal == syscall.SIGKILL {
				_, err := nats.Wait(patience)
				require.NoError(t, err)
			}
			begun := time.Now()
			require.Equal(t, 0, w.stop())
			took := time.Since(begun)
			t.Logf("stopped %v after SIGTERM with a drain timeout of %v", took, drain)
			require.Less(t, took, drain+stopMargin)
		})
	}
}

// A call that is answered within the drain timeout was paid for: it is stored before
// the worker goes. The rest goes back.
func TestWhatWasPaidForIsStoredWhenAWorkerStops(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	model.OnMarker("of late", modelserver.Behaviour{DelayMS: 700})
	model.OnMarker("of hangs", modelserver.Behaviour{Hang: true})
	w := worker(t, url, model, "--drain-timeout", "1s")
	c := connect(t, url)
	eventually(t, "the worker has made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
	c.backlog("hangs", 4)
	c.backlog("late", 4)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 8 }))
	begun := time.Now()
	require.Equal(t, 0, w.stop())
	require.Less(t, time.Since(begun), time.Second+stopMargin)
	require.Equal(t, 4, c.messages("WEIR_RESULTS"), "what finished within the drain timeout")
	require.Equal(t, 4, c.messages("WEIR_CHUNKS"), "the rest was given back")
	require.Zero(t, c.messages("WEIR_DEAD"))
}
