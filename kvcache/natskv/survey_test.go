package natskv_test

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
)

// A survey says of every key what the ledger itself says, from a bucket that it
// does not touch.
func TestSurveySaysWhatTheLedgerSays(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	survey, err := natskv.NewSurvey(js, "limits")
	require.NoError(t, err)
	require.NoError(t, survey.Look(t.Context()))
	require.False(t, survey.There(), "looking creates nothing")

	c, err := natskv.Open(t.Context(), js, "limits", natskv.WithTimeout(5*time.Second))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close()) }()
	quota := kvcache.Quota{Window: time.Hour, Requests: 3, Tokens: 1000}
	long := strings.Repeat("x", 300)
	for key, tokens := range map[string][]int64{"acme": {10, 20, 30}, "Zoë & Co": {7}, long: {1}} {
		for _, n := range tokens {
			a, err := c.Admit(t.Context(), key, kvcache.Ask{Quota: quota, Tokens: n})
			require.NoError(t, err)
			require.True(t, a.Admitted)
		}
	}
	require.NoError(t, c.Cool(t.Context(), "cold", time.Minute))
	require.NoError(t, survey.Look(t.Context()))
	require.True(t, survey.There())
	require.ElementsMatch(t, []string{"acme", "Zoë & Co", "cold"}, survey.Keys())

	for _, key := range []string{"acme", "Zoë & Co", long, "cold", "nobody"} {
		want, err := c.Peek(t.Context(), key, quota)
		require.NoError(t, err)
		got, cooling, err := survey.Standing(key, quota)
		require.NoError(t, err)
		require.Equal(t, want.Requests, got.Requests, key)
		require.Equal(t, want.Tokens, got.Tokens, key)
		require.InDelta(t, want.RetryAfter, got.RetryAfter, float64(20*time.Second), key)
		require.Equal(t, want.RetryAfter > 0, got.RetryAfter > 0, key)
		if key == "cold" {
			require.InDelta(t, time.Minute, cooling, float64(20*time.Second))
		} else {
			require.Zero(t, cooling, key)
		}
	}
	_, _, err = survey.Standing("acme", kvcache.Quota{})
	require.ErrorIs(t, err, kvcache.ErrInvalidAsk)

	// What is given back or settled later is heard of, and a log that was made
	// anew holds nothing of the old one.
	a, err := c.Admit(t.Context(), "Zoë & Co", kvcache.Ask{Quota: quota, Tokens: 100})
	require.NoError(t, err)
	require.NoError(t, c.Settle(t.Context(), "Zoë & Co", a.ID, 5))
	require.NoError(t, survey.Look(t.Context()))
	got, _, err := survey.Standing("Zoë & Co", quota)
	require.NoError(t, err)
	require.EqualValues(t, 2, got.Requests)
	require.EqualValues(t, 12, got.Tokens)

	require.NoError(t, js.DeleteStream(t.Context(), "LEDGER_limits"))
	_, err = c.Ensure(t.Context())
	require.NoError(t, err)
	require.NoError(t, survey.Look(t.Context()))
	require.Empty(t, survey.Keys())
}

func TestSurveyOfALogThatIsTooLarge(t *testing.T) {
	js := connect(t, startServer(t).ClientURL())
	stream, err := js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "LEDGER_limits", Subjects: []string{"$LEDGER.limits.*"}, AllowDirect: true, Storage: jetstream.MemoryStorage,
	})
	require.NoError(t, err)
	fill := func(n int) {
		for range n {
			_, err := js.PublishAsync("$LEDGER.limits.acme", []byte("take 1\n"), jetstream.WithStallWait(time.Minute))
			require.NoError(t, err)
		}
		<-js.PublishAsyncComplete()
	}
	survey, err := natskv.NewSurvey(js, "limits")
	require.NoError(t, err)
	natskv.SurveyAtMost(survey, 10_000)
	fill(10_001)
	require.ErrorIs(t, survey.Look(t.Context()), natskv.ErrSurveyTooLarge)
	require.Empty(t, survey.Keys(), "half of it would be wrong")
	require.NoError(t, stream.Purge(t.Context(), jetstream.WithPurgeKeep(9_000)))
	began := time.Now()
	require.NoError(t, survey.Look(t.Context()))
	t.Logf("9,000 entries in %v", time.Since(began))
	got, _, err := survey.Standing("acme", kvcache.Quota{Window: time.Hour, Requests: 1})
	require.NoError(t, err)
	require.EqualValues(t, 9_000, got.Requests)
}
