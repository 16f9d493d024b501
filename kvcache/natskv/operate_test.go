package natskv_test

import (
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

func TestKeysAreTheOnesWithAValue(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	c, err := natskv.Open(ctx, js, "listed")
	require.NoError(t, err)
	defer c.Close()
	keys, err := c.Keys(ctx)
	require.NoError(t, err)
	require.Empty(t, keys)

	for _, key := range []string{"plain.state", "with space.state", "=_odd", "zoë", "gone"} {
		require.NoError(t, c.Set(ctx, key, "v", 0))
	}
	require.NoError(t, c.Delete(ctx, "gone"))
	keys, err = c.Keys(ctx)
	require.NoError(t, err)
	require.Equal(t, []string{"=_odd", "plain.state", "with space.state", "zoë"}, keys)
}

func TestEraseLeavesNothingOfAKeyAndEverythingOfOthers(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	c, err := natskv.Open(ctx, js, "erased")
	require.NoError(t, err)
	defer c.Close()
	stored := func() (n uint64) {
		for _, name := range []string{"KV_erased", "HITS_erased", "LEDGER_erased"} {
			s, err := js.Stream(ctx, name)
			if err == nil {
				n += s.CachedInfo().State.Msgs
			} else {
				require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
			}
		}
		return n
	}
	require.NoError(t, c.Erase(ctx, "never"), "also where the streams are missing")

	fill := func(root string) {
		require.NoError(t, c.Set(ctx, root, "v", 0))
		require.NoError(t, c.Set(ctx, root+".state", "open", 0))
		require.NoError(t, c.Set(ctx, root+".probe.0", "v", time.Minute))
		require.NoError(t, c.RecordHit(ctx, root, time.Now(), time.Minute))
		_, err := c.Admit(ctx, root, kvcache.Ask{Quota: kvcache.Quota{Window: time.Minute, Requests: 1}})
		require.NoError(t, err)
	}
	fill("checkers")
	before := stored()
	require.NotZero(t, before)
	fill("check")
	require.Greater(t, stored(), before)
	require.NoError(t, c.Erase(ctx, "check"))
	require.Equal(t, before, stored(), "checkers stays")
	_, there, err := c.Get(ctx, "checkers.state")
	require.NoError(t, err)
	require.True(t, there)
	require.Error(t, c.Erase(ctx, ">"))
	require.Error(t, c.Erase(ctx, ""))
}
