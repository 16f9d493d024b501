package consumer_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
)

// What is known of a chunk are the stored results of the three before it.
func TestEarlierChunksOfTheSameDocument(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	evidence := &extraction.Evidence{Quote: "x", ByteEnd: 1}
	w.start(scripted(func(_ context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		x := found()
		x.Entities = []extraction.Entity{
			{ID: "a", Name: "Everywhere", Type: "x", Evidence: evidence},
			{ID: "b", Name: fmt.Sprintf("%s %d", c.DocumentID, c.Index), Type: "x", Evidence: evidence},
			{ID: "c", Name: "Invented", Type: "x"},
		}
		return x, nil
	}))
	for _, index := range []int{0, 1, 2, 4, 6} {
		w.send("acme", chunkJSON("d", index, "x"))
	}
	w.send("acme", chunkJSON("other", 4, "x"))
	w.send("globex", chunkJSON("d", 3, "x"))
	w.settled()
	require.Len(t, w.results(), 7)

	earlier, err := consumer.NewEarlier(w.js, w.names)
	require.NoError(t, err)
	names := func(ctx context.Context, document string, index int) extraction.Earlier {
		return earlier.Names(ctx, "acme", extraction.Chunk{DocumentID: document, Index: index})
	}
	require.Equal(t, extraction.Earlier{Names: []string{"Everywhere", "d 4", "d 2"}, Chunks: []int{4, 2}}, names(t.Context(), "d", 5))
	require.Equal(t, extraction.Earlier{Names: []string{"Everywhere", "d 0"}, Chunks: []int{0}}, names(t.Context(), "d", 1))
	require.Zero(t, names(t.Context(), "d", 0))
	require.Zero(t, names(t.Context(), "unknown", 5))
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.Zero(t, names(ended, "d", 5), "what cannot be read is not known")
	_, err = consumer.NewEarlier(nil, w.names)
	require.ErrorContains(t, err, "js")
}
