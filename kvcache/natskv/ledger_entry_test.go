package natskv

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

func anyEntry(t *rapid.T) entry {
	tokens := rapid.Int64Range(0, kvcache.MaxTokens)
	id := rapid.Custom(func(t *rapid.T) uint64 {
		return takeID(rapid.Uint64Range(0, 1<<54-1).Draw(t, "sequence"), rapid.IntRange(0, maxTakes-1).Draw(t, "number"))
	})
	return entry{
		takes: rapid.SliceOfN(tokens, 0, maxTakes).Draw(t, "takes"),
		notes: rapid.SliceOf(rapid.Custom(func(t *rapid.T) note {
			switch kind := rapid.SampledFrom([]noteKind{back, used, cool, wait}).Draw(t, "kind"); kind {
			case back:
				return note{kind: kind, id: id.Draw(t, "id")}
			case used:
				return note{kind: kind, id: id.Draw(t, "id"), tokens: tokens.Draw(t, "tokens")}
			case wait:
				n := note{kind: kind, waiter: waiterName(rapid.StringN(1, 40, -1).Draw(t, "waiter")), tokens: tokens.Draw(t, "tokens")}
				n.quota = kvcache.Quota{Window: time.Duration(rapid.Int64Range(1, int64(kvcache.MaxWindow)).Draw(t, "window")),
					Requests: rapid.Int64Min(0).Draw(t, "requests"), Tokens: rapid.SampledFrom([]int64{0, kvcache.MaxTokens}).Draw(t, "limit")}
				return n
			default:
				return note{kind: kind, span: time.Duration(rapid.Int64Range(1, int64(kvcache.MaxWindow)).Draw(t, "span"))}
			}
		})).Draw(t, "notes"),
	}
}

func TestEntryReadsBackAsWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := anyEntry(t)
		got := decodeEntry(e.encode())
		require.ElementsMatch(t, e.takes, got.takes)
		require.ElementsMatch(t, e.notes, got.notes)
	})
}

// The layout is documented, so that a person can read a log.
func TestEntryIsText(t *testing.T) {
	e := entry{takes: []int64{120, 0}, notes: []note{
		{kind: back, id: takeID(57, 0)}, {kind: used, id: takeID(57, 1), tokens: 90}, {kind: cool, span: 30 * time.Second},
		{kind: wait, waiter: "1x9k", tokens: 120, quota: kvcache.Quota{Window: time.Minute, Requests: 10}}}}
	require.Equal(t, "take 120\ntake 0\nback 57.0\nused 57.1 90\ncool 30s\nwait 1x9k 120 1m0s 10 0\n", string(e.encode()))
}

// What makes no sense says nothing, and takes nothing.
func TestEntryIgnoresWhatMakesNoSense(t *testing.T) {
	for _, line := range []string{"", "take", "take x", "take -1", "take 1.5", "take 99999999999999999999", "TAKE 1", "take 1 1",
		"back", "back 1", "back 1.1024", "back .1", "back -1.0", "used 1.0", "used 1.0 -1", "used x 1", "cool", "cool 5", "cool -5s",
		"cool 0s", "cool 100000h", "drink 1", "wait", "wait a", "wait a 1 1m 10", "wait a 1 1m 10 0 0", "wait  1 1m 10 0",
		"wait a -1 1m 10 0", "wait a 1 0s 10 0", "wait a 1 1m -1 0", "wait a 9 1m 10 8", "wait abcdefghijklmn 1 1m 10 0"} {
		got := decodeEntry([]byte(line + "\n"))
		require.Empty(t, got.takes, line)
		require.Empty(t, got.notes, line)
	}
	require.Len(t, decodeEntry([]byte(strings.Repeat("take 1\n", maxTakes+5))).takes, maxTakes)
}

func FuzzDecodeEntry(f *testing.F) {
	f.Add([]byte("take 120\ntake 0\nback 57.0\nused 57.1 90\ncool 30s\nwait 1x9k 120 1m0s 10 0\n"))
	f.Add([]byte("take 9223372036854775807\nback 18446744073709551615.0\ncool 999999h"))
	f.Add([]byte("\n\n take 1\r\nused 1.0 1 1"))
	f.Fuzz(func(t *testing.T, body []byte) {
		e := decodeEntry(body)
		again := decodeEntry(e.encode())
		require.Equal(t, len(e.takes), len(again.takes))
		require.Equal(t, len(e.notes), len(again.notes))
		for _, tokens := range e.takes {
			require.True(t, tokens >= 0 && tokens <= kvcache.MaxTokens)
		}
	})
}

func TestSubjectTokens(t *testing.T) {
	for key, want := range map[string]string{
		"acme": "acme", "A-b_9": "A-b_9", "": "=", "a b": "=YSBi", "a.b": "=YS5i", "*": "=Kg", ">": "=Pg", "=YSBi": "=PVlTQmk", "~": "=fg",
	} {
		require.Equal(t, want, subjectToken(key))
	}
	long := subjectToken(strings.Repeat("x", 100_000))
	require.Less(t, len(long), longestToken)
	require.NotEqual(t, long, subjectToken(strings.Repeat("x", 100_001)))
}

// The guess of the server's time follows whichever clock is set.
func TestServerClockRecovers(t *testing.T) {
	local := time.Unix(1_000_000, 0)
	c := newServerClock(func() time.Time { return local })
	require.Zero(t, c.now())
	require.False(t, c.fresh(time.Hour))
	c.received(500)
	require.EqualValues(t, 500, c.now())
	local = local.Add(100)
	c.received(550) // took longer than the one before: the earlier guess is better
	require.EqualValues(t, 600, c.now())
	c.received(630)
	require.EqualValues(t, 630, c.now())

	local = local.Add(10 * time.Second) // the local clock jumps ahead, the guess with it
	before := c.elapsed()
	c.sent(700, before)
	require.EqualValues(t, 700, c.now(), "what was just sent is stamped 700")
	local = local.Add(-10 * time.Second)
	c.received(800)
	require.EqualValues(t, 800, c.now(), "and back")
}
