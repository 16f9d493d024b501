package extraction_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// passes answers each question of a text with the next of these; an error ends
// them.
func passes(answers ...any) *scripted {
	p := &scripted{}
	p.answer = func(extraction.Request) (extraction.Completion, error) {
		switch a := answers[len(p.requests)-1].(type) {
		case error:
			return extraction.Completion{}, a
		default:
			return extraction.Completion{Content: a.(string), FinishReason: "stop", Usage: extraction.Usage{PromptTokens: 10, CompletionTokens: 1}}, nil
		}
	}
	return p
}

const adaAndBob = `Ada met Bob. "Cy" came later.`

func glean(t *testing.T, p *scripted, n int) extraction.Extraction {
	t.Helper()
	x, err := pipeline(t, p, extraction.WithGleaning(n)).Extract(t.Context(), "t", extraction.Chunk{Text: adaAndBob})
	require.NoError(t, err)
	return x
}

func met(source, target string) string {
	return fmt.Sprintf(`{"source":"%s","target":"%s","type":"met","description":"","confidence":null,"quote":"Ada met Bob"}`, source, target)
}

func TestGleaningAsksForWhatIsMissing(t *testing.T) {
	p := passes(answer(entityRow("Ada"), ""), answer(entityRow("Bob"), met("Ada", "Bob")), answer(entityRow("Cy"), ""))
	x := glean(t, p, 2)
	require.Len(t, p.requests, 3)
	require.Equal(t, extraction.Request{Tenant: "t", SystemPrompt: extraction.SystemPrompt, Text: adaAndBob, Schema: extraction.AnswerSchema()}, p.requests[0])
	for i, known := range []string{`["Ada"]`, `["Ada","Bob"]`} {
		r := p.requests[i+1]
		require.Equal(t, adaAndBob, r.Text, "the text is the last message, verbatim")
		require.True(t, r.Optional, "first calls of other chunks come first")
		require.True(t, strings.HasPrefix(r.SystemPrompt, extraction.SystemPrompt))
		require.True(t, strings.HasSuffix(r.SystemPrompt, "\n\n"+known), r.SystemPrompt)
	}
	require.Len(t, x.Entities, 3)
	require.Len(t, x.Relationships, 1, "between what two passes found")
	require.Equal(t, extraction.EntityID("t", "Ada", "thing"), x.Relationships[0].SourceID)
	require.Equal(t, "Ada met Bob", x.Relationships[0].Evidence.Quote)
	require.Equal(t, &extraction.Gleaning{Passes: 2, Added: 3}, x.Gleaning)
	require.Equal(t, extraction.Usage{PromptTokens: 30, CompletionTokens: 3}, x.Usage, "every pass is paid for")
	require.Equal(t, extraction.PromptVersion+"+glean-1x2", x.PromptVersion)
	require.Len(t, x.Excerpts, 1)
}

// By default a chunk is one call.
func TestWithoutGleaningThereIsOneCall(t *testing.T) {
	p := passes(answer(entityRow("Ada"), ""))
	x := glean(t, p, 0)
	require.Len(t, p.requests, 1)
	require.Nil(t, x.Gleaning)
	require.Equal(t, extraction.PromptVersion, x.PromptVersion)
}

func TestGleaningEndsWhenAPassAddsNothing(t *testing.T) {
	p := passes(answer(entityRow("Ada"), ""), answer(entityRow("ADA"), ""))
	x := glean(t, p, 5)
	require.Len(t, p.requests, 2)
	require.Len(t, x.Entities, 1)
	require.Equal(t, &extraction.Gleaning{Passes: 1}, x.Gleaning)
}

