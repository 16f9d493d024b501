package extraction_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

func carrying(names ...string) extraction.PipelineOption {
	return extraction.WithCarryOver(func(_ context.Context, tenant string, c extraction.Chunk) extraction.Earlier {
		if tenant != "t" || c.Index == 0 {
			return extraction.Earlier{}
		}
		return extraction.Earlier{Names: names, Chunks: []int{c.Index - 1}}
	})
}

func TestNamesAreCarriedOver(t *testing.T) {
	p := passes(answer(entityRow("Ada Lovelace"), ""), nothing)
	pipe := pipeline(t, p, carrying("Ada Lovelace", `Cy "the" Third`), extraction.WithGleaning(1))
	x, err := pipe.Extract(t.Context(), "t", extraction.Chunk{Text: "Lovelace wrote.", Index: 4})
	require.NoError(t, err)
	require.Equal(t, &extraction.CarriedOver{Names: 2, Chunks: []int{3}}, x.CarriedOver)
	require.Equal(t, extraction.PromptVersion+"+carry-1+glean-1x1", x.PromptVersion)
	require.Equal(t, 1, x.Counters.Ungrounded, "a name that the text does not have is not evidence")
	require.Equal(t, "Lovelace wrote.", p.requests[0].Text)
	for _, r := range p.requests {
		require.True(t, strings.HasPrefix(r.SystemPrompt, extraction.SystemPrompt))
		require.Contains(t, r.SystemPrompt, `["Ada Lovelace","Cy \"the\" Third"]`)
	}
}

// Where nothing is known nothing is told, and the result says so.
func TestNothingIsCarriedIntoTheFirstChunk(t *testing.T) {
	p := passes(nothing)
	x, err := pipeline(t, p, carrying("Ada")).Extract(t.Context(), "t", extraction.Chunk{Text: "x"})
	require.NoError(t, err)
	require.Equal(t, &extraction.CarriedOver{Chunks: []int{}}, x.CarriedOver)
	require.Equal(t, extraction.SystemPrompt, p.requests[0].SystemPrompt)
	_, err = extraction.NewPipeline(p, extraction.WithCarryOver(nil))
	require.ErrorContains(t, err, "carry-over")
}
