package limits_test

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
	"github.com/weirkeeper/weirkeeper/internal/wire/limits"
	"github.com/weirkeeper/weirkeeper/resilience"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var base = resilience.Limits{Requests: 60, Window: time.Minute, Tokens: 1000}

func TestParse(t *testing.T) {
	for value, want := range map[string]resilience.Limits{
		`{"rpm":5,"window_ms":2000,"tpm":7}`: {Requests: 5, Window: 2 * time.Second, Tokens: 7},
		`{"rpm":5}`:                          {Requests: 5, Window: time.Minute, Tokens: 1000},
		`{"tpm":null,"note":"for a week"}`:   base,
		`{}`:                                 base,
	} {
		got, err := limits.Parse([]byte(value), base)
		require.NoError(t, err, value)
		require.Equal(t, want, got, value)
	}
	for value, reason := range map[string]string{
		``: "want {", `7`: "want {", `{"rpm":5`: "want {", `{"rpm":"5"}`: "want {", `{"rpm":0.5}`: "want {",
		`{"rpm":0}`: "rpm is 0", `{"rpm":-1}`: "rpm is -1", `{"window_ms":0}`: "window_ms", `{"tpm":0}`: "tpm",
		`{"window_ms":9000000000000000000}`: "window_ms", `{"rpm":99999999999999999999}`: "want {",
	} {
		got, err := limits.Parse([]byte(value), base)
		var invalid *limits.InvalidEntryError
		require.ErrorAs(t, err, &invalid, value)
		require.Contains(t, invalid.Reason, reason, value)
		require.Equal(t, base, got)
	}
}

// Whatever Parse accepts, a limiter accepts.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"rpm":5,"window_ms":2000,"tpm":7}`, `{}`, `{"rpm":0}`, `[`, `{"window_ms":9000000000000000000}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got, err := limits.Parse(value, base)
		if err != nil {
			return
		}
		l, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: got})
		require.NoError(t, err)
		require.NoError(t, l.Close())
	})
}

// A running fleet follows changes within 2 seconds, also after the bucket was made
// anew, and keeps what was last good.
func TestFollowing(t *testing.T) {
	js := natstest.JetStream(t)
	names, err := wire.NewNames("")
	require.NoError(t, err)

	var log process.Log
	f := limits.NewFollower(js, names, base, slog.New(slog.NewTextHandler(&log, nil)))
	changed, err := f.Look(t.Context())
	require.NoError(t, err, "no bucket yet")
	require.False(t, changed)
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	bucket, err := js.KeyValue(t.Context(), names.LimitsBucket())
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	news := make(chan struct{}, 100)
	var running sync.WaitGroup
	running.Go(func() { f.Run(ctx, func() { news <- struct{}{} }) })
	defer running.Wait()
	defer cancel()
	put := func(key, value string) {
		_, err := bucket.PutString(t.Context(), key, value)
		require.NoError(t, err)
	}
	follows := func() {
		t.Helper()
		select {
		case <-news:
		case <-time.After(10 * time.Second): // promised are 2, on a machine with nothing else to do
			require.FailNow(t, "change not followed")
		}
	}
	rpm := func(tenant string) int64 {
		got, ok := f.For(tenant)
		if !ok {
			return 0
		}
		return got.Requests
	}

	begun := time.Now()
	put("acme", `{"rpm":7}`)
	follows()
	t.Logf("followed after %v", time.Since(begun))
	require.EqualValues(t, 7, rpm("acme"))
	put(wire.EncodeToken("a b"), `{"rpm":8}`)
	follows()
	require.EqualValues(t, 8, rpm("a b"))

	put("acme", `{"rpm":`)
	put("other", `nonsense`)
	require.Eventually(t, func() bool { return strings.Count(log.String(), "ignoring the limits") == 2 }, 10*time.Second, 10*time.Millisecond)
	require.EqualValues(t, 7, rpm("acme"))
	require.Zero(t, rpm("other"))

	require.NoError(t, bucket.Delete(t.Context(), "acme"))
	follows()
	require.Zero(t, rpm("acme"))

	require.NoError(t, js.DeleteKeyValue(t.Context(), names.LimitsBucket()))
	follows()
	require.Zero(t, rpm("a b"))
	require.NoError(t, wire.Ensure(t.Context(), js, names))
	put("acme", `{"rpm":9}`)
	follows()
	require.EqualValues(t, 9, rpm("acme"))
	require.Equal(t, 2, strings.Count(log.String(), "ignoring the limits"), "said once")
}
