package hardened_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer/hardened"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// insatiable finds something new each time it is asked.
type insatiable struct{ calls int }

func (*insatiable) Model() string { return "test/insatiable" }

func (p *insatiable) Extract(context.Context, extraction.Request) (extraction.Completion, error) {
	name := string(rune('A' + p.calls))
	p.calls++
	return extraction.Completion{Content: `{"entities":[{"name":"` + name + `","type":"letter","quote":"` + name + `"}],"relationships":[]}`, FinishReason: "stop"}, nil
}

// Every pass is admitted by the tenant's limit, and leaves its last place to
// whoever needs it more. A refused one costs the chunk nothing.
func TestGleaningStaysWithinTheLimit(t *testing.T) {
	const limit = 4
	limiter, err := resilience.NewLimiter(resilience.LimiterConfig{Limits: resilience.Limits{Requests: limit}})
	require.NoError(t, err)
	guard, err := resilience.NewGuard(resilience.GuardConfig{Limiter: limiter, Classify: hardened.Classify})
	require.NoError(t, err)
	model := &insatiable{}
	pipeline, err := extraction.NewPipeline(hardened.New(model, guard), extraction.WithGleaning(8))
	require.NoError(t, err)

	x, err := pipeline.Extract(t.Context(), "acme", extraction.Chunk{Text: "A B C D E F G H"})
	require.NoError(t, err)
	require.Equal(t, limit-1, model.calls)
	require.Len(t, x.Entities, limit-1)
	require.Equal(t, &extraction.Gleaning{Passes: limit - 2, Failed: 1, Added: limit - 2}, x.Gleaning)

	_, err = pipeline.Extract(t.Context(), "acme", extraction.Chunk{Text: "Z"})
	require.NoError(t, err, "the last place")
	require.Equal(t, limit, model.calls)
	_, err = pipeline.Extract(t.Context(), "acme", extraction.Chunk{Text: "Z"})
	require.Error(t, err)
}
