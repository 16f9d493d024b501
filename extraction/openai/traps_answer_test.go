package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// The traps of go-openai that lie in answers with status 200, numbered as in
// docs/adr/0006-openai-adapter.md.

// R34, R31: the outcome of the model, in the order of the checks.
func TestTrap7WhatTheModelDidInsteadOfAnswering(t *testing.T) {
	p := start(t)
	for name, want := range map[string]extraction.ProviderError{
		"no_choices":     {Kind: extraction.KindEmpty},
		"refusal":        {Kind: extraction.KindRefused, FinishReason: "stop"},
		"content_filter": {Kind: extraction.KindRefused, FinishReason: "content_filter"},
		"length":         {Kind: extraction.KindTruncated, FinishReason: "length"},
		"length_empty":   {Kind: extraction.KindTruncated, FinishReason: "length"},
		"tool_calls":     {Kind: extraction.KindMalformed, FinishReason: "tool_calls", Schema: "graph"},
		"empty":          {Kind: extraction.KindEmpty, FinishReason: "stop"},
		"blank":          {Kind: extraction.KindEmpty, FinishReason: "stop"},
		"null_content":   {Kind: extraction.KindEmpty, FinishReason: "stop"},
	} {
		failed := p.fails(named(t, name))
		require.Equal(t, want.Kind, failed.Kind, name)
		require.Equal(t, want.FinishReason, failed.FinishReason, name)
		require.Equal(t, want.Schema, failed.Schema, name)
	}
	refusedWithContent := named(t, "refusal")
	refusedWithContent.ContentNull = false
	require.Equal(t, extraction.KindRefused, p.fails(refusedWithContent).Kind)
	for message, kind := range map[string]extraction.Kind{
		`{"content":{"entities":[]}}`:                         extraction.KindMalformed, // an object as content
		`{"content":5}`:                                       extraction.KindMalformed,
		`{"content":[{"type":"image_url"}]}`:                  extraction.KindEmpty,
		`{"content":null,"tool_calls":[{"type":"function"}]}`: extraction.KindMalformed,
		`{"content":"","tool_calls":[]}`:                      extraction.KindEmpty,
		`{}`:                                                  extraction.KindEmpty,
		`null`:                                                extraction.KindEmpty,
	} {
		body := `{"choices":[{"message":` + message + `,"finish_reason":"stop"}]}`
		require.Equal(t, kind, p.fails(modelserver.Raw(http.StatusOK, "application/json", body)).Kind, message)
	}
	for reason, kind := range map[string]extraction.Kind{
		"error": extraction.KindUnavailable, "abort": extraction.KindUnavailable, "model_length": extraction.KindTruncated,
	} {
		b := modelserver.Behaviour{Name: "custom", FinishReason: &reason}
		require.Equal(t, kind, p.fails(b).Kind, reason)
	}
}

// vllm#16182: an answer that stands in the reasoning is none, and the error says so.
func TestAnAnswerInTheReasoningIsNone(t *testing.T) {
	p := start(t)
	for _, name := range []string{"reasoning_only", "reasoning_only_2"} {
		failed := p.fails(named(t, name))
		require.Equal(t, extraction.KindEmpty, failed.Kind, name)
		require.Equal(t, "stop", failed.FinishReason, name)
		require.Contains(t, failed.Detail, "reasoning", name)
	}
}

func TestTrap7AnswersInOddClothesAreStillAnswers(t *testing.T) {
	p := start(t)
	want := modelserver.Answer(sentence).JSON()
	for name, finish := range map[string]string{
		"array_content": "stop", "no_finish": "", "null_finish": "", "odd_finish": "eos", "no_usage": "stop",
		"negative_usage": "stop", "absurd_usage": "stop", "wrong_type_usage": "stop", "slow": "stop",
	} {
		b := named(t, name)
		b.DelayMS /= 100
		p.server.Then(b)
		completion, err := p.ask(sentence)
		require.NoError(t, err, name)
		require.Equal(t, want, completion.Content, name)
		require.Equal(t, finish, completion.FinishReason, name)
		if strings.HasSuffix(name, "usage") {
			require.Equal(t, extraction.Usage{}, completion.Usage, name)
		}
	}
	// What the model writes is the pipeline's to judge.
	for _, name := range []string{"prose", "list", "fence", "think", "truncated_json", "nothing_found"} {
		p.server.Then(named(t, name))
		_, err := p.ask(sentence)
		require.NoError(t, err, name)
	}
	// Thinking parts are not the answer; fields of unexpected types do no harm.
	p.server.Then(modelserver.Raw(http.StatusOK, "application/json", `{"id":7,"created":1.5,"choices":[{"index":"0","logprobs":"none",
		"message":{"role":null,"content":[{"type":"thinking","text":"hm","thinking":[{"text":"hm"}]},{"type":"text","text":"a"},{"type":"text","text":"b"}]},
		"finish_reason":"stop"}],"usage":{"prompt_tokens":12.0,"completion_tokens":3}}`))
	completion, err := p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, "ab", completion.Content)
	require.Equal(t, extraction.Usage{PromptTokens: 12, CompletionTokens: 3}, completion.Usage)
}

func TestTrap9AnEventStreamIsNoAnswer(t *testing.T) {
	p := start(t)
	for _, body := range []string{
		"data: [DONE]\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: [DONE]\n\n",
		": keep-alive\n\n",
		"error: {\"message\":\"boom\"}\n\n",
	} {
		failed := p.fails(modelserver.Raw(http.StatusOK, "text/event-stream", body))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, body)
	}
}
