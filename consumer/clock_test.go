package consumer_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
)

// The machine's clock is set back and forth by 10 seconds all the time: nothing is
// delivered once more than it has to be, no attempt is counted that was none, nothing
// waits longer, and no result was finished before it was begun.
func TestAClockThatJumpsDecidesNothing(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var looks atomic.Int64
	steps := []time.Duration{0, 10 * time.Second, -10 * time.Second}
	x := scripted(func(_ context.Context, n int, _ extraction.Chunk) (extraction.Extraction, error) {
		if n%5 == 4 {
			return extraction.Extraction{}, &extraction.ProviderError{Kind: extraction.KindUnavailable}
		}
		return found(), nil
	})
	r := w.start(x, func(c *consumer.Config) {
		c.MaxAttempts = 50
		c.Clock = func() time.Time { return time.Now().Round(0).Add(steps[looks.Add(1)%3]) }
	})
	begun := time.Now()
	w.sendMany(60)
	w.settled()
	took := time.Since(begun)
	results := w.results()
	require.Len(t, results, 60)
	require.Empty(t, w.dead())
	failed := 0
	for _, result := range results {
		failed += result.Attempts - 1
		spent := result.FinishedAt.Sub(result.StartedAt)
		require.GreaterOrEqual(t, spent, time.Duration(0))
		require.LessOrEqual(t, spent, took)
		require.WithinDuration(t, begun, result.StartedAt, took+11*time.Second)
	}
	require.Equal(t, len(x.made())/5, failed)
	require.Equal(t, 60+failed, w.delivered("acme"))
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
}
