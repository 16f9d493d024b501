package consumer_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// A limit that was set too small by mistake costs nothing but time: no dead letters,
// no attempts, no storm of deliveries, one line in the log; and once it is corrected
// the backlog is done.
func TestABacklogThatIsTooLargeForTheWindowWaits(t *testing.T) {
	t.Parallel()
	for name, refusal := range map[string]error{
		"limiter":   &resilience.RequestExceedsWindow{Tokens: 9000, Limit: 5, Window: time.Second},
		"admission": fmt.Errorf("call: %w", &admission.RequestExceedsTokenWindow{Tokens: 9000, Limit: 5}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const backlog = 200
			w := newWorld(t)
			var corrected atomic.Bool
			x := scripted(func(context.Context, int, extraction.Chunk) (extraction.Extraction, error) {
				if !corrected.Load() {
					return extraction.Extraction{}, refusal
				}
				return found(), nil
			})
			for i := range backlog {
				_, err := w.js.PublishAsync(w.names.ChunkSubject("acme"), []byte(chunkJSON("d", i, "Ada")))
				require.NoError(t, err)
			}
			<-w.js.PublishAsyncComplete()
			r := w.start(x)
			// Turns are 20 ms apart, then 40, and so on: the seventh comes after a second.
			require.Eventually(t, func() bool { return len(x.made()) > 4*4 }, patience, tick)
			require.Never(t, func() bool { return len(x.made()) > 4*10 }, time.Second, tick)
			refused := 0
			require.Eventually(t, func() bool {
				refused = w.delivered("acme")
				return uint64(refused) == r.Status().Outcomes["exceeds_window"]
			}, patience, tick)
			require.LessOrEqual(t, refused, 4*10)
			require.Empty(t, w.dead())
			require.Equal(t, backlog, w.waiting(w.names.ChunkStream()))
			require.Equal(t, 1, strings.Count(w.log.String(), "level=WARN"), w.log)
			require.Contains(t, w.log.String(), "raise --tpm")
			require.Contains(t, w.log.String(), "tenant=acme tokens=9000 tpm=5")

			corrected.Store(true)
			r.Recheck()
			require.Eventually(t, func() bool { return w.waiting(w.names.ChunkStream()) <= 4*12 }, patience, tick)
			for _, result := range w.results()[:10] {
				require.Equal(t, 1, result.Attempts)
			}
		})
	}
}

// A single chunk that is too large does not stand in the way of the tenant's others.
func TestOneThatIsTooLargeHoldsUpNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(scripted(func(_ context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		if c.Index == 0 {
			return extraction.Extraction{}, &resilience.RequestExceedsWindow{Tokens: 9000, Limit: 1000, Window: time.Minute}
		}
		return found(), nil
	}))
	w.sendMany(40)
	begun := time.Now()
	require.Eventually(t, func() bool { return w.waiting(w.names.ChunkStream()) == 1 }, patience, tick)
	require.Less(t, time.Since(begun), 8*time.Second, "the others do not wait for the one")
	require.Len(t, w.results(), 39)
	require.Empty(t, w.dead())
}
