package wire

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A quantile is that of the durations themselves, to a tenth.
func TestQuantiles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(math.Exp(rapid.Float64Range(0, 20).Draw(t, "log")) * float64(time.Millisecond))
		}), 1, 200).Draw(t, "all")
		d := Durations{}
		for _, took := range all {
			d.Add(took)
		}
		slices.Sort(all)
		body, err := json.Marshal(d)
		require.NoError(t, err)
		var read Durations
		require.NoError(t, json.Unmarshal(body, &read))
		for _, q := range []float64{0, 0.5, 0.95, 1} {
			got, ok := read.known().Quantile(q)
			require.True(t, ok)
			want := all[max(1, int(math.Ceil(q*float64(len(all)))))-1]
			require.InEpsilon(t, want, got, 0.19, "quantile %v of %v", q, all)
		}
	})
}

func TestDurationsSince(t *testing.T) {
	earlier, now := Durations{}, Durations{}
	_, ok := now.Quantile(0.5)
	require.False(t, ok, "nothing was counted")
	earlier.Add(time.Second)
	now.Merge(earlier)
	now.Add(time.Minute)
	since, ok := now.Since(earlier)
	require.True(t, ok)
	median, ok := since.Quantile(0.5)
	require.True(t, ok)
	require.InEpsilon(t, time.Minute, median, 0.1)
	require.Len(t, now, 2, "stays as it is")
	since, ok = now.Since(now)
	require.True(t, ok)
	require.Empty(t, since)
	_, ok = earlier.Since(now)
	require.False(t, ok)
	since, ok = now.Since(nil)
	require.True(t, ok)
	require.Equal(t, now, since)

	for took, bucket := range map[time.Duration]int{-time.Second: 0, 0: 0, time.Millisecond: 0, 2 * time.Millisecond: 4, math.MaxInt64: lastBucket} {
		require.Equal(t, bucket, bucketOf(took), took)
	}
}

// Anybody may write anything.
func TestHostileDurations(t *testing.T) {
	s, err := DecodeWorkerState([]byte(`{"worker":"a","took":{"-1":5,"40":3,"129":7,"41":18446744073709551615,"42":0}}`))
	require.NoError(t, err)
	require.Equal(t, Durations{40: 3}, s.Took)
	for _, value := range []string{`{"took":{"x":1}}`, `{"took":{"1":-1}}`, `{"took":[1]}`} {
		_, err := DecodeWorkerState([]byte(value))
		require.Error(t, err, value)
	}
}
