package natskv_test

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// hears returns what a watch of key tells, until the test or the watch ends.
func hears(t *testing.T, c *natskv.Cache, key string) (news <-chan kvcache.Entry, stop func() error) {
	ctx, cancel := context.WithCancel(t.Context())
	told, done := make(chan kvcache.Entry, 100), make(chan error, 1)
	go func() { done <- c.Watch(ctx, []string{key}, func(e kvcache.Entry) { told <- e }) }()
	return told, func() error { cancel(); return <-done }
}

// next waits until the value is told, or nothing.
func next(t *testing.T, news <-chan kvcache.Entry, value string, present bool) kvcache.Entry {
	t.Helper()
	patience := time.After(30 * time.Second)
	for {
		select {
		case e := <-news:
			if e.Value == value && e.Present == present {
				return e
			}
		case <-patience:
			require.FailNow(t, "not told", value)
		}
	}
}

// What happened while the server was away is told once it is back.
func TestWatchOutlivesAnOutage(t *testing.T) {
	dir, port := t.TempDir(), freePorts(t, 1)[0]
	start := func() *server.Server {
		return startServer(t, func(o *server.Options) { o.Port, o.StoreDir = port, dir })
	}
	s := start()
	c := open(t, connect(t, s.ClientURL()), natskv.WithTimeout(patience))
	news, stop := hears(t, c, "k")
	next(t, news, "", false)
	require.NoError(t, c.Set(t.Context(), "k", "before", 0))
	next(t, news, "before", true)
	for _, value := range []string{"once", "twice"} {
		s.Shutdown()
		s.WaitForShutdown()
		s = start()
		require.Eventually(t, func() bool { return c.Set(t.Context(), "k", value, 0) == nil }, 20*time.Second, 10*time.Millisecond)
		next(t, news, value, true)
	}
	require.ErrorIs(t, stop(), context.Canceled)
}

// A bucket that was removed and made anew, with lower sequences, is watched on.
func TestWatchFollowsABucketMadeAnew(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	c, err := natskv.Open(ctx, js, "anew")
	require.NoError(t, err)
	for range 10 {
		require.NoError(t, c.Set(ctx, "k", "old", 0))
	}
	news, stop := hears(t, c, "k")
	old := next(t, news, "old", true)
	require.NoError(t, js.DeleteStream(ctx, "KV_anew"))
	again, err := natskv.Open(ctx, js, "anew")
	require.NoError(t, err)
	next(t, news, "", false)
	require.NoError(t, again.Set(ctx, "k", "new", 0))
	require.NotEqual(t, old.Version, next(t, news, "new", true).Version)
	require.ErrorIs(t, stop(), context.Canceled)
}

// Operators and their tools are heard too, and nothing is left at the server.
func TestWatchHearsOperatorsAndLeavesNoConsumer(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	c, err := natskv.Open(ctx, js, "operated")
	require.NoError(t, err)
	news, stop := hears(t, c, "default.state")
	next(t, news, "", false)
	bucket, err := js.KeyValue(ctx, "operated")
	require.NoError(t, err)
	_, err = bucket.PutString(ctx, "default.state", "open")
	require.NoError(t, err)
	next(t, news, "open", true)
	require.NoError(t, bucket.Delete(ctx, "default.state"))
	next(t, news, "", false)
	_, err = bucket.Create(ctx, "default.state", []byte("short"), jetstream.KeyTTL(time.Second))
	require.NoError(t, err)
	next(t, news, "short", true)
	next(t, news, "", false)
	require.ErrorIs(t, stop(), context.Canceled)

	stream, err := js.Stream(ctx, "KV_operated")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		info, err := stream.Info(ctx)
		return err == nil && info.State.Consumers == 0
	}, 10*time.Second, 10*time.Millisecond, "a watch leaves its consumer behind")
}

// A watch that cannot begin says so in time.
func TestWatchThatCannotBegin(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	c, err := natskv.Open(t.Context(), js, "missing", natskv.WithTimeout(patience))
	require.NoError(t, err)
	require.NoError(t, js.DeleteStream(t.Context(), "KV_missing"))
	err = c.Watch(t.Context(), []string{"k"}, func(kvcache.Entry) { t.Error("told something") })
	require.ErrorIs(t, err, kvcache.ErrUnavailable)
	require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
}
