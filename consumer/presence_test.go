package consumer_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/alive"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Workers find out how many they are, and tell whoever asks what they are doing.
func TestWorkersCountEachOther(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := extractorFunc(func() (extraction.Extraction, error) { return extraction.Extraction{}, nil })
	var fleet []*running
	for i := range 3 { // all of one name
		fleet = append(fleet, w.start(x, func(c *consumer.Config) {
			c.Version, c.Circuit, c.Limits = "v1", "default", resilience.Limits{Requests: 60, Tokens: 1000}
			c.CircuitSettings = consumer.CircuitSettings{FailureThreshold: 5, RecoveryTimeout: time.Minute, HalfOpenMaxCalls: 1}
			if i == 0 {
				c.Limits.Requests, c.CircuitSettings.FailureThreshold = 50, 3
			}
		}))
	}
	counted := func(n int) {
		t.Helper()
		require.Eventually(t, func() bool {
			for _, r := range fleet {
				if r.Status().Workers != n {
					return false
				}
			}
			return true
		}, patience, tick)
	}
	counted(3)
	same := func(a, b alive.Disagreement) bool { return assert.ObjectsAreEqual(a, b) }
	disagree := func(about ...alive.Disagreement) {
		t.Helper()
		require.Eventually(t, func() bool { // a worker may have looked before all were there
			return !slices.ContainsFunc(fleet, func(r *running) bool { return !slices.EqualFunc(about, r.Status().Disagreements, same) })
		}, patience, tick)
	}
	disagree(
		alive.Disagreement{Setting: "--rpm", Values: []alive.SettingValue{{Value: "60", Worker: "test", Workers: 2}, {Value: "50", Worker: "test", Workers: 1}}},
		alive.Disagreement{Setting: "--failure-threshold", Circuit: "default", Values: []alive.SettingValue{{Value: "5", Worker: "test", Workers: 2}, {Value: "3", Worker: "test", Workers: 1}}},
	)
	const differ, agree = "level=WARN msg=\"workers were started with different settings", "all workers have the same setting again"
	require.Equal(t, 6, strings.Count(w.log.String(), differ), "each worker tells of each setting once")
	require.Contains(t, w.log.String(), `setting="--failure-threshold of circuit default" values="5 (test and 1 more), 3 (test)"`)
	require.NotContains(t, w.log.String(), agree)
	w.send("acme", chunkJSON("d", 0, "text"))
	w.send("acme", "not a chunk\xff")
	var took, age wire.Durations
	require.Eventually(t, func() bool {
		results, dead := uint64(0), uint64(0)
		took, age = wire.Durations{}, wire.Durations{}
		for _, s := range w.workers() {
			require.Equal(t, "test", s.Worker)
			require.Equal(t, "v1", s.Version)
			require.Equal(t, "default", s.Circuit)
			require.Equal(t, "consuming", s.State)
			require.Equal(t, 4, s.Slots)
			require.Equal(t, []int64{60_000, 1000}, []int64{s.WindowMS, s.TPM})
			require.Equal(t, wire.CircuitSettings{FailureThreshold: map[int64]int{50: 3, 60: 5}[s.RPM], RecoveryTimeoutMS: 60_000, HalfOpenMaxCalls: 1}, *s.CircuitSettings)
			results, dead = results+s.Results, dead+s.Dead
			took.Merge(s.Took)
			age.Merge(s.Age)
		}
		return results == 1 && dead == 1
	}, patience, tick)

	for _, d := range []wire.Durations{took, age} { // of the one that was extracted
		longest, ok := d.Quantile(1)
		require.True(t, ok)
		require.Less(t, longest, patience)
		require.Len(t, d, 1)
	}

	// It counts again after somebody has deleted the bucket, and then without the
	// one that has stopped.
	fleet[0].stop(t)
	fleet = fleet[1:]
	stopped := 0
	for _, s := range w.workers() {
		if s.State == "stopped" {
			stopped++
		}
	}
	require.Equal(t, 1, stopped)
	require.NoError(t, w.js.DeleteKeyValue(t.Context(), w.names.WorkersBucket()))
	counted(2)
	require.Len(t, w.workers(), 2)
	disagree()
	require.Equal(t, 4, strings.Count(w.log.String(), agree))
	require.Equal(t, 6, strings.Count(w.log.String(), differ))
	bucket, err := w.js.KeyValue(t.Context(), w.names.WorkersBucket())
	require.NoError(t, err)
	status, err := bucket.Status(t.Context())
	require.NoError(t, err)
	require.Equal(t, 20*time.Second, status.TTL(), "who is killed is forgotten")
}

// What others have put among the workers is none of them.
func TestStrangersDoNotCountAsWorkers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := wire.EnsureWorkers(t.Context(), w.js, w.names)
	require.NoError(t, err)
	bucket, err := w.js.KeyValue(t.Context(), w.names.WorkersBucket())
	require.NoError(t, err)
	strangers := []string{"garbage", "a.1", "b.2"}
	for i, value := range []string{"garbage", "", `{"rpm":7}`} {
		_, err = bucket.PutString(t.Context(), strangers[i], value)
		require.NoError(t, err)
	}
	r := w.start(failing())
	require.Eventually(t, func() bool { return r.Status().Workers == 1 }, patience, tick)
	for _, key := range strangers {
		_, err = bucket.Get(t.Context(), key)
		require.NoError(t, err, "it is still there")
	}
}

// workers is what the bucket of workers holds.
func (w *world) workers() (all []wire.WorkerState) {
	w.t.Helper()
	bucket, err := w.js.KeyValue(w.t.Context(), w.names.WorkersBucket())
	require.NoError(w.t, err)
	watch, err := bucket.WatchAll(w.t.Context(), jetstream.IgnoreDeletes())
	require.NoError(w.t, err)
	defer func() { _ = watch.Stop() }()
	for entry := range watch.Updates() {
		if entry == nil {
			return all
		}
		s, err := wire.DecodeWorkerState(entry.Value())
		require.NoError(w.t, err)
		all = append(all, s)
	}
	return all
}

// That workers cannot count each other keeps none from working.
func TestAWorkerThatMayNotBeCountedWorks(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, natsconn.EmbeddedOptions{InProcess: true})
	_, err := w.js.CreateStream(t.Context(), jetstream.StreamConfig{ // takes the bucket's subjects
		Name: "OTHER", Subjects: []string{"$KV." + w.names.WorkersBucket() + ".*.taken.>"},
	})
	require.NoError(t, err)
	x := extractorFunc(func() (extraction.Extraction, error) { return extraction.Extraction{}, nil })
	r := w.start(x)
	w.send("acme", chunkJSON("d", 0, "text"))
	w.settled()
	require.Len(t, w.results(), 1)
	require.Equal(t, 4, r.Status().Workers)
	require.Contains(t, w.log.String(), "cannot count each other")
}