// What was found and paid for is not lost to a later pass, however that fails.
func TestAFailedPassKeepsWhatWasFound(t *testing.T) {
	for _, failure := range []any{
		&extraction.ProviderError{Kind: extraction.KindUnavailable}, &extraction.ProviderError{Kind: extraction.KindAuth},
		context.Canceled, context.DeadlineExceeded, "prose", "",
	} {
		p := passes(answer(entityRow("Ada"), ""), answer(entityRow("Bob"), ""), failure, answer(entityRow("Cy"), ""))
		x := glean(t, p, 3)
		require.Len(t, p.requests, 3, "%v ends the gleaning", failure)
		require.Len(t, x.Entities, 2)
		require.Equal(t, &extraction.Gleaning{Passes: 1, Failed: 1, Added: 1}, x.Gleaning)
		want := int64(20)
		if _, answered := failure.(string); answered {
			want = 30 // no answer to use, but one to pay for
		}
		require.Equal(t, want, x.Usage.PromptTokens)
		require.Equal(t, extraction.StatusOK, x.Status)
	}
	_, err := pipeline(t, passes(context.Canceled), extraction.WithGleaning(1)).Extract(t.Context(), "t", extraction.Chunk{Text: "Ada"})
	require.ErrorIs(t, err, context.Canceled, "the first call is the extraction")
}

// Rows of a pass count as those of the first answer do.
func TestDroppedRowsOfAPassMakeAnExtractionPartial(t *testing.T) {
	x := glean(t, passes(answer(entityRow("Ada"), ""), answer(`{"name":null},`+entityRow("Zebulon"), "")), 1)
	require.Equal(t, extraction.StatusPartial, x.Status)
	require.Equal(t, 1, x.Counters.Dropped)
	require.Equal(t, 1, x.Counters.Ungrounded, "what is not in the text has no evidence in any pass")
}

// A model that found much does not make the next prompt as long.
func TestThePromptOfAPassIsBounded(t *testing.T) {
	var rows []string
	for i := range 1000 {
		rows = append(rows, entityRow(strings.Repeat("é", 100)+fmt.Sprint(i)))
	}
	p := passes(answer(strings.Join(rows, ","), ""), nothing)
	glean(t, p, 1)
	require.Less(t, len(p.requests[1].SystemPrompt)-len(p.requests[0].SystemPrompt), 10<<10)
	require.True(t, strings.HasSuffix(p.requests[1].SystemPrompt, `"]`))
}

func TestGleaningIsBounded(t *testing.T) {
	for _, n := range []int{-1, extraction.MaxGleaning + 1} {
		_, err := extraction.NewPipeline(passes(), extraction.WithGleaning(n))
		require.ErrorContains(t, err, "gleaning")
	}
}

// Tokens of a pass that failed were paid for, too.
func TestFailedPassesCountWhatTheyUsed(t *testing.T) {
	used := extraction.Usage{PromptTokens: 900, CompletionTokens: 7}
	for want, failure := range map[extraction.Usage]error{
		{PromptTokens: 910, CompletionTokens: 8}:               fmt.Errorf("guard: %w", &extraction.ProviderError{Kind: extraction.KindTruncated, Status: 200, Usage: used}),
		{PromptTokens: 10, CompletionTokens: 1, Unreported: 1}: &extraction.ProviderError{Kind: extraction.KindRefused, Status: 200},
		{PromptTokens: 10, CompletionTokens: 1}:                &extraction.ProviderError{Kind: extraction.KindUnavailable, Status: 500},
	} {
		x := glean(t, passes(answer(entityRow("Ada"), ""), failure), 1)
		require.Equal(t, want, x.Usage)
		require.Equal(t, 1, x.Gleaning.Failed)
	}
}

func TestAnAnswerThatIsNoneSaysWhatItUsed(t *testing.T) {
	_, err := pipeline(t, passes("prose")).Extract(t.Context(), "t", extraction.Chunk{Text: adaAndBob})
	require.ErrorIs(t, err, extraction.ErrMalformed)
	require.Equal(t, extraction.Usage{PromptTokens: 10, CompletionTokens: 1}, extraction.UsageOf(err))
	require.Zero(t, extraction.UsageOf(&extraction.ProviderError{Kind: extraction.KindRefused, Status: 403}))
	require.Zero(t, extraction.UsageOf(context.Canceled))
}
