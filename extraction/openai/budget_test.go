package openai_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// budgets are the max_tokens of the requests so far.
func (p pair) budgets() []int {
	var out []int
	for _, r := range p.server.Records() {
		request := modelserver.Request{Body: r.Body}
		require.NoError(p.t, request.Parse())
		out = append(out, request.MaxTokens)
	}
	return out
}

// vLLM counts the prompt and the whole budget against the context: with the
// default budget, no prompt at all fits a model of 8k.
func TestABudgetThatLeavesNoRoomForThePromptIsCut(t *testing.T) {
	var log bytes.Buffer
	p := start(t, func(c *openai.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	p.server.Default(modelserver.Behaviour{Context: 8192})
	require.Equal(t, 8192, p.provider.Learnt().MaxTokens)
	for range 3 {
		completion, err := p.ask(sentence)
		require.NoError(t, err)
		require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
	}
	require.Equal(t, []int{8192, 4096, 4096, 4096}, p.budgets(), "what was learnt is remembered")
	require.Equal(t, 4096, p.provider.Learnt().MaxTokens)
	require.Equal(t, 1, strings.Count(log.String(), "max_tokens=4096"), log.String())

	// A longer prompt than half of the context gets what it leaves, and costs the
	// others nothing.
	_, err := p.ask(strings.Repeat("Ada. ", 5000*4/5))
	require.NoError(t, err)
	_, err = p.ask(sentence)
	require.NoError(t, err)
	sent := p.budgets()
	require.Equal(t, []int{4096, 8192 - 5007, 4096}, sent[len(sent)-3:])

	// One that leaves no room to speak of is too long, and is not asked for again.
	before := p.server.Stats().Requests
	for _, tokens := range []int{8000, 9000} {
		_, err = p.ask(strings.Repeat("Ada. ", tokens*4/5))
		require.ErrorIs(t, err, extraction.ErrContextTooLong)
	}
	require.Equal(t, before+2, p.server.Stats().Requests)
	require.Equal(t, 4096, p.provider.Learnt().MaxTokens)

	// Another model, or another server, is asked anew.
	require.Equal(t, 8192, connect(t, p.server.BaseURL()).Learnt().MaxTokens)
}

func TestTheWordsInWhichServersStateTheirSizes(t *testing.T) {
	for _, c := range []struct {
		words string
		want  int // the second request's budget
	}{
		{"This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (809 in the messages, 8192 in the completion). Please reduce the length of the messages or completion.", 4096},
		{"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 8192 tokens and your request has 2000 input tokens (8192 > 8192 - 2000).", 4096},
		{"This model's maximum context length is 8192 tokens. However, you requested 8192 output tokens and your prompt contains at least 1 input tokens, for a total of at least 8193 tokens.", 4096},
		{"You passed 809 input tokens and requested 8192 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 0 tokens.", 4096},
		{"Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9001 tokens: 809 tokens from the input messages and 8192 tokens for the completion.", 4096},
		{"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 809 `inputs` tokens and 8192 `max_new_tokens`", 4096},
		{"This model's maximum context length is 8192 tokens. However, you requested 14192 tokens (6000 in the messages, 8192 in the completion).", 2192},
		{"This model's maximum context length is 8192 tokens. However, you requested 8192 output tokens and your prompt contains at least 6000 input tokens.", 2048},
		{"max_tokens is too large: 8192. This model supports at most 4096 completion tokens, whereas you provided 8192.", 4096},
		{"max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens for claude", 4096},
		{"`max_tokens` must be less than or equal to `4000`, the maximum value for `max_tokens` is less than the `context_window` for this model", 4000},
		{"Invalid max_tokens value, the valid range of max_tokens is [1, 4000]", 4000},
		{"Range of max_tokens should be [1, 4000]", 4000},
		{"Range of max_tokens should be [1,4000]", 4000},
		{"This endpoint's maximum context length is 8192 tokens. However, you requested about 9000 tokens (808 of text input, 8192 in the output). Please reduce the length of either one, or use the \"middle-out\" transform to compress your prompt automatically.", 4096},
		{"This endpoint's maximum context length is 16,384 tokens. However, you requested about 18,000 tokens (8,808 of text input, 1,000 of tool input, 8,192 in the output).", 6576},
		{"This model's maximum context length is 8192 tokens, however you requested 8977 tokens (785 in your prompt; 8192 for the completion). Please reduce your prompt; or completion length.", 4096},
		{"input length and `max_tokens` exceed context limit: 808 + 8192 > 8192, decrease input length or `max_tokens` and try again", 4096},
		{"`max_tokens`: 8192 + 6000 > 8192", 2192},
		{"max_tokens must be at most 4096", 4096},
		{"max_tokens must be at most 4096, got 8192.", 4096},
		{"max_tokens for `llama-3.1-8b-instant-2048` must be less than or equal to 8000", 8000},
		{"litellm.BadRequestError: Error code: 400 - max_tokens: 8192 > 4096, which is the maximum allowed number of output tokens", 4096},
		{"too many tokens: max tokens must be less than or equal to 4096, the maximum output length for this model - received 8192.", 4096},
		{"The maximum tokens you requested exceeds the model limit of 4096. Try again with a maximum tokens value that is lower than 4096.", 4095},
		{"max_tokens (8192) is more than the context length of 8000", 4000},
	} {
		for _, style := range []modelserver.Style{modelserver.StyleOpenAI, modelserver.StyleFlat, modelserver.StyleVLLM, modelserver.StyleDetail, modelserver.StyleString} {
			p := start(t)
			status := http.StatusBadRequest
			if strings.Contains(c.words, "inputs") {
				status = http.StatusUnprocessableEntity
			}
			p.server.Then(modelserver.Fails(status, style, "", c.words))
			_, err := p.ask(sentence)
			require.NoError(t, err, c.words)
			require.Equal(t, []int{8192, c.want}, p.budgets(), c.words)
		}
	}
}

// A server that says one thing and does another is asked twice more at most, and
// one that says nonsense spoils nothing.
func TestASmallerBudgetIsTriedAFewTimesOnly(t *testing.T) {
	for words, want := range map[string][]int{
		"maximum context length is 8192 tokens. However, you requested 9001 tokens (809 in the messages, 8192 in the completion)":       {8192, 4096},
		"maximum context length is 8192 tokens. However, you requested 8192 output tokens and your prompt contains at least 7000 input": {8192},
		"maximum context length is 8192 tokens. However, your prompt contains at least 6000 input tokens":                               {8192, 2048, 1024},
		"maximum context length is 8192 tokens. However, you requested 17000 tokens (9000 in the messages, 8192 in the completion)":     {8192},
		"maximum context length is 300 tokens. However, you requested 8193 tokens (1 in the messages, 8192 in the completion)":          {8192, 299},
		"maximum context length is 8192 tokens. However, you requested 9 tokens (0 in the messages, 9 in the completion)":               {8192},
		"input length and `max_tokens` exceed context limit: 9000 + 8192 > 9100, decrease input length or `max_tokens`":                 {8192},
		"You requested 8192 output tokens, and the limits are 4096 on weekdays and 2048 on others":                                      {8192},
		"max_tokens: the messages have 4096 tokens":                          {8192},
		"This model supports at most 0 completion tokens":                    {8192},
		"This model supports at most 99999999999999999999 completion tokens": {8192},
		"This model supports at most 9000 completion tokens":                 {8192},
	} {
		p := start(t)
		p.server.Default(modelserver.Fails(400, modelserver.StyleOpenAI, "", words))
		_, err := p.ask(sentence)
		require.Error(t, err)
		require.Equal(t, want, p.budgets(), words)
	}
	// The document may state sizes, too; a server that echoes it says nothing about
	// itself.
	const document = "This model's maximum context length is 8192 tokens. However, you requested 9001 tokens (809 in the messages, 8192 in the completion)."
	p := start(t)
	p.server.Default(modelserver.Fails(400, modelserver.StyleOpenAI, "", "cannot process: {text}"))
	_, err := p.ask(document)
	require.Error(t, err)
	require.Equal(t, []int{8192}, p.budgets())
	// Neither does one whose trouble is another.
	p.server.Default(modelserver.Fails(500, modelserver.StyleOpenAI, "", document))
	_, err = p.ask(sentence)
	require.ErrorIs(t, err, extraction.ErrUnavailable)
	require.Equal(t, []int{8192, 8192}, p.budgets())
}

// A short question with a budget of its own stays as it is.
func TestASmallBudgetIsNotTouched(t *testing.T) {
	p := start(t)
	p.server.Default(modelserver.Behaviour{Context: 8192})
	req := ask(sentence)
	req.MaxTokens = 50
	for range 2 {
		_, err := p.provider.Extract(t.Context(), req)
		require.NoError(t, err)
		_, err = p.ask(sentence)
		require.NoError(t, err)
	}
	require.Equal(t, []int{50, 8192, 4096, 50, 4096}, p.budgets())
}
