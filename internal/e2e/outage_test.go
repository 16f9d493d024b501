package e2e_test

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	proc "github.com/weirkeeper/weirkeeper/internal/process"
)

// outage is how long the broker is away: longer than any request waits for its
// answer. `make chaos` has longer ones.
const outage = 7 * time.Second

// The broker goes away with work in every hand, and comes back: no worker ends or
// spins, all go on by themselves, every chunk has one result and no failed attempt.
func TestTheBrokerGoesAwayAndComesBack(t *testing.T) {
	fleetTest(t)
	dir, model := t.TempDir(), modelServer(t)
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	address, err := url.Parse(server.URL())
	require.NoError(t, err)
	port, err := strconv.Atoi(address.Port())
	require.NoError(t, err)

	model.Default(modelserver.Behaviour{DelayMS: 50})
	c := connect(t, server.URL())
	addresses := []string{freeAddress(t), freeAddress(t)}
	var workers []*process
	for _, listen := range addresses {
		workers = append(workers, worker(t, server.URL(), model, "--listen", listen, "--max-attempts", "1", "--rpm", "10000"))
	}
	eventually(t, "the workers have made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
	c.backlog("acme", 400)
	eventually(t, "work is going on", func() bool { return c.messages("WEIR_RESULTS") >= 50 })
	require.NoError(t, server.Close())
	for _, listen := range addresses {
		eventually(t, "the worker says so, and that a restart would not help", func() bool {
			ready, body := get(listen, "/readyz")
			live, _ := get(listen, "/healthz")
			return ready == http.StatusServiceUnavailable && strings.Contains(body, "not connected") && live == http.StatusOK
		})
	}
	eventually(t, "what was in hand has come to an end", func() bool { return model.Stats().InFlight == 0 })
	asked := model.Stats().Requests
	var before []time.Duration
	var lines []int
	for _, w := range workers {
		used, err := w.CPU()
		require.True(t, err == nil || errors.Is(err, proc.ErrUnsupported), err)
		before, lines = append(before, used), append(lines, strings.Count(w.output.String(), "\n"))
	}
	over := time.Now().Add(outage)
	eventually(t, "the outage is over", func() bool { return time.Now().After(over) })
	for i, w := range workers {
		if used, err := w.CPU(); err == nil {
			t.Logf("processor time in %v without a broker: %v", outage, used-before[i])
			require.Less(t, used-before[i], outage/5, "it spins")
		}
		said := strings.Count(w.output.String(), "\n") - lines[i]
		require.Less(t, said, 20+10*int(outage/time.Second), "it floods its log")
	}
	require.LessOrEqual(t, model.Stats().Requests, asked+16, "nothing is asked whose result nobody can keep")

	again, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir, Port: port})
	require.NoError(t, err)
	t.Cleanup(func() { _ = again.Close() })
	back := time.Now()
	for _, listen := range addresses {
		eventually(t, "the worker is ready again", func() bool {
			status, _ := get(listen, "/readyz")
			return status == http.StatusOK
		})
	}
	t.Logf("ready %v after the broker was back", time.Since(back))
	require.Less(t, time.Since(back), 20*time.Second)
	c = connect(t, again.URL())
	eventually(t, "all is done", func() bool { return c.messages("WEIR_RESULTS") == 400 && c.messages("WEIR_CHUNKS") == 0 })
	require.Zero(t, c.messages("WEIR_DEAD"))
	for _, r := range c.results() {
		require.Equal(t, 1, r.Attempts)
	}
	for _, w := range workers {
		require.Equal(t, 0, w.stop())
	}
}

// Somebody deletes everything that the fleet has on its server, at once and while
// it works: all of it is back within 10 seconds, with a word in the log, and the
// fleet works.
func TestEverythingIsDeletedUnderAFleet(t *testing.T) {
	fleetTest(t)
	url, model := natsServer(t), modelServer(t)
	c := connect(t, url)
	workers := []*process{worker(t, url, model, "--rpm", "10000"), worker(t, url, model, "--rpm", "10000")}
	eventually(t, "the workers have made the streams", func() bool { return c.exists("WEIR_DEAD") && c.exists("WEIR_CHUNKS") })
	c.backlog("acme", 10)
	eventually(t, "the first are done", func() bool { return c.messages("WEIR_RESULTS") == 10 })
	// Or one would make for the first time what is deleted.
	eventually(t, "both workers are there", func() bool { return c.messages("KV_weir_workers") == 2 })

	var names []string
	for name := range c.stored() {
		names = append(names, name)
	}
	for _, name := range []string{"WEIR_CHUNKS", "WEIR_DOCUMENTS", "WEIR_RESULTS", "WEIR_DEAD", "KV_weir_limits", "KV_weir_pause", "KV_weir_circuit", "KV_weir_attempts", "KV_weir_workers", "LEDGER_weir_ratelimit"} {
		require.Contains(t, names, name)
	}
	model.OnMarker("of torn", modelserver.Behaviour{Hang: true})
	c.backlog("torn", 4)
	require.NoError(t, model.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 4 }))
	said := make([]int, len(workers)) // so far
	for i, w := range workers {
		said[i] = len(w.output.String())
	}
	begun := time.Now()
	for _, name := range names {
		require.NoError(t, c.js.DeleteStream(t.Context(), name))
	}
	model.Release()
	for _, name := range names {
		eventually(t, name+" is back", func() bool { return c.exists(name) })
	}
	eventually(t, "the consumer of documents is back", func() bool {
		_, err := c.js.Consumer(t.Context(), "WEIR_DOCUMENTS", "weir_documents")
		return err == nil
	})
	t.Logf("%d streams were back after %v", len(names), time.Since(begun))
	require.Less(t, time.Since(begun), 10*time.Second)
	for _, name := range append(names, "weir_documents") {
		eventually(t, "a word about "+name, func() bool {
			for i, w := range workers {
				for line := range strings.SplitSeq(w.output.String()[said[i]:], "\n") {
					if strings.Contains(line, "was missing and has been created again") && strings.Contains(line, strings.TrimPrefix(name, "KV_")) {
						return true
					}
				}
			}
			return false
		})
	}
	c.backlog("after", 20)
	require.NoError(t, c.nc.Publish("weir.documents.after", []byte("Grace met Howard.")))
	eventually(t, "the fleet works", func() bool {
		done := 0
		for _, r := range c.results() {
			if r.TenantID == "after" {
				done++
			}
		}
		return done == 21
	})
	require.Zero(t, c.messages("WEIR_DEAD"))
	for _, w := range workers {
		require.Equal(t, 0, w.stop())
	}
}
