package pauses

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/natstest"
	"github.com/weirkeeper/weirkeeper/internal/process"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const patience = 20 * time.Second // promised are 2, on a machine with nothing else to do

// A running fleet follows what is paused, resumed and over, also after the bucket
// was made anew, and takes no notice of garbage.
func TestFollowing(t *testing.T) {
	js := natstest.JetStream(t)
	names, err := wire.NewNames("")
	require.NoError(t, err)

	var log process.Log
	f := NewFollower(js, names, slog.New(slog.NewTextHandler(&log, nil)))
	changed, err := f.Look(t.Context())
	require.NoError(t, err, "no bucket yet")
	require.False(t, changed)
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	bucket, err := js.KeyValue(t.Context(), names.PauseBucket())
	require.NoError(t, err)

	put := func(p Pause) {
		value, err := p.Value()
		require.NoError(t, err)
		_, err = bucket.Put(t.Context(), p.Key(), value)
		require.NoError(t, err)
	}
	follows := func() {
		t.Helper()
		changed, err := f.Look(t.Context())
		require.NoError(t, err)
		require.True(t, changed)
	}

	for _, garbage := range []string{"fleet", "tenant.other", "tenant.=YWNtZQ", "acme"} {
		_, err = bucket.PutString(t.Context(), garbage, `{"until":"9999-12-31T23:59:59Z"}`)
		require.NoError(t, err)
	}
	put(Pause{Tenant: "a b", Until: time.Now().Add(time.Hour), Reason: "too dear"})
	follows()
	require.Zero(t, f.Fleet())
	require.InDelta(t, time.Hour, f.Tenant("a b"), float64(time.Minute))
	require.Zero(t, f.Tenant("other"))
	require.Len(t, f.All(), 1)
	require.Equal(t, "too dear", f.All()[0].Reason)

	put(Pause{Fleet: true, Until: time.Now().Add(2 * time.Hour)})
	follows()
	require.Greater(t, f.Tenant("other"), time.Hour)
	require.True(t, f.All()[0].Fleet)
	require.NoError(t, bucket.Delete(t.Context(), "fleet"))
	follows()
	require.Zero(t, f.Tenant("other"))
	require.NotZero(t, f.Tenant("a b"))

	require.NoError(t, js.DeleteKeyValue(t.Context(), names.PauseBucket()))
	follows()
	require.Empty(t, f.All())
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	put(Pause{Fleet: true, Until: time.Now().Add(time.Hour)})
	follows()
	require.NotZero(t, f.Fleet())
	require.Equal(t, 4, strings.Count(log.String(), "ignoring a pause"), "said once each")

	// By itself, it looks every second, and that one is over is news as well.
	require.NoError(t, bucket.Delete(t.Context(), "fleet"))
	follows()
	ctx, cancel := context.WithCancel(t.Context())
	news := make(chan struct{}, 100)
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx, func() { news <- struct{}{} }) })
	defer running.Wait()
	defer cancel()
	put(Pause{Tenant: "acme", Until: time.Now().Add(2500 * time.Millisecond)})
	for _, what := range []string{"begins", "is over"} {
		select {
		case <-news:
		case <-time.After(patience):
			require.FailNow(t, "not followed: that it "+what)
		}
	}
	require.Zero(t, f.Tenant("acme"))
	require.Equal(t, 1, strings.Count(log.String(), `msg="no longer paused" bucket=weir_pause key=tenant.acme`))
}

// What the clock of this machine says matters to no pause: its end is that many
// seconds after the server's now, on a clock that nobody sets.
func TestThisMachinesClockDoesNotMatter(t *testing.T) {
	begun := time.Now()
	for _, step := range []time.Duration{-10 * time.Second, 0, 10 * time.Second, -24 * time.Hour, 24 * time.Hour} {
		now := begun.Add(step).Round(0) // what the server says, seen from a clock that is wrong by that
		all := inForce([]Pause{
			{Tenant: "over", Until: now},
			{Tenant: "acme", Until: now.Add(5 * time.Second)},
		}, now, begun)
		require.Len(t, all, 1)
		require.Equal(t, 5*time.Second, all["tenant.acme"].ends.Sub(begun))
	}
}
