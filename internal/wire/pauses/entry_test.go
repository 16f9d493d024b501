package pauses_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
)

var stored = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func TestParse(t *testing.T) {
	hour := stored.Add(time.Hour)
	for _, want := range []pauses.Pause{
		{Fleet: true, Until: hour, Reason: "the model moves"},
		{Tenant: "acme", Until: hour},
		{Tenant: "fleet", Until: hour},
		{Tenant: "a b", Until: stored.Add(pauses.Longest)},
		{Tenant: "over", Until: stored.Add(-time.Hour)},
	} {
		value, err := want.Value()
		require.NoError(t, err)
		got, err := pauses.Parse(want.Key(), value, stored)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	// As somebody may write it who has no worker at hand.
	got, err := pauses.Parse("tenant.=YSBi", []byte(`{"until":"2026-01-31T14:00:00.5+01:00","reason":"a\nb","by":"me"}`), stored)
	require.NoError(t, err)
	require.Equal(t, pauses.Pause{Tenant: "a b", Until: hour.Add(500 * time.Millisecond), Reason: "a b"}, got)

	const good = `{"until":"2026-01-31T13:00:00Z"}`
	for _, bad := range []struct{ key, value, reason string }{
		{"acme", good, "neither"}, {"tenants.acme", good, "neither"}, {"fleet.acme", good, "neither"}, {"", good, "neither"},
		{"tenant.", good, "key"}, {"tenant.a.b", good, "key"}, {"tenant.=YWNtZQ", good, "verbatim"},
		{"fleet", ``, "want {"}, {"fleet", `true`, "want {"}, {"fleet", `{"until":7}`, "want {"}, {"fleet", `{"until":"tomorrow"}`, "want {"},
		{"fleet", `{}`, "missing"}, {"fleet", `null`, "missing"}, {"fleet", `{"until":null}`, "missing"},
		{"fleet", `{"until":"9999-12-31T23:59:59Z"}`, "30 days"},
	} {
		_, err := pauses.Parse(bad.key, []byte(bad.value), stored)
		var invalid *pauses.InvalidEntryError
		require.ErrorAs(t, err, &invalid, "%s %s", bad.key, bad.value)
		require.Contains(t, invalid.Reason, bad.reason)
	}
}

// Whatever Parse accepts has an end, can be written again, and is then the same.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{`{"until":"2026-01-31T13:00:00Z","reason":"x"}`, `{"until":"0000-01-01T00:00:00+23:59"}`, `{}`, `[`, `{"until":"9999-12-31T23:59:59-23:59"}`} {
		f.Add("fleet", []byte(seed))
		f.Add("tenant.acme", []byte(seed))
	}
	f.Add("tenant.=YSBi", []byte(`{"until":"2026-01-31T13:00:00Z"}`))
	f.Fuzz(func(t *testing.T, key string, value []byte) {
		got, err := pauses.Parse(key, value, stored)
		if err != nil {
			return
		}
		require.Equal(t, key, got.Key())
		require.LessOrEqual(t, got.Until.Sub(stored), pauses.Longest+24*time.Hour, "and the bucket forgets it then")
		require.NotContains(t, got.Reason, "\n")
		again, err := got.Value()
		if err != nil { // a year before the first
			require.True(t, got.Until.Before(stored))
			return
		}
		same, err := pauses.Parse(key, again, stored)
		require.NoError(t, err)
		require.True(t, got.Until.Equal(same.Until))
		require.Equal(t, strings.TrimSpace(got.Reason), strings.TrimSpace(same.Reason))
	})
}
