package wire_test

import (
	"bytes"
	"crypto/rand"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func letter() wire.DeadLetter {
	return wire.DeadLetter{
		Kind: wire.KindAttemptsExhausted, Error: "no route to host", Attempts: 5, Deliveries: 7,
		OriginSubject: "weir.chunks.acme", OriginSequence: 42, FailedAt: time.Date(2026, 11, 1, 9, 0, 0, 1, time.UTC),
	}
}

func TestDeadLetterKeepsTheOriginalsHeaders(t *testing.T) {
	original := nats.Header{
		"X-Mine": {"a", "b"}, "Nats-Msg-Id": {"id"}, "Nats-Rollup": {"all"}, "nats-ttl": {"1s"}, "Weir-Error-Kind": {"old"},
	}
	h := letter().Header(original)
	require.Equal(t, []string{"a", "b"}, h["X-Mine"])
	require.Equal(t, "id", h.Get(wire.HeaderOriginMsgID))
	require.NotContains(t, h, "Nats-Msg-Id")
	require.NotContains(t, h, "Nats-Rollup", "it would purge the stream of dead letters")
	require.NotContains(t, h, "nats-ttl")
	require.Equal(t, "attempts_exhausted", h.Get(wire.HeaderErrorKind))
	require.Equal(t, []string{"old"}, original["Weir-Error-Kind"], "the original is not touched")

	d, err := wire.ParseDeadLetter(h)
	require.NoError(t, err)
	require.Equal(t, letter(), d)
}

// What the last attempt used is in the letter, and not in what is sent again.
func TestDeadLetterSaysWhatTheCallUsed(t *testing.T) {
	used := letter()
	used.Usage = &extraction.Usage{PromptTokens: 900, CompletionTokens: 10, Unreported: 1}
	h := used.Header(nats.Header{})
	require.JSONEq(t, `{"prompt_tokens":900,"completion_tokens":10,"unreported":1}`, h.Get(wire.HeaderUsage))
	d, err := wire.ParseDeadLetter(h)
	require.NoError(t, err)
	require.Equal(t, used, d)

	h = letter().Header(h)
	require.NotContains(t, h, wire.HeaderUsage, "that of an earlier letter")
	h.Set(wire.HeaderUsage, "much")
	d, err = wire.ParseDeadLetter(h)
	require.NoError(t, err)
	require.Nil(t, d.Usage)
}

func TestDeadLetterErrorIsOneBoundedCleanLine(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nX-Evil: 1\x00b":                        "a X-Evil: 1 b",
		"401 for Bearer abc.def-123, sorry":          "401 for [redacted], sorry",
		"Incorrect API key provided: sk-proj-12345x": "Incorrect API key provided: [redacted]",
		"dial nats://user:pass@host:4222":            "dial nats[redacted]host:4222",
		`{"api_key": "abc"}`:                         `{"[redacted]"}`,
	} {
		require.Equal(t, want, wire.CleanError(in))
	}
	long := wire.CleanError(strings.Repeat("é", 10_000))
	require.LessOrEqual(t, len(long), 512)
	require.True(t, utf8.ValidString(long))
	require.True(t, utf8.ValidString(wire.CleanError("a\xff")))
}

func TestBadDeadLetters(t *testing.T) {
	for _, change := range []func(nats.Header){
		func(h nats.Header) { h.Del(wire.HeaderErrorKind) },
		func(h nats.Header) { h.Set(wire.HeaderErrorKind, "panic") },
		func(h nats.Header) { h.Set(wire.HeaderAttempts, "-1") },
		func(h nats.Header) { h.Set(wire.HeaderDeliveries, "x") },
		func(h nats.Header) { h.Set(wire.HeaderOriginSequence, "-1") },
		func(h nats.Header) { h.Set(wire.HeaderFailedAt, "yesterday") },
	} {
		h := letter().Header(nil)
		change(h)
		_, err := wire.ParseDeadLetter(h)
		var invalid *wire.InvalidMessageError
		require.ErrorAs(t, err, &invalid)
	}
}

