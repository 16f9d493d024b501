package natskv_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

func streamConfig(t testing.TB, js jetstream.JetStream, name string) jetstream.StreamConfig {
	t.Helper()
	s, err := js.Stream(context.Background(), name)
	require.NoError(t, err)
	return s.CachedInfo().Config
}

// A bucket as `nats kv add` makes it is completed, and nothing else about it
// changes.
func TestOpenCompletesABucketMadeByHand(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	_, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: "hand", Description: "mine", History: 5, MaxBytes: 1 << 20, MaxValueSize: 1000, Storage: jetstream.MemoryStorage,
	})
	require.NoError(t, err)
	want := streamConfig(t, js, "KV_hand")
	c, err := natskv.Open(ctx, js, "hand", natskv.WithStorage(jetstream.FileStorage))
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "k", "v", time.Minute))

	have := streamConfig(t, js, "KV_hand")
	require.True(t, have.AllowMsgTTL)
	require.True(t, have.AllowAtomicPublish)
	require.Positive(t, have.SubjectDeleteMarkerTTL)
	want.AllowMsgTTL, want.AllowAtomicPublish, want.SubjectDeleteMarkerTTL = have.AllowMsgTTL, have.AllowAtomicPublish, have.SubjectDeleteMarkerTTL
	have.Metadata, want.Metadata = nil, nil // what the server needs for it
	require.Equal(t, want, have)

	_, err = natskv.Open(ctx, js, "hand") // now there is nothing left to do
	require.NoError(t, err)
}

func TestOpenNamesTheFieldThatWillNotDo(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	_, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "origin"})
	require.NoError(t, err)
	for field, spoil := range map[string]func(*jetstream.StreamConfig){
		"max_age":           func(s *jetstream.StreamConfig) { s.MaxAge = time.Hour },
		"subjects":          func(s *jetstream.StreamConfig) { s.Subjects = []string{"$KV." + s.Name[3:] + ".x"} },
		"retention":         func(s *jetstream.StreamConfig) { s.Retention = jetstream.InterestPolicy },
		"discard":           func(s *jetstream.StreamConfig) { s.Discard, s.MaxMsgs = jetstream.DiscardOld, 10 },
		"allow_rollup_hdrs": func(s *jetstream.StreamConfig) { s.AllowRollup = false },
		"sealed":            func(s *jetstream.StreamConfig) { s.Sealed = true },
		"mirror": func(s *jetstream.StreamConfig) {
			s.Subjects, s.Mirror, s.AllowRollup = nil, &jetstream.StreamSource{Name: "KV_origin"}, false
		},
		// The server refuses to give this one what it needs.
		"allow_atomic": func(s *jetstream.StreamConfig) { s.PersistMode = jetstream.AsyncPersistMode },
	} {
		t.Run(field, func(t *testing.T) {
			cfg := jetstream.StreamConfig{
				Name: "KV_" + field, Subjects: []string{"$KV." + field + ".>"}, MaxMsgsPerSubject: 1,
				Discard: jetstream.DiscardNew, AllowRollup: true, AllowDirect: true,
			}
			spoil(&cfg)
			sealed := cfg.Sealed
			cfg.Sealed = false // comes only with an update
			_, err := js.CreateStream(ctx, cfg)
			require.NoError(t, err)
			if cfg.Sealed = sealed; sealed {
				_, err = js.UpdateStream(ctx, cfg)
				require.NoError(t, err)
			}
			_, err = natskv.Open(ctx, js, field)
			mismatch := new(natskv.MismatchError)
			require.ErrorAs(t, err, &mismatch)
			require.Equal(t, field, mismatch.Field)
			require.Contains(t, err.Error(), field)
			require.NotErrorIs(t, err, kvcache.ErrUnavailable)
		})
	}
}

func TestOpenRejectsArgumentsThatMakeNoSense(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	_, err := natskv.Open(ctx, nil, "b")
	require.ErrorContains(t, err, "js")
	for _, bucket := range []string{"", "a b", "a.b", "*"} {
		_, err = natskv.Open(ctx, js, bucket)
		require.ErrorContains(t, err, "bucket")
	}
	_, err = natskv.Open(ctx, js, "b", natskv.WithTimeout(0))
	require.ErrorContains(t, err, "timeout")
	_, err = natskv.Open(ctx, js, "b", natskv.WithReplicas(0))
	require.ErrorContains(t, err, "replicas")
}

