package wire_test

import (
	"bytes"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// buried is a message as it comes back from the stream of dead letters.
func buried(t *testing.T, origin string, header nats.Header, body []byte, maxPayload int64) *nats.Msg {
	t.Helper()
	l := letter()
	l.OriginSubject = origin
	msg := &nats.Msg{Subject: names(t, "").DeadSubjectFor(origin), Header: l.Header(header), Data: body}
	msg.Header.Set(nats.MsgIdHdr, "of the letter")
	require.NoError(t, wire.FitDeadLetter(msg, maxPayload))
	return msg
}

func TestReplayIsTheOriginalWithATrail(t *testing.T) {
	n := names(t, "")
	body := bytes.Repeat([]byte("Ada met Charles. "), 500)
	for name, limit := range map[string]int64{"as it was": 1 << 20, "compressed": 2000} {
		t.Run(name, func(t *testing.T) {
			original := nats.Header{"X-Mine": {"a", "b"}, nats.MsgIdHdr: {"original"}, "Nats-TTL": {"5s"}}
			dead := buried(t, "weir.chunks.acme", original, body, limit)
			again, err := n.Replay(dead, 17)
			require.NoError(t, err)
			require.Equal(t, "weir.chunks.acme", again.Subject)
			require.Equal(t, body, again.Data)
			id := again.Header.Get(nats.MsgIdHdr)
			require.NotEmpty(t, id)
			require.NotContains(t, []string{"original", "of the letter"}, id)
			again.Header.Del(nats.MsgIdHdr)
			require.Len(t, again.Header, 2, "%v", again.Header)
			require.Equal(t, []string{"a", "b"}, again.Header.Values("X-Mine"))
			require.Regexp(t, `^17 attempts_exhausted \d{4}-`, again.Header.Get(wire.HeaderReplayed))

			// The same replay is the same message; another letter is another one.
			twice, err := n.Replay(dead, 17)
			require.NoError(t, err)
			require.Equal(t, id, twice.Header.Get(nats.MsgIdHdr))
			other, err := n.Replay(dead, 18)
			require.NoError(t, err)
			require.NotEqual(t, id, other.Header.Get(nats.MsgIdHdr))

			// Set aside once more, it keeps the trail.
			third, err := n.Replay(buried(t, "weir.chunks.acme", again.Header, body, limit), 20)
			require.NoError(t, err)
			require.Len(t, third.Header.Values(wire.HeaderReplayed), 2)
			require.Equal(t, body, third.Data)
		})
	}
}

func TestReplayGoesNowhereElse(t *testing.T) {
	n := names(t, "")
	var invalid *wire.InvalidMessageError
	for _, origin := range []string{"", "weir.results.acme.d.0", "weir.dead.acme", "other.chunks.acme", "$JS.API.STREAM.PURGE.WEIR_CHUNKS", "weir.chunks.>", "weir.chunks.acme.more", "weir.chunks.other"} {
		dead := buried(t, "weir.chunks.acme", nil, []byte("x"), 1<<20)
		dead.Header.Set(wire.HeaderOriginSubject, origin)
		_, err := n.Replay(dead, 1)
		require.ErrorAs(t, err, &invalid, origin)
	}
	for _, origin := range []string{"weir.chunks.acme", "weir.documents.acme", "weir.chunks.=YWNtZQ"} {
		again, err := n.Replay(buried(t, origin, nil, []byte("x"), 1<<20), 1)
		require.NoError(t, err)
		require.Equal(t, origin, again.Subject)
	}
	cut := buried(t, "weir.chunks.acme", nil, []byte("x"), 1<<20)
	cut.Header.Set(wire.HeaderBodyCut, "5000")
	_, err := n.Replay(cut, 1)
	require.ErrorAs(t, err, &invalid)
	_, err = n.Replay(&nats.Msg{Subject: "weir.dead.acme", Header: nats.Header{}}, 1)
	require.ErrorAs(t, err, &invalid)
}
