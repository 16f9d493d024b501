package natskv

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
)

var bucketKey = regexp.MustCompile(`^[-/_=\.a-zA-Z0-9]+$`)

// R8: different keys never share a name, every name is one that the bucket
// takes, and a key that is one already stays as it is.
func FuzzKeyName(f *testing.F) {
	for _, key := range []string{
		"", ".", "a.", ".a", "a..b", "default.state", "a b", "*", ">", "=_", "=_YQ", "=__", "=_=", "\xff", "世界",
		strings.Repeat("k", longest), strings.Repeat("k", longest+1), strings.Repeat(" ", longest), strings.Repeat(" ", 5000),
	} {
		f.Add(key, "a")
		f.Add(key, keyName(key))
		f.Add(key, key+"k")
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		name := keyName(a)
		require.Regexp(t, bucketKey, name)
		require.NotRegexp(t, `^\.|\.$|\.\.`, name)
		require.LessOrEqual(t, len(name), longest+len(escape)+len(hashed))
		if a != b {
			require.NotEqual(t, name, keyName(b))
		}
		if plainKey(a) && len(a) <= longest {
			require.Equal(t, a, name)
		}
	})
}

// A header that makes no sense never ends a value, and none ends it before it
// began.
func FuzzDeadline(f *testing.F) {
	for _, v := range []string{"", "300ms", "-1s", "0", "1e400s", "never", "5", "5s", "1.9s", "9223372036854775807", "2026-11-30T01:06:30.879752335Z", "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z"} {
		f.Add(v, "", "")
		f.Add("", v, "")
		f.Add("", "", v)
	}
	stamp := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC).UnixNano()
	f.Fuzz(func(t *testing.T, lives, expires, ttl string) {
		h := nats.Header{headerLives: {lives}, headerExpires: {expires}, headerTTL: {ttl}}
		got := deadlineOf(h, stamp)
		if _, err := time.Parse(time.RFC3339Nano, expires); err != nil {
			require.Greater(t, got, stamp)
		}
	})
}

func TestDeadlineHeaders(t *testing.T) {
	stamp := time.Date(2026, 11, 30, 0, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		header nats.Header
		want   time.Duration // 0: endless
	}{
		{nats.Header{}, 0},
		{nats.Header{headerLives: {"300ms"}, headerTTL: {"1"}}, 300 * time.Millisecond},
		{nats.Header{headerExpires: {"2026-11-30T00:00:01.5Z"}, headerTTL: {"2"}}, 1500 * time.Millisecond},
		{nats.Header{headerTTL: {"5s"}}, 5 * time.Second},
		{nats.Header{headerTTL: {"5"}}, 5 * time.Second},
		{nats.Header{headerTTL: {"5.9s"}}, 5 * time.Second}, // the server cuts it too
		{nats.Header{headerTTL: {"never"}}, 0},
		{nats.Header{headerLives: {"nonsense"}}, 0},
	} {
		want := endless
		if c.want > 0 {
			want = stamp.Add(c.want).UnixNano()
		}
		require.Equal(t, want, deadlineOf(c.header, stamp.UnixNano()), c.header)
	}

	// What one side writes the other reads, for every ttl.
	for _, ttl := range []time.Duration{1, time.Millisecond, time.Second, time.Second + 1, 24 * time.Hour, longestTTL, longestTTL + 1, 1<<63 - 1} {
		h := nats.Header{}
		lives(h, ttl)
		require.Equal(t, after(stamp.UnixNano(), ttl), deadlineOf(h, stamp.UnixNano()), ttl)
		h = nats.Header{}
		expires(h, after(stamp.UnixNano(), ttl), stamp.UnixNano())
		require.Equal(t, after(stamp.UnixNano(), ttl), deadlineOf(h, stamp.UnixNano()+5), ttl)
	}
}

func TestSightingsAreBoundedAndNeverGoBack(t *testing.T) {
	s := newSightings()
	for i := range 10 * sightingsKept {
		s.note("k"+strings.Repeat("x", i%3)+time.Duration(i).String(), sighting{seq: uint64(i + 1)})
	}
	require.LessOrEqual(t, len(s.young)+len(s.aged), 2*sightingsKept)

	s.note("k", sighting{seq: 7, deadline: 70, complete: true})
	s.note("k", sighting{seq: 5, deadline: 50, complete: true})
	got, ok := s.last("k")
	require.True(t, ok)
	require.Equal(t, sighting{seq: 7, deadline: 70, complete: true}, got)
	s.doubt("k", 7)
	got, _ = s.last("k")
	require.Equal(t, sighting{seq: 8}, got)
	s.correct("k", sighting{seq: 7}, sighting{seq: 7, complete: true}) // asked before the doubt
	got, _ = s.last("k")
	require.Equal(t, sighting{seq: 8}, got)
	s.correct("k", got, sighting{})
	_, ok = s.last("k")
	require.False(t, ok)
}
