package consumer_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
)

// takes sets how many messages a stream takes at most, -1 for any number. One that is
// full refuses.
func (w *world) takes(stream string, most int64) {
	w.t.Helper()
	s, err := w.js.Stream(w.t.Context(), stream)
	require.NoError(w.t, err)
	config := s.CachedInfo().Config
	config.MaxMsgs, config.Discard = most, jetstream.DiscardNew
	_, err = w.js.UpdateStream(w.t.Context(), config)
	require.NoError(w.t, err)
}

// What was paid for and cannot be stored is not paid for again and again: the worker
// begins no other chunk before a growing wait is over, and then one at a time. When
// something could be stored again it goes on as before, and nothing is lost.
func TestNothingIsBegunWhileResultsCannotBeStored(t *testing.T) {
	t.Parallel()
	const chunks, slots = 30, 4
	for name, c := range map[string]struct {
		stream string
		x      *script
	}{
		"results":      {"WEIR_RESULTS", failing()},
		"dead letters": {"WEIR_DEAD", always(&extraction.ProviderError{Kind: extraction.KindRefused})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.send("other", `{"text":"fills the stream"}`)
			filler := w.start(c.x)
			w.settled()
			filler.stop(t)
			w.takes(c.stream, 1)
			before := len(c.x.made())
			for i := range chunks {
				w.send(fmt.Sprintf("tenant%d", i%10), chunkJSON("d", i, fmt.Sprint("text ", i)))
			}
			r := w.start(c.x, func(cfg *consumer.Config) { cfg.Concurrency = slots })
			// The slots that were filled before anything was known, and one chunk after 2s
			// and 4s each. Put back after 2s each they would be dozens.
			calls := func() int { return len(c.x.made()) - before }
			require.Eventually(t, func() bool { return r.Status().Outcomes["store_unavailable"] >= slots+2 }, patience, tick)
			require.LessOrEqual(t, calls(), slots+2)
			require.Eventually(t, func() bool { return !r.Status().Ready() }, patience, tick)
			require.Contains(t, r.Status().Problem, "maximum messages exceeded")
			require.Equal(t, chunks, w.waiting(w.names.ChunkStream()))

			w.takes(c.stream, -1)
			w.settled()
			require.Equal(t, chunks+1, w.waiting(c.stream))
			require.LessOrEqual(t, calls(), chunks+slots+4)
			require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
		})
	}
}

// What one tenant's chunks come to cannot be stored, and that of others can: their
// success does not make the tenant's next chunk be asked about any sooner.
func TestATenantWhoseResultsCannotBeStoredWaitsForItself(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.js.Stream(t.Context(), w.names.ResultStream())
	require.NoError(t, err)
	x := failing()
	r := w.start(x)
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	config := s.CachedInfo().Config
	config.Subjects = []string{"weir.results.globex.*.*"}
	_, err = w.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	w.send("acme", chunkJSON("d", 0, "text"))
	var asked []time.Time
	for i := 0; len(asked) < 3; i++ {
		w.send("globex", chunkJSON("d", i, "text"))
		require.Eventually(t, func() bool { return w.waiting(w.names.ResultStream()) > i }, patience, tick)
		asked = nil
		for _, call := range x.made() {
			if call.tenant == "acme" {
				asked = append(asked, call.at)
			}
		}
	}
	require.GreaterOrEqual(t, asked[1].Sub(asked[0]), 2*time.Second)
	require.GreaterOrEqual(t, asked[2].Sub(asked[1]), 4*time.Second)
}

// A result that is larger than its stream takes is not asked for again: that would
// not make it smaller.
func TestResultLargerThanItsStreamTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, err := w.js.Stream(t.Context(), w.names.ResultStream())
	require.NoError(t, err)
	config := s.CachedInfo().Config
	config.MaxMsgSize = 100
	_, err = w.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	x := failing()
	w.start(x)
	w.send("acme", `{"text":"Ada"}`)
	dead := w.onlyDead()
	require.Equal(t, "malformed", dead.Kind)
	require.Contains(t, dead.Error, "max_msg_size of stream WEIR_RESULTS")
	require.Len(t, x.made(), 1)
}
