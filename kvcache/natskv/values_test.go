package natskv_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// handMade opens a cache in a bucket that an operator looks at too.
func handMade(t *testing.T) (*natskv.Cache, jetstream.KeyValue) {
	t.Helper()
	js := connect(t, startServer(t).ClientURL())
	kv, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "circuit", LimitMarkerTTL: time.Second})
	require.NoError(t, err)
	c, err := natskv.Open(t.Context(), js, "circuit")
	require.NoError(t, err)
	return c, kv
}

// Dashboards and `nats kv get` read what the cache writes: plain text under the
// key's own name.
func TestValuesArePlainTextForEverybody(t *testing.T) {
	c, kv := handMade(t)
	ctx := t.Context()
	require.NoError(t, c.Set(ctx, "default.state", "open", 0))
	_, err := c.Increment(ctx, "default.failures", time.Minute)
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "a/b=C-_9.x", "plain", 0))
	for key, want := range map[string]string{"default.state": "open", "default.failures": "1", "a/b=C-_9.x": "plain"} {
		e, err := kv.Get(ctx, key)
		require.NoError(t, err)
		require.Equal(t, want, string(e.Value()))
	}
	require.NoError(t, c.Delete(ctx, "default.state"))
	_, err = kv.Get(ctx, "default.state")
	require.ErrorIs(t, err, jetstream.ErrKeyNotFound)
}

// An operator may write and delete keys by hand.
func TestValuesWrittenByHandCount(t *testing.T) {
	c, kv := handMade(t)
	ctx := t.Context()
	_, err := kv.PutString(ctx, "state", "open")
	require.NoError(t, err)
	value, ok, err := c.Get(ctx, "state")
	require.NoError(t, err)
	require.True(t, ok)
	require.Equal(t, "open", value)

	e := []kvcache.Entry{{Key: "state"}}
	require.NoError(t, c.Load(ctx, e))
	require.NoError(t, kv.Delete(ctx, "state"))
	swapped, err := c.Swap(ctx, []kvcache.Change{{Key: "state", Version: e[0].Version, Value: "closed"}})
	require.NoError(t, err)
	require.False(t, swapped)
	require.NoError(t, c.Load(ctx, e))
	require.False(t, e[0].Present)

	// A counter made by hand with a ttl keeps its end.
	_, err = kv.Create(ctx, "n", []byte("41"), jetstream.KeyTTL(2*time.Second))
	require.NoError(t, err)
	began := time.Now()
	n, err := c.Increment(ctx, "n", time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 42, n)
	require.Eventually(t, func() bool {
		_, ok, err := c.Get(ctx, "n")
		require.NoError(t, err)
		return !ok
	}, 10*time.Second, 20*time.Millisecond)
	require.Less(t, time.Since(began), 8*time.Second)
}

// `nats kv watch` shows every key of a swap, one after the other with nothing
// in between, and what was deleted or has expired as a purge.
func TestWatchersSeeAllOfASwap(t *testing.T) {
	c, kv := handMade(t)
	ctx := t.Context()
	require.NoError(t, c.Set(ctx, "c", "old", 0))
	w, err := kv.WatchAll(ctx, jetstream.UpdatesOnly())
	require.NoError(t, err)
	defer func() { require.NoError(t, w.Stop()) }()

	e := []kvcache.Entry{{Key: "a"}, {Key: "b"}, {Key: "c"}}
	require.NoError(t, c.Load(ctx, e))
	swapped, err := c.Swap(ctx, []kvcache.Change{
		{Key: "a", Version: e[0].Version, Value: "open"},
		{Key: "b", Version: e[1].Version, Value: "soon gone", TTL: 100 * time.Millisecond},
		{Key: "c", Version: e[2].Version, Delete: true},
	})
	require.NoError(t, err)
	require.True(t, swapped)
	swapped, err = c.Swap(ctx, []kvcache.Change{
		{Key: "a", Version: e[0].Version, Value: "never seen"},
		{Key: "d", Value: "never seen"},
	})
	require.NoError(t, err)
	require.False(t, swapped)

	type event struct {
		key, value string
		op         jetstream.KeyValueOp
	}
	var got []event
	revisions := []uint64{}
	for len(got) < 4 {
		select {
		case u := <-w.Updates():
			got = append(got, event{u.Key(), string(u.Value()), u.Operation()})
			revisions = append(revisions, u.Revision())
		case <-time.After(10 * time.Second):
			t.Fatalf("only saw %v", got)
		}
	}
	require.Equal(t, []event{
		{"a", "open", jetstream.KeyValuePut},
		{"b", "soon gone", jetstream.KeyValuePut},
		{"c", "", jetstream.KeyValuePurge},
		{"b", "", jetstream.KeyValuePurge},
	}, got)
	require.Equal(t, []uint64{revisions[0] + 1, revisions[0] + 2}, revisions[1:3])
}

// Nothing that has expired or was deleted stays in the bucket for ever.
func TestGarbageIsCollected(t *testing.T) {
	c, kv := handMade(t)
	ctx := t.Context()
	require.NoError(t, c.Set(ctx, "short", "v", 10*time.Millisecond))
	_, err := c.Increment(ctx, "n", 10*time.Millisecond)
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		status, err := kv.Status(ctx)
		require.NoError(t, err)
		return status.(*jetstream.KeyValueBucketStatus).StreamInfo().State.Msgs == 0
	}, 20*time.Second, 50*time.Millisecond)
	require.NoError(t, c.Delete(ctx, "k"))
	e, err := kv.History(ctx, "k")
	require.NoError(t, err)
	require.Len(t, e, 1)
	require.Equal(t, jetstream.KeyValuePurge, e[0].Operation())
}

// What a local clock says has no say in when something ends.
func TestTTLCountsByTheServersClock(t *testing.T) {
	url := startServer(t).ClientURL()
	ahead := func() time.Time { return time.Now().Add(time.Hour) }
	behind := func() time.Time { return time.Now().Add(-time.Hour) }
	a, err := natskv.Open(t.Context(), connect(t, url), "b", natskv.WithClock(ahead))
	require.NoError(t, err)
	b, err := natskv.Open(t.Context(), connect(t, url), "b", natskv.WithClock(behind))
	require.NoError(t, err)
	ctx := t.Context()
	for _, pair := range [][2]*natskv.Cache{{a, b}, {b, a}} {
		const ttl = 700 * time.Millisecond
		began := time.Now()
		require.NoError(t, pair[0].Set(ctx, "k", "v", ttl))
		written := time.Now()
		for {
			asked := time.Now()
			_, ok, err := pair[1].Get(ctx, "k")
			require.NoError(t, err)
			if !ok {
				require.GreaterOrEqual(t, time.Since(began), ttl)
				break
			}
			require.Less(t, asked.Sub(written), ttl+250*time.Millisecond)
			time.Sleep(5 * time.Millisecond) // between looks
		}
	}
}

// A server takes only so many batches at once. Who comes too late waits.
func TestSwapsWaitForEachOther(t *testing.T) {
	js := connect(t, startServer(t, func(o *server.Options) { o.JetStreamLimits.MaxBatchInflightPerStream = 1 }).ClientURL())
	c := open(t, js)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			key := string(rune('a' + i))
			swapped, err := c.Swap(context.Background(), []kvcache.Change{{Key: key + "1", Value: "v"}, {Key: key + "2", Value: "v"}})
			if err != nil || !swapped {
				t.Errorf("swap %d: %v %v", i, swapped, err)
			}
		})
	}
	wg.Wait()
}
