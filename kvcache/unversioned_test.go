package kvcache_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// plain hides every capability of a Memory and can be told to fail.
type plain struct {
	kvcache.Cache
	failSet string // the key whose Set fails, after having written
}

var errBroken = errors.New("broken")

func (p *plain) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	if err := p.Cache.Set(ctx, key, value, ttl); err != nil || key != p.failSet {
		return err
	}
	return errBroken
}

func TestUnversionedPrefersTheNativeCapability(t *testing.T) {
	m := kvcache.NewMemory()
	require.Same(t, m, kvcache.Unversioned(m))
	require.NotNil(t, kvcache.Unversioned(&plain{Cache: m}))
}

func TestUnversionedKeepsDeadlinesOfItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kv := &plain{Cache: kvcache.NewMemory()}
		v := kvcache.Unversioned(kv)
		ctx := t.Context()
		change := []kvcache.Change{{Key: "failures", Value: "1", TTL: time.Minute}}
		load := []kvcache.Entry{{Key: "failures"}}
		require.NoError(t, v.Load(ctx, load))
		change[0].Version = load[0].Version
		swapped, err := v.Swap(ctx, change)
		require.NoError(t, err)
		require.True(t, swapped)

		time.Sleep(40 * time.Second) // the bubble's clock
		change[0].Value, change[0].TTL = "2", kvcache.KeepTTL
		swapped, err = v.Swap(ctx, change)
		require.NoError(t, err)
		require.True(t, swapped)

		time.Sleep(20*time.Second - time.Nanosecond)
		_, ok, err := kv.Get(ctx, "failures")
		require.NoError(t, err)
		require.True(t, ok)
		time.Sleep(time.Nanosecond)
		_, ok, err = kv.Get(ctx, "failures")
		require.NoError(t, err)
		require.False(t, ok)
		swapped, err = v.Swap(ctx, change)
		require.NoError(t, err)
		require.False(t, swapped)
	})
}

// After an error nobody knows what was written, so nothing that was read before
// may be relied on.
func TestUnversionedErrorOutdatesEverythingRead(t *testing.T) {
	kv := &plain{Cache: kvcache.NewMemory(), failSet: "b"}
	v := kvcache.Unversioned(kv)
	ctx := t.Context()
	read := []kvcache.Entry{{Key: "a"}, {Key: "b"}}
	require.NoError(t, v.Load(ctx, read))
	changes := []kvcache.Change{
		{Key: "a", Version: read[0].Version, Value: "1"},
		{Key: "b", Version: read[1].Version, Value: "1"},
	}
	_, err := v.Swap(ctx, changes)
	require.ErrorIs(t, err, errBroken)
	kv.failSet = ""
	swapped, err := v.Swap(ctx, changes)
	require.NoError(t, err)
	require.False(t, swapped)
	require.NoError(t, v.Load(ctx, read))
	require.Equal(t, "1", read[1].Value)
}

func TestUnversionedWaitsItsTurnWithTheContext(t *testing.T) {
	block := make(chan struct{})
	kv := &blocking{KeyValue: kvcache.NewMemory(), entered: make(chan struct{}), release: block}
	v := kvcache.Unversioned(kv)
	done := make(chan error, 1)
	go func() { done <- v.Load(context.Background(), []kvcache.Entry{{Key: "k"}}) }()
	<-kv.entered
	ctx, cancel := context.WithCancel(context.Background())
	waiting := make(chan error, 1)
	go func() { waiting <- v.Load(ctx, []kvcache.Entry{{Key: "k"}}) }()
	cancel()
	require.ErrorIs(t, <-waiting, context.Canceled)
	close(block)
	require.NoError(t, <-done)
}

type blocking struct {
	kvcache.KeyValue
	entered, release chan struct{}
}

func (b *blocking) Get(ctx context.Context, key string) (string, bool, error) {
	b.entered <- struct{}{}
	<-b.release
	return b.KeyValue.Get(ctx, key)
}
