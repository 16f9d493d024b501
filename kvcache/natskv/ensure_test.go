package natskv_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// streamsOf are the streams of a bucket that has been used for everything.
func streamsOf(bucket string) []string {
	return []string{"KV_" + bucket, "HITS_" + bucket, "LEDGER_" + bucket}
}

func removeStreams(t testing.TB, js jetstream.JetStream, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, js.DeleteStream(t.Context(), name))
	}
}

func ensure(t testing.TB, c *natskv.Cache) []string {
	t.Helper()
	created, err := c.Ensure(t.Context())
	require.NoError(t, err)
	return created
}

// What somebody deletes comes back, and is forgotten by every process: by the one
// that makes it again, and by those that find it made.
func TestEnsureBringsBackWhatWasDeleted(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	js := connect(t, url)
	ctx := t.Context()
	makes, finds := ledgerIn(t, url, "gone"), ledgerIn(t, url, "gone")
	processes := []*natskv.Cache{makes, finds}
	q := perMinute(4)
	at := time.Now()
	for _, c := range processes {
		require.Empty(t, ensure(t, c))
		require.NoError(t, c.Set(ctx, "k", "v", 0))
		_, err := c.Increment(ctx, "n", 0)
		require.NoError(t, err)
		require.NoError(t, c.RecordHit(ctx, "h", at, time.Hour))
		require.True(t, admit(t, c, "k", q).Admitted)
		require.True(t, admit(t, c, "k", q).Admitted)
		require.Empty(t, ensure(t, c))
	}
	for _, c := range processes {
		require.False(t, admit(t, c, "k", q).Admitted)
	}
	require.NoError(t, finds.Cool(ctx, "k", time.Minute))

	removeStreams(t, js, streamsOf("gone")...)
	require.Equal(t, []string{"bucket gone", "stream HITS_gone", "stream LEDGER_gone"}, ensure(t, makes))
	require.Empty(t, ensure(t, finds))
	for _, c := range processes {
		_, ok, err := c.Get(ctx, "k")
		require.NoError(t, err)
		require.False(t, ok)
		hits, err := c.CountHits(ctx, "h", at)
		require.NoError(t, err)
		require.Zero(t, hits)
		s, err := c.Peek(ctx, "k", q)
		require.NoError(t, err)
		require.Equal(t, kvcache.Standing{}, s)
	}
	for i, c := range processes {
		require.True(t, admit(t, c, "k", q).Admitted)
		require.True(t, admit(t, c, "k", q).Admitted)
		require.NoError(t, c.RecordHit(ctx, "h", at, time.Hour))
		n, err := c.Increment(ctx, "n", 0)
		require.NoError(t, err)
		require.EqualValues(t, i+1, n)
	}
	for _, c := range processes {
		require.False(t, admit(t, c, "k", q).Admitted, "the new window is shared")
		hits, err := c.CountHits(ctx, "h", at)
		require.NoError(t, err)
		require.Equal(t, 2, hits)
		require.Empty(t, ensure(t, c))
	}
}

// What was never used is not made, and a closed cache makes nothing.
func TestEnsureMakesOnlyWhatWasUsed(t *testing.T) {
	t.Parallel()
	js := connect(t, startServer(t).ClientURL())
	c, err := natskv.Open(t.Context(), js, "unused")
	require.NoError(t, err)
	removeStreams(t, js, "KV_unused")
	require.Equal(t, []string{"bucket unused"}, ensure(t, c))
	for _, name := range streamsOf("unused")[1:] {
		_, err := js.Stream(t.Context(), name)
		require.ErrorIs(t, err, jetstream.ErrStreamNotFound)
	}
	require.NoError(t, c.Close())
	_, err = c.Ensure(t.Context())
	require.ErrorIs(t, err, kvcache.ErrClosed)
}

// A version or an admission from before says nothing about what was made since, not
// even if as much was written, and nobody has noticed yet.
func TestNothingFromBeforeIsTakenForSomethingNew(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	js := connect(t, url)
	ctx := t.Context()
	before, other := ledgerIn(t, url, "aba"), ledgerIn(t, url, "aba")
	q := kvcache.Quota{Window: time.Minute, Requests: 2, Tokens: 100}
	fill := func(c *natskv.Cache, value string) (version, admission uint64) {
		require.NoError(t, c.Set(ctx, "k", value, 0))
		e := []kvcache.Entry{{Key: "k"}}
		require.NoError(t, c.Load(ctx, e))
		a, err := c.Admit(ctx, "k", kvcache.Ask{Quota: q, Tokens: 100})
		require.NoError(t, err)
		require.True(t, a.Admitted)
		return e[0].Version, a.ID
	}
	version, admission := fill(before, "old")
	removeStreams(t, js, "KV_aba", "LEDGER_aba")
	_, err := other.Peek(ctx, "k", q) // has nothing to forget, and makes the log again
	require.NoError(t, err)
	require.Equal(t, []string{"bucket aba"}, ensure(t, other))
	fill(other, "new")

	swapped, err := before.Swap(ctx, []kvcache.Change{{Key: "k", Version: version, Value: "mine"}})
	require.NoError(t, err)
	require.False(t, swapped)
	require.NoError(t, before.Settle(ctx, "k", admission, 1))
	for _, c := range []*natskv.Cache{other, before} {
		require.Empty(t, ensure(t, c))
		value, _, err := c.Get(ctx, "k")
		require.NoError(t, err)
		require.Equal(t, "new", value)
		s, err := c.Peek(ctx, "k", q)
		require.NoError(t, err)
		require.EqualValues(t, 100, s.Tokens, "what another has taken stays taken")
	}
}

