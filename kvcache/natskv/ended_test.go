package natskv_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// A14: whatever waits for a server that has gone ends with its caller's context, and
// says so, also where that was given a cause. The cache's own time limit is nobody's
// deadline.
func TestA14WhoLeavesIsToldSoWhateverTheCause(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	js := connect(t, s.ClientURL())
	used := open(t, js, patient)
	_, err := used.Admit(t.Context(), "k", kvcache.Ask{Quota: perMinute(4)})
	require.NoError(t, err)
	require.NoError(t, used.RecordHit(t.Context(), "k", time.Now(), time.Hour))
	unused := open(t, js, patient) // its streams of hits and ledgers have yet to be made
	quick := open(t, js, natskv.WithTimeout(300*time.Millisecond))
	s.Shutdown()
	s.WaitForShutdown()

	operations := map[string]func(*natskv.Cache, context.Context) error{
		"get":       func(c *natskv.Cache, ctx context.Context) error { _, _, err := c.Get(ctx, "k"); return err },
		"set":       func(c *natskv.Cache, ctx context.Context) error { return c.Set(ctx, "k", "v", time.Hour) },
		"increment": func(c *natskv.Cache, ctx context.Context) error { _, err := c.Increment(ctx, "k", 0); return err },
		"delete":    func(c *natskv.Cache, ctx context.Context) error { return c.Delete(ctx, "k") },
		"load": func(c *natskv.Cache, ctx context.Context) error {
			return c.Load(ctx, []kvcache.Entry{{Key: "a"}, {Key: "b"}})
		},
		"swap": func(c *natskv.Cache, ctx context.Context) error {
			_, err := c.Swap(ctx, []kvcache.Change{{Key: "a", Value: "1"}, {Key: "b", Value: "1"}})
			return err
		},
		"record hit": func(c *natskv.Cache, ctx context.Context) error { return c.RecordHit(ctx, "k", time.Now(), time.Hour) },
		"count hits": func(c *natskv.Cache, ctx context.Context) error {
			_, err := c.CountHits(ctx, "k", time.Now())
			return err
		},
		"admit": func(c *natskv.Cache, ctx context.Context) error {
			_, err := c.Admit(ctx, "k", kvcache.Ask{Quota: perMinute(4)})
			return err
		},
		"settle": func(c *natskv.Cache, ctx context.Context) error { return c.Settle(ctx, "k", 1, 5) },
		"cool":   func(c *natskv.Cache, ctx context.Context) error { return c.Cool(ctx, "k", time.Second) },
		"peek":   func(c *natskv.Cache, ctx context.Context) error { _, err := c.Peek(ctx, "k", perMinute(4)); return err },
		"ensure": func(c *natskv.Cache, ctx context.Context) error { _, err := c.Ensure(ctx); return err },
		"erase":  func(c *natskv.Cache, ctx context.Context) error { return c.Erase(ctx, "k") },
		"open": func(_ *natskv.Cache, ctx context.Context) error {
			_, err := natskv.Open(ctx, js, "another", patient)
			return err
		},
		"watch": func(c *natskv.Cache, ctx context.Context) error {
			return c.Watch(ctx, []string{"k"}, func(kvcache.Entry) {})
		},
	}
	cause := errors.New("a sibling has failed")
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []*natskv.Cache{used, unused} {
				ctx, leave := context.WithCancelCause(t.Context())
				stop := time.AfterFunc(10*time.Millisecond, func() { leave(cause) })
				err := operation(c, ctx)
				require.ErrorIs(t, err, context.Canceled)
				stop.Stop()
				leave(nil)

				ctx, end := context.WithTimeoutCause(t.Context(), 10*time.Millisecond, cause)
				err = operation(c, ctx)
				end()
				require.ErrorIs(t, err, context.DeadlineExceeded)
			}
			if name == "open" || name == "watch" {
				return // the one has a timeout of its own, the other none
			}
			err := operation(quick, t.Context())
			require.ErrorIs(t, err, kvcache.ErrUnavailable)
			require.NotErrorIs(t, err, context.DeadlineExceeded)
		})
	}
}
