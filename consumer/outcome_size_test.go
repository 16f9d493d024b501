package consumer_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// A message that leaves no room for the headers of a dead letter is set aside
// whole all the same.
func TestDeadLetterOfAMessageAtTheLimit(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, natsconn.EmbeddedOptions{InProcess: true, MaxPayload: 20_000})
	w.start(failing())
	body := `{"text":1,"pad":"` + strings.Repeat("Ada met Charles. ", 1175) + `"}`
	body += strings.Repeat(" ", 20_000-len(body))
	w.send("acme", body)
	d := w.onlyDead()
	msg := &nats.Msg{Header: d.msg.Header, Data: d.msg.Data}
	got, cut, err := wire.DeadLetterBody(msg, 20_000)
	require.NoError(t, err)
	require.False(t, cut)
	require.Equal(t, body, string(got))
}

func TestResultThatDoesNotPassTheServer(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, natsconn.EmbeddedOptions{InProcess: true, MaxPayload: 20_000})
	x := scripted(func(context.Context, int, extraction.Chunk) (extraction.Extraction, error) {
		f := found()
		f.Entities[0].Description = strings.Repeat("x", 30_000)
		return f, nil
	})
	w.start(x)
	w.send("acme", `{"text":"Ada"}`)
	d := w.onlyDead()
	require.Equal(t, "malformed", d.Kind)
	require.Contains(t, d.Error, "max_payload")
}

// The text around evidence is left out before a result is given up for its size.
func TestResultWithoutRoomForExcerpts(t *testing.T) {
	t.Parallel()
	w := newWorldOn(t, natsconn.EmbeddedOptions{InProcess: true, MaxPayload: 20_000})
	excerpts := []extraction.Excerpt{{Text: strings.Repeat("x", 100)}}
	w.start(scripted(func(_ context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		f := found()
		f.Excerpts = excerpts
		if c.Index == 1 {
			f.Excerpts = []extraction.Excerpt{{Text: strings.Repeat("x", 30_000)}}
		}
		return f, nil
	}))
	w.send("acme", `{"document_id":"d","index":0,"total":2,"text":"Ada","title":"Letters","uri":"file:letters"}`)
	w.send("acme", `{"document_id":"d","index":1,"total":2,"text":"Ada"}`)
	w.settled()
	require.Empty(t, w.dead())
	byIndex := map[int]wire.Result{}
	for _, msg := range w.messages(w.names.ResultStream()) {
		result, err := wire.DecodeResult(msg.Data)
		require.NoError(t, err)
		byIndex[result.Index] = result
	}
	require.Equal(t, excerpts, byIndex[0].Excerpts)
	require.Equal(t, []string{"Letters", "file:letters"}, []string{byIndex[0].Title, byIndex[0].URI})
	require.Len(t, byIndex, 2)
	require.Empty(t, byIndex[1].Excerpts)
	require.Equal(t, found().Entities, byIndex[1].Entities)
}

// A stream takes headers of almost 64 KiB, and those of a letter come on top: a message
// that has so many is set aside without them, instead of coming back for ever.
func TestDeadLetterOfAMessageWithAsManyHeadersAsAStreamTakes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing())
	for _, key := range []string{"X-Mine", "Content-Type"} {
		w.sendTo(w.names.ChunkSubject("acme"), "garbage", nats.Header{key: {strings.Repeat("x", 65_300)}})
	}
	w.settled()
	dead := w.dead()
	require.Len(t, dead, 2)
	for _, d := range dead {
		require.Equal(t, "invalid_message", d.Kind)
		require.Equal(t, "garbage", string(d.msg.Data))
	}
}
