package main

import (
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
	"github.com/weirkeeper/weirkeeper/internal/process"
)

func TestAFullChunkIsWhatTheLimiterTakesItFor(t *testing.T) {
	size, tiny := 1001, 16
	for characters, flags := range map[int]deliver.SplitFlags{
		extraction.DefaultChunkSize: {}, size: {ChunkSize: &size}, 4 * tiny: {ChunkTokens: tiny}, 4 * (tiny + 1): {ChunkTokens: tiny + 1, ChunkSize: &size}, tiny: {ChunkTokens: 1000, ChunkSize: &tiny},
	} {
		want := hardened.EstimateTokens(extraction.Request{SystemPrompt: extraction.SystemPrompt, Schema: extraction.AnswerSchema(), Text: strings.Repeat("a", characters)})
		require.Equal(t, want, fullChunk(flags), characters)
	}
}

func TestSmallTokensAreToldWhereTheyAreSet(t *testing.T) {
	for tpm, says := range map[int64]string{0: "", 5: "less than one full chunk needs", 999: "less than", 1000: "a long answer", 8999: "a long answer", 9000: ""} {
		var log process.Log
		warnSmallTokens(slog.New(slog.NewTextHandler(&log, nil)), tpm, 1000, 8000)
		if says == "" {
			require.Empty(t, log.String(), tpm)
		} else {
			require.Contains(t, log.String(), says, tpm)
			require.Contains(t, log.String(), "level=WARN")
		}
	}
	enough := chunkEstimate(extraction.DefaultChunkSize)
	short := enough - 1
	require.Empty(t, smallTokens(nil))
	require.Empty(t, smallTokens(&enough))
	require.Contains(t, smallTokens(&short), "wait in the queue until it is raised")
}