func TestDeadLetterFits(t *testing.T) {
	const limit = 10_000
	random := make([]byte, limit)
	_, _ = rand.Read(random)
	for name, tc := range map[string]struct {
		body   []byte
		header nats.Header
		packed bool
		cut    bool
	}{
		"small":                     {body: []byte("small"), header: nats.Header{"X": {"y"}}},
		"text as long as the limit": {body: bytes.Repeat([]byte("Ada met Charles. "), limit/17), header: nats.Header{"X": {"y"}}, packed: true},
		"random bytes":              {body: random, header: nats.Header{"X": {"y"}}, cut: true},
		"nothing but headers":       {body: []byte("small"), header: nats.Header{"X": {strings.Repeat("y", limit-10)}}, cut: true},
	} {
		t.Run(name, func(t *testing.T) {
			msg := &nats.Msg{Subject: "weir.dead.acme", Header: letter().Header(tc.header), Data: tc.body}
			require.NoError(t, wire.FitDeadLetter(msg, limit))
			require.LessOrEqual(t, msg.Size()-len(msg.Subject), limit)
			require.Equal(t, tc.packed, msg.Header.Get(wire.HeaderContentEncoding) == "gzip")

			body, cut, err := wire.DeadLetterBody(msg, limit)
			require.NoError(t, err)
			require.Equal(t, tc.cut, cut)
			require.True(t, bytes.HasPrefix(tc.body, body))
			if !cut {
				require.Equal(t, tc.body, body)
				require.Equal(t, "y", msg.Header.Get("X"))
			}
			_, err = wire.ParseDeadLetter(msg.Header)
			require.NoError(t, err)
		})
	}
	msg := &nats.Msg{Header: letter().Header(nil), Data: []byte("x")}
	var large *wire.TooLargeError
	require.ErrorAs(t, wire.FitDeadLetter(msg, 100), &large)
}

func TestDeadLetterBodyIsBounded(t *testing.T) {
	msg := &nats.Msg{Header: letter().Header(nil), Data: bytes.Repeat([]byte{'a'}, 1<<20)}
	require.NoError(t, wire.FitDeadLetter(msg, 10_000))
	_, _, err := wire.DeadLetterBody(msg, 1<<19)
	require.Error(t, err)
	msg.Data = []byte("not gzip")
	_, _, err = wire.DeadLetterBody(msg, 1<<20)
	require.Error(t, err)
}

func TestCheckSizeLeavesRoomForADeadLetter(t *testing.T) {
	const limit = 1 << 20
	msg := &nats.Msg{Header: nats.Header{"Nats-Msg-Id": {"c"}}, Data: make([]byte, limit-wire.DeadLetterReserve-200)}
	require.NoError(t, wire.CheckSize(msg, limit))
	dead := &nats.Msg{Header: letter().Header(msg.Header), Data: msg.Data}
	size := dead.Size()
	require.NoError(t, wire.FitDeadLetter(dead, limit))
	require.Equal(t, size, dead.Size(), "untouched")

	msg.Data = make([]byte, limit-100)
	var large *wire.TooLargeError
	require.ErrorAs(t, wire.CheckSize(msg, limit), &large)
}

func FuzzParseDeadLetter(f *testing.F) {
	f.Add("truncated", "error\nline", 1, 2, "weir.chunks.a", uint64(3), int64(1e18))
	f.Fuzz(func(t *testing.T, kind, text string, attempts, deliveries int, subject string, sequence uint64, at int64) {
		in := wire.DeadLetter{Kind: kind, Error: text, Attempts: attempts, Deliveries: deliveries, OriginSubject: subject, OriginSequence: sequence, FailedAt: time.Unix(0, at).UTC()}
		out, err := wire.ParseDeadLetter(in.Header(nil))
		if !wire.IsDeadKind(kind) || attempts < 0 || deliveries < 0 {
			if err == nil {
				t.Fatalf("accepted %+v", out)
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		in.Error = wire.CleanError(text)
		if out != in {
			t.Fatalf("%+v became %+v", in, out)
		}
	})
}
