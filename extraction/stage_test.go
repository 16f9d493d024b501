package extraction_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

type answering struct {
	content string
	under   []string // the stages that calls are made in
}

type stageKey struct{}

func (a *answering) Extract(ctx context.Context, _ extraction.Request) (extraction.Completion, error) {
	stage, _ := ctx.Value(stageKey{}).(extraction.Stage)
	a.under = append(a.under, string(stage))
	return extraction.Completion{Content: a.content, FinishReason: "stop"}, nil
}

func (a *answering) Model() string { return "test/one" }

// Stages are told in their order, each ends with its error, and what is done in one is
// done under its context.
func TestStagesAreTold(t *testing.T) {
	type ended struct {
		stage extraction.Stage
		err   error
	}
	var told []ended
	begin := func(ctx context.Context, s extraction.Stage) (context.Context, func(error)) {
		return context.WithValue(ctx, stageKey{}, s), func(err error) { told = append(told, ended{s, err}) }
	}
	domains, err := extraction.NewDomains("", extraction.Domain{ID: "general"})
	require.NoError(t, err)
	chooser, err := extraction.NewChooser(extraction.ChooserConfig{Domains: domains})
	require.NoError(t, err)
	provider := &answering{content: `{"entities":[],"relationships":[]}`}
	p, err := extraction.NewPipeline(provider, extraction.WithStages(begin), extraction.WithChooser(chooser), extraction.WithGleaning(1))
	require.NoError(t, err)
	_, err = p.Extract(t.Context(), "acme", extraction.Chunk{Text: "Ada."})
	require.NoError(t, err)
	require.Equal(t, []ended{{extraction.StageClassify, nil}, {extraction.StageGround, nil}}, told)
	require.Equal(t, []string{"", "ground"}, provider.under, "a further pass is within")

	told, provider.content = nil, "no JSON"
	_, err = p.Extract(t.Context(), "acme", extraction.Chunk{Text: "Ada."})
	require.ErrorIs(t, err, extraction.ErrMalformed)
	require.Len(t, told, 2)
	require.Same(t, err, told[1].err)

	var wrong *extraction.ArgumentError
	_, err = extraction.NewPipeline(provider, extraction.WithStages(nil))
	require.ErrorAs(t, err, &wrong)
}
