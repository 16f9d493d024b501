package main

import (
	"fmt"
	"log/slog"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
)

// A limit of tokens that no chunk fits is a slip, such as 5 for 5000000. Nothing is
// lost by it, but nothing is done either: it is told where it is made.

// chunkEstimate is what a chunk of so many characters is taken to need before it is
// asked for, with the built-in instructions.
func chunkEstimate(characters int) int64 {
	return promptEstimate() + 2*((int64(characters)+3)/4)
}

func promptEstimate() int64 {
	return hardened.EstimateTokens(extraction.Request{SystemPrompt: extraction.SystemPrompt, Schema: extraction.AnswerSchema()})
}

// fullChunk is [chunkEstimate] of the longest chunk that the flags make.
func fullChunk(split deliver.SplitFlags) int64 {
	switch {
	case split.ChunkSize == nil && split.ChunkTokens == 0:
		return chunkEstimate(extraction.DefaultChunkSize)
	case split.ChunkSize == nil:
		return promptEstimate() + 2*int64(split.ChunkTokens)
	case split.ChunkTokens == 0:
		return chunkEstimate(*split.ChunkSize)
	}
	return min(chunkEstimate(*split.ChunkSize), promptEstimate()+2*int64(split.ChunkTokens))
}

// warnSmallTokens tells of a --tpm that a single chunk uses up. An answer may have
// maxTokens, which is more than is taken for granted beforehand.
func warnSmallTokens(logger *slog.Logger, tpm, estimate int64, maxTokens int) {
	switch {
	case tpm == 0:
	case tpm < estimate:
		logger.Warn("--tpm is less than one full chunk needs: such chunks wait in the queue until it is raised; raise --tpm, or split smaller with --chunk-size", "tpm", tpm, "one_chunk", estimate)
	case tpm < estimate+int64(maxTokens):
		logger.Warn("one chunk with a long answer uses more than --tpm, and the tenant's others then wait for a whole window; raise --tpm, or lower --max-tokens", "tpm", tpm, "one_chunk", estimate, "max_tokens", maxTokens)
	}
}

// smallTokens says so, in one sentence, if a tenant's tpm is less than a chunk of the
// usual size needs, else "".
func smallTokens(tpm *int64) string {
	need := chunkEstimate(extraction.DefaultChunkSize)
	if tpm == nil || *tpm >= need {
		return ""
	}
	return fmt.Sprintf("a tpm of %d is less than a chunk of %d characters needs, which is about %d: such chunks wait in the queue until it is raised", *tpm, extraction.DefaultChunkSize, need)
}