// R18: the log is deleted under callers that are busy. They go on once it is there
// again, none hangs, and the new window holds what it may.
func TestLedgerR18DeletedUnderTheWork(t *testing.T) {
	t.Parallel()
	url := startServer(t).ClientURL()
	js := connect(t, url)
	const quota = 400
	var again atomic.Bool
	var after atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var callers sync.WaitGroup
	var processes []*natskv.Cache
	for range 3 {
		c := ledgerIn(t, url, "busy", natskv.WithTimeout(time.Second))
		processes = append(processes, c)
		_, err := c.Peek(ctx, "k", perMinute(quota)) // has used the log
		require.NoError(t, err)
		for range 4 {
			callers.Go(func() {
				for ctx.Err() == nil {
					began := again.Load()
					a, err := c.Admit(context.Background(), "k", kvcache.Ask{Quota: perMinute(quota)})
					if began && err == nil && a.Admitted {
						after.Add(1)
					}
					if err != nil || !a.Admitted {
						select {
						case <-time.After(10 * time.Millisecond):
						case <-ctx.Done():
						}
					}
				}
			})
		}
	}
	standing := func() int64 {
		s, err := processes[0].Peek(t.Context(), "k", perMinute(quota))
		if err != nil {
			return -1
		}
		return s.Requests
	}
	require.Eventually(t, func() bool { return standing() >= quota/2 }, 20*time.Second, time.Millisecond)
	removeStreams(t, js, "LEDGER_busy")
	made := 0
	for _, c := range processes {
		made += len(ensure(t, c))
	}
	again.Store(true)
	require.Equal(t, 1, made)
	require.Eventually(t, func() bool { return standing() == quota }, 20*time.Second, 10*time.Millisecond)
	cancel()
	callers.Wait()
	require.LessOrEqual(t, after.Load(), int64(quota))
	// What was on its way for callers that had given up is given back.
	require.Eventually(t, func() bool { return standing() == quota }, 20*time.Second, 10*time.Millisecond)
}

// What somebody makes in the place of what was deleted is completed, or the error
// names what will not do.
func TestEnsureOfABucketMadeAgainByHand(t *testing.T) {
	t.Parallel()
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	c, err := natskv.Open(ctx, js, "hand")
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "k", "v", 0))
	removeStreams(t, js, "KV_hand")
	_, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "hand"})
	require.NoError(t, err)
	require.Empty(t, ensure(t, c))
	require.True(t, streamConfig(t, js, "KV_hand").AllowAtomicPublish)
	n, err := c.Increment(ctx, "k", 0)
	require.NoError(t, err)
	require.EqualValues(t, 1, n)

	removeStreams(t, js, "KV_hand")
	_, err = js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "hand", TTL: time.Hour})
	require.NoError(t, err)
	_, err = c.Ensure(ctx)
	mismatch := new(natskv.MismatchError)
	require.ErrorAs(t, err, &mismatch)
	require.Equal(t, "max_age", mismatch.Field)
}

// A bucket that somebody made by hand numbers its messages from 1, like the one before it:
// a message of the same number has the deadline that it says, not the one before's.
func TestEnsureForgetsDeadlinesFromBefore(t *testing.T) {
	t.Parallel()
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	made := func() {
		_, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "hand"})
		require.NoError(t, err)
	}
	made()
	c, err := natskv.Open(ctx, js, "hand", patient)
	require.NoError(t, err)
	write := func(version uint64, ttl time.Duration) (after uint64) {
		changes := []kvcache.Change{{Key: "k", Version: version, Value: "v", TTL: ttl}}
		swapped, err := c.Swap(ctx, changes)
		require.NoError(t, err)
		require.True(t, swapped)
		return changes[0].Version
	}
	version := write(0, time.Hour)
	require.NoError(t, c.Load(ctx, []kvcache.Entry{{Key: "k"}}))

	removeStreams(t, js, "KV_hand")
	made()
	require.Empty(t, ensure(t, c))
	require.Equal(t, version, write(0, time.Minute))
	write(version, kvcache.KeepTTL)
	stream, err := js.Stream(ctx, "KV_hand")
	require.NoError(t, err)
	m, err := stream.GetLastMsgForSubject(ctx, "$KV.hand.k")
	require.NoError(t, err)
	ends, err := time.Parse(time.RFC3339Nano, m.Header.Get("Kvcache-Expires"))
	require.NoError(t, err)
	require.Less(t, ends.Sub(m.Time), 2*time.Minute)
}
