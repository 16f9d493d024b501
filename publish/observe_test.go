package publish_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish"
)

// witness writes down what an observer is told.
type witness struct{ told []string }

func (w *witness) Document(ctx context.Context, d publish.PlannedDocument) (context.Context, func(error)) {
	w.told = append(w.told, "document "+d.ID)
	return ctx, func(err error) { w.told = append(w.told, fmt.Sprintf("handed %t", err == nil)) }
}

func (w *witness) Chunk(_ context.Context, c extraction.Chunk, _ int, header map[string][]string) func(bool, error) {
	header["index"] = []string{fmt.Sprint(c.Index)}
	w.told = append(w.told, fmt.Sprint("chunk ", c.Index))
	return func(duplicate bool, err error) {
		w.told = append(w.told, fmt.Sprintf("stored %d %t %t", c.Index, duplicate, err == nil))
	}
}

func TestAnObserverHearsOfEveryChunk(t *testing.T) {
	f := newFleet(t)
	source := file(t, "a.txt", sentences(2))
	plan := f.plan("d", source)
	require.Equal(t, 2, plan.Chunks)
	seen := &witness{}
	publisher := f.publisher(plan)
	publisher.Observe(seen)
	require.NoError(t, publisher.Send(t.Context()))
	require.Equal(t, []string{"document d", "chunk 0", "chunk 1", "handed true", "stored 0 false true", "stored 1 false true"}, seen.told)

	messages := f.take(2)
	for i, msg := range messages {
		require.Equal(t, fmt.Sprint(i), msg.Headers().Get("index"))
	}
	f.finish(messages[0], extraction.Extraction{})
	seen.told = nil
	publisher = f.publisher(f.plan("d", source))
	publisher.Observe(seen)
	require.NoError(t, publisher.Send(t.Context()))
	require.Equal(t, []string{"document d", "chunk 1", "handed true", "stored 1 true true"}, seen.told)
}

// Whatever is told to begin is told to end, also if nothing can be sent.
func TestAnObserverHearsOfWhatIsNotSent(t *testing.T) {
	f := newFleet(t)
	stream, err := f.js.Stream(t.Context(), f.names.ChunkStream())
	require.NoError(t, err)
	config := stream.CachedInfo().Config
	config.MaxMsgs, config.Discard = 1, jetstream.DiscardNew
	_, err = f.js.UpdateStream(t.Context(), config)
	require.NoError(t, err)
	seen := &witness{}
	publisher := f.publisher(f.plan("d", file(t, "a.txt", sentences(4))))
	publisher.Observe(seen)
	var failed *publish.SendError
	require.ErrorAs(t, publisher.Send(t.Context()), &failed)
	require.Contains(t, seen.told, "stored 0 false true")
	require.Contains(t, seen.told, "stored 1 false false")
	begun, ended := 0, 0
	for _, line := range seen.told {
		switch line[:5] {
		case "chunk", "docum":
			begun++
		default:
			ended++
		}
	}
	require.Equal(t, begun, ended)
}
