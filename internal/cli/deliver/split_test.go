package deliver_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
)

// A chunk size alone is enough: the overlap that nobody asked for makes room. One that was
// asked for and does not fit is an error.
func TestTheDefaultOverlapFitsTheChunkSize(t *testing.T) {
	n := func(n int) *int { return &n }
	text := strings.Repeat("a", 12_000) // without a boundary: chunks are full, and overlap as far as they may
	for _, c := range []struct {
		size, overlap *int
		want          int
	}{
		{nil, nil, 200}, {n(1000), nil, 200}, {n(800), nil, 200}, {n(150), nil, 37}, {n(3), nil, 0}, {n(1), nil, 0},
		{n(150), n(149), 149}, {n(150), n(0), 0}, {nil, n(0), 0},
	} {
		splitter, err := deliver.SplitFlags{ChunkSize: c.size, ChunkOverlap: c.overlap}.Splitter()
		require.NoError(t, err)
		chunks, err := splitter.Split(extraction.Document{Text: text})
		require.NoError(t, err)
		require.Equal(t, c.want, chunks[0].ByteEnd-chunks[1].ByteStart)
	}
	for _, flags := range []deliver.SplitFlags{
		{ChunkSize: n(150), ChunkOverlap: n(150)}, {ChunkSize: n(150), ChunkOverlap: n(-1)}, {ChunkOverlap: n(3000)},
	} {
		_, err := flags.Splitter()
		require.ErrorContains(t, err, "--chunk-overlap must be 0 to size-1")
	}
	_, err := deliver.SplitFlags{ChunkSize: n(0)}.Splitter()
	require.ErrorContains(t, err, "--chunk-size must be positive")
}
