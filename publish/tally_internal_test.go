package publish

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func resultAt(index, total int, accepted time.Time) stored[wire.Result] {
	r := wire.Result{ChunkID: "c", Index: index, Total: total, FinishedAt: accepted}
	r.Usage = extraction.Usage{PromptTokens: 2, CompletionTokens: 1}
	return stored[wire.Result]{value: r, accepted: accepted}
}

// Who reads a large tenant keeps a bit of each chunk, not the chunk.
func TestTallyStaysSmall(t *testing.T) {
	const chunks = 100_000
	tally, at := newTally(), time.Unix(1, 0)
	for i := range chunks {
		tally.addResult(fateOf(resultAt(i, chunks, at)))
	}
	require.Len(t, tally.versions, 1)
	require.Empty(t, tally.revived)
	require.LessOrEqual(t, len(tally.seen), chunks/64+1)
	p := tally.progress(0)
	require.Equal(t, chunks, p.Done)
	require.Equal(t, int64(2*chunks), p.Usage.PromptTokens)
	require.Zero(t, p.Waiting)
}

// A result that is replaced while the results are read comes twice.
func TestTallyCountsAnIndexOnce(t *testing.T) {
	tally := newTally()
	tally.addResult(fateOf(resultAt(70, 200, time.Unix(1, 0))))
	tally.addResult(fateOf(resultAt(70, 200, time.Unix(2, 0))))
	tally.addResult(fateOf(resultAt(6, 200, time.Unix(1, 0))))
	p := tally.progress(0)
	require.Equal(t, 2, p.Done)
	require.Equal(t, 198, p.Waiting)
}

// A dead letter costs what its last call used, and a result instead of it only that.
func TestTallyCountsWhatDeadLettersUsed(t *testing.T) {
	at := time.Unix(1, 0)
	dead := func(index int, chunk string, used *extraction.Usage) stored[Dead] {
		d := Dead{DocumentID: "d", Index: index, Total: 4, ChunkID: chunk}
		d.Kind, d.FailedAt, d.Usage = "malformed", at, used
		return stored[Dead]{value: d, accepted: at}
	}
	tally := newTally()
	tally.addDead(dead(0, "a", &extraction.Usage{PromptTokens: 40, CompletionTokens: 30}))
	tally.addDead(dead(1, "b", nil))
	tally.addDead(dead(2, "c", &extraction.Usage{PromptTokens: 100, CompletionTokens: 100}))
	tally.addResult(fateOf(resultAt(2, 4, at))) // of chunk c, which was sent again
	tally.addResult(fateOf(resultAt(3, 4, at)))
	p := tally.progress(0)
	require.Equal(t, map[string]int{"malformed": 2}, p.Dead)
	require.Equal(t, extraction.Usage{PromptTokens: 44, CompletionTokens: 32}, p.Usage)
	require.Zero(t, p.UsageIncomplete)
}
