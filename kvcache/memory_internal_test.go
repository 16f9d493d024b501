package kvcache

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The memory of a cache must follow what is alive, not what was ever written.
func TestMemoryForgetsWhatHasExpired(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	m := NewMemory(WithClock(func() time.Time { return now }))
	ctx := context.Background()
	most := 0
	for i := range 20_000 {
		now = now.Add(time.Millisecond)
		switch i % 4 {
		case 0:
			require.NoError(t, m.Set(ctx, fmt.Sprint("set", i), "v", 100*time.Millisecond))
		case 1:
			_, err := m.Increment(ctx, fmt.Sprint("count", i), 100*time.Millisecond)
			require.NoError(t, err)
		case 2:
			require.NoError(t, m.RecordHit(ctx, fmt.Sprint("hit", i), now, 100*time.Millisecond))
		case 3:
			key := fmt.Sprint("deleted", i)
			require.NoError(t, m.Set(ctx, key, "v", 0))
			require.NoError(t, m.Delete(ctx, key))
		}
		most = max(most, len(m.records))
		require.Equal(t, len(m.records), len(m.order))
	}
	require.Less(t, most, 400, "100 keys are alive at any time")

	// A series that never pauses forgets its oldest hits too.
	for range 20_000 {
		now = now.Add(time.Millisecond)
		require.NoError(t, m.RecordHit(ctx, "busy", now, 100*time.Millisecond))
		require.LessOrEqual(t, m.records["busy"].hits.Len(), 100)
	}

	// Keys that were loaded stay for a while, not for ever.
	for i := range 100 {
		require.NoError(t, m.Load(ctx, []Entry{{Key: fmt.Sprint("loaded", i)}}))
	}
	require.GreaterOrEqual(t, len(m.records), 100)
	for range 3 {
		now = now.Add(versionMemory)
		for range 300 {
			require.NoError(t, m.Set(ctx, "tick", "", 0))
		}
	}
	require.Len(t, m.records, 1)
}

func BenchmarkMemoryLoad(b *testing.B) {
	m := NewMemory()
	ctx := context.Background()
	if err := m.Set(ctx, "default.state", "closed", 0); err != nil {
		b.Fatal(err)
	}
	entries := []Entry{{Key: "default.state"}}
	b.ReportAllocs()
	for b.Loop() {
		if err := m.Load(ctx, entries); err != nil {
			b.Fatal(err)
		}
	}
}

// Tenants without a limit leave nothing behind either.
func TestMemoryForgetsUnlimitedTenants(t *testing.T) {
	m := NewMemory()
	most := 0
	for i := range 5_000 {
		_, err := m.Admit(context.Background(), fmt.Sprint("tenant", i), Ask{Quota: Quota{Window: time.Minute}})
		require.NoError(t, err)
		most = max(most, len(m.records))
	}
	require.Less(t, most, 100)
}