func TestOpenByManyAtOnce(t *testing.T) {
	url := startServer(t).ClientURL()
	var wg sync.WaitGroup
	for range 8 {
		js := connect(t, url)
		wg.Go(func() {
			c, err := natskv.Open(t.Context(), js, "shared")
			if err == nil {
				_, err = c.Increment(t.Context(), "n", 0)
			}
			if err == nil {
				err = c.RecordHit(t.Context(), "h", time.Now(), time.Minute)
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	c, err := natskv.Open(t.Context(), connect(t, url), "shared")
	require.NoError(t, err)
	n, err := c.Increment(t.Context(), "n", 0)
	require.NoError(t, err)
	require.EqualValues(t, 9, n)
}

// Processes that start together on a bucket made by hand must not take each
// other's update for a server that does not know a feature.
func TestOpenOfAPlainBucketByManyAtOnce(t *testing.T) {
	url := startServer(t).ClientURL()
	js := connect(t, url)
	const openers, rounds = 8, 25
	var processes [openers]jetstream.JetStream
	for i := range processes {
		processes[i] = connect(t, url)
	}
	for round := range rounds {
		bucket := fmt.Sprint("plain", round)
		_, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: bucket, Storage: jetstream.MemoryStorage})
		require.NoError(t, err)
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for _, process := range processes {
			wg.Go(func() {
				<-begin
				if _, err := natskv.Open(t.Context(), process, bucket); err != nil {
					t.Error(err)
				}
			})
		}
		close(begin)
		wg.Wait()
		have := streamConfig(t, js, "KV_"+bucket)
		require.True(t, have.AllowMsgTTL && have.AllowAtomicPublish && have.SubjectDeleteMarkerTTL > 0, bucket)
	}
}

// An update made from an older copy switches a feature off again: that is no
// reason to blame the server.
func TestOpenTriesAgainWhenAnotherSwitchesAFeatureOff(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	_, err := js.CreateKeyValue(t.Context(), jetstream.KeyValueConfig{Bucket: "b"})
	require.NoError(t, err)
	old := streamConfig(t, js, "KV_b")
	old.AllowMsgTTL = true // the server refuses to switch it off
	var updates atomic.Int64
	stale := interfering{js, func(s jetstream.Stream) (jetstream.Stream, error) {
		if updates.Add(1) > 2 {
			return s, nil
		}
		return js.UpdateStream(t.Context(), old)
	}}
	_, err = natskv.Open(t.Context(), stale, "b")
	require.NoError(t, err)
	require.EqualValues(t, 3, updates.Load())
	require.True(t, streamConfig(t, js, "KV_b").AllowAtomicPublish)

	updates.Store(-100) // and if it never ends, that is what the error says
	_, err = js.UpdateStream(t.Context(), old)
	require.NoError(t, err)
	_, err = natskv.Open(t.Context(), stale, "b")
	mismatch := new(natskv.MismatchError)
	require.ErrorAs(t, err, &mismatch)
	require.ErrorContains(t, err, "or something else switches it off")
}

// interfering lets somebody else at a stream right after each update.
type interfering struct {
	jetstream.JetStream
	updated func(jetstream.Stream) (jetstream.Stream, error)
}

func (i interfering) UpdateStream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := i.JetStream.UpdateStream(ctx, cfg)
	if err != nil {
		return s, err
	}
	return i.updated(s)
}

// R7: what was handed in stays open.
func TestCloseLeavesTheConnectionOpen(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	c := open(t, js)
	require.NoError(t, c.Set(t.Context(), "k", "v", 0))
	require.NoError(t, c.Close())
	require.NoError(t, c.Close())
	require.True(t, js.Conn().IsConnected())
	_, err := js.AccountInfo(t.Context())
	require.NoError(t, err)
}

// A bucket that keeps revisions must not bring an old one back when the latest
// has expired or was deleted.
func TestHistoryDoesNotComeBack(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	ctx := t.Context()
	kv, err := js.CreateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "old", History: 10, LimitMarkerTTL: time.Second})
	require.NoError(t, err)
	c, err := natskv.Open(ctx, js, "old")
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "expires", "old", 0))
	require.NoError(t, c.Set(ctx, "expires", "new", time.Second))
	require.NoError(t, c.Set(ctx, "swapped", "old", 0))
	e := []kvcache.Entry{{Key: "swapped"}, {Key: "other"}}
	require.NoError(t, c.Load(ctx, e))
	swapped, err := c.Swap(ctx, []kvcache.Change{
		{Key: "swapped", Version: e[0].Version, Value: "new", TTL: time.Second}, {Key: "other", Version: e[1].Version},
	})
	require.NoError(t, err)
	require.True(t, swapped)
	require.NoError(t, c.Set(ctx, "n", "1", time.Second))
	_, err = c.Increment(ctx, "n", 0)
	require.NoError(t, err)
	require.NoError(t, c.Set(ctx, "deleted", "old", 0))
	require.NoError(t, c.Delete(ctx, "deleted"))

	s, err := js.Stream(ctx, "KV_old")
	require.NoError(t, err)
	for _, key := range []string{"expires", "swapped", "n"} {
		require.Eventually(t, func() bool { // until the server has collected the last one and its marker
			info, err := s.Info(ctx, jetstream.WithSubjectFilter("$KV.old."+key))
			if err != nil || info.State.Subjects["$KV.old."+key] > 0 {
				return false
			}
			_, ok, err := c.Get(ctx, key)
			return err == nil && !ok
		}, 20*time.Second, 50*time.Millisecond, key)
	}
	value, ok, err := c.Get(ctx, "deleted")
	require.NoError(t, err)
	require.False(t, ok, value)

	require.NoError(t, c.Set(ctx, "kept", "old", 0)) // what does not end keeps its history
	require.NoError(t, c.Set(ctx, "kept", "new", 0))
	kept, err := kv.History(ctx, "kept")
	require.NoError(t, err)
	require.Len(t, kept, 2)
}

// R7: nothing runs on after Close.
func TestCloseLeavesNoGoroutine(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	use := func() {
		c, err := natskv.Open(t.Context(), js, "b")
		require.NoError(t, err)
		for name, do := range everyOperation(t.Context(), c) {
			require.NoError(t, do(), name)
		}
		require.NoError(t, c.Close())
	}
	use() // makes the streams, which the server keeps
	before := goleak.IgnoreCurrent()
	use()
	goleak.VerifyNone(t, before)
}
