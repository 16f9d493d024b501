package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Stores are looked after like streams: what is created again is in the log, and
// one that stays away makes the worker not ready, with the reason.
func TestStoresAreLookedAfter(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var problem atomic.Pointer[error]
	var looks atomic.Int64
	r := w.start(failing(), func(c *consumer.Config) {
		c.EnsureStores = func(context.Context) ([]string, error) {
			if err := problem.Load(); err != nil {
				return nil, *err
			}
			if looks.Add(1) == 1 {
				return []string{"bucket of some store"}, nil
			}
			return nil, nil
		}
	})
	require.Eventually(t, func() bool {
		return strings.Contains(w.log.String(), `msg="was missing and has been created again" worker=test object="bucket of some store"`)
	}, patience, tick)
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	gone := errors.New("the bucket cannot be had")
	problem.Store(&gone)
	require.Eventually(t, func() bool { return strings.Contains(r.Status().Problem, "shared state: the bucket cannot be had") }, patience, tick)
	require.False(t, r.Status().Ready())
	require.NoError(t, w.js.DeleteStream(t.Context(), w.names.DeadStream())) // is still looked after
	require.Eventually(t, func() bool { return w.waiting(w.names.DeadStream()) == 0 }, patience, tick)
	problem.Store(nil)
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
}

// A store that is there and does not do, so that all work is put back, makes the
// worker not ready as well, until it does again.
func TestWorkerWhoseStoresRefuseIsNotReady(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var full atomic.Bool
	full.Store(true)
	r := w.start(scripted(func(context.Context, int, extraction.Chunk) (extraction.Extraction, error) {
		if full.Load() {
			return extraction.Extraction{}, fmt.Errorf("%w: maximum bytes exceeded", kvcache.ErrUnavailable)
		}
		return found(), nil
	}))
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	w.sendMany(2)
	require.Eventually(t, func() bool { return !r.Status().Ready() }, patience, tick)
	require.Contains(t, r.Status().Problem, "cannot be stored, and they are put back: kvcache: store unavailable: maximum bytes exceeded")
	full.Store(false)
	w.settled()
	require.Eventually(t, func() bool { return r.Status().Ready() }, patience, tick)
	require.Len(t, w.results(), 2)
	require.Empty(t, w.dead())
}
