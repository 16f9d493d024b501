package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// R34, A19: which failures may pass with time and which never will.
func TestR34A19KindOfEachStatus(t *testing.T) {
	p := start(t)
	for status, kind := range map[int]extraction.Kind{
		400: extraction.KindInvalidRequest, 401: extraction.KindAuth, 402: extraction.KindQuota, 403: extraction.KindAuth,
		404: extraction.KindInvalidRequest, 405: extraction.KindInvalidRequest, 407: extraction.KindInvalidRequest, 408: extraction.KindUnavailable,
		409: extraction.KindUnavailable, 413: extraction.KindInvalidRequest, 415: extraction.KindInvalidRequest,
		422: extraction.KindInvalidRequest, 425: extraction.KindUnavailable, 429: extraction.KindRateLimited,
		500: extraction.KindUnavailable, 501: extraction.KindUnavailable, 502: extraction.KindUnavailable,
		503: extraction.KindUnavailable, 504: extraction.KindUnavailable, 524: extraction.KindUnavailable,
		529: extraction.KindUnavailable, 599: extraction.KindUnavailable,
	} {
		for _, style := range modelserver.Styles() {
			failed := p.fails(modelserver.Fails(status, style, "", "something"))
			require.Equal(t, kind, failed.Kind, "%d in style %s", status, style)
			require.Equal(t, status, failed.Status)
		}
	}
	require.Equal(t, 22*len(modelserver.Styles()), p.server.Stats().Requests, "one attempt each: retries are the wrapper's")
}

// R31: a wrong key looks like a wrong key at once; quota is not a rate limit.
func TestR31KindOfEachCode(t *testing.T) {
	p := start(t)
	for name, kind := range map[string]extraction.Kind{
		"forbidden": extraction.KindAuth, "no_model": extraction.KindInvalidRequest,
		"content_filter_azure": extraction.KindRefused, "context_openai": extraction.KindContextTooLong,
		"context_vllm": extraction.KindContextTooLong, "context_llamacpp": extraction.KindContextTooLong,
		"overloaded": extraction.KindUnavailable, "too_large": extraction.KindInvalidRequest,
	} {
		require.Equal(t, kind, p.fails(named(t, name)).Kind, name)
	}
}

// graphify#933: a wrong key, no money and too many requests want different things done.
func TestKindQuotaAuthAndRateLimitAreThreeThings(t *testing.T) {
	p := start(t)
	for name, kind := range map[string]extraction.Kind{
		"bad_key": extraction.KindAuth, "quota": extraction.KindQuota, "rate_limited": extraction.KindRateLimited,
	} {
		require.Equal(t, kind, p.fails(named(t, name)).Kind, name)
	}
	onlyType := modelserver.Fails(http.StatusTooManyRequests, modelserver.StyleOpenAI, "", "no money")
	onlyType.Error.Type = "insufficient_quota"
	require.Equal(t, extraction.KindQuota, p.fails(onlyType).Kind)
}

func TestContextTooLongInEveryServersWords(t *testing.T) {
	p := start(t)
	for _, words := range []string{
		"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
		"This model maximum context length is 2048 tokens. However, your messages resulted in over 2133 tokens.",
		"'max_tokens' or 'max_completion_tokens' is too large: 8192. This model's maximum context length is 4096 tokens and your request has 5000 input tokens.",
		"the request exceeds the available context size, try increasing it",
		"request (14429 tokens) exceeds the available context size (8192 tokens)",
		"Requested tokens (2285) exceed context window of 2048",
		"The input (9001 tokens) is longer than the model's context length (8192 tokens).",
		"Trying to keep the first 111490 tokens when context the overflows. However, the model is loaded with context length of only 32768 tokens.",
		"Context size has been exceeded.",
		"Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens and 100 `max_new_tokens`",
		"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
		"prompt is too long: 210000 tokens > 200000 maximum",
		"the prompt is too long: 9000, model maximum: 4096",
		"Input validation error: `inputs` must have less than 4096 tokens. Given: 9000",
		"Range of input length should be [1, 6000]",
		"Requested token count exceeds the model's maximum: 9000 > 4096",
		"input length and `max_tokens` exceed context limit: 9000 + 8192 > 9100, decrease input length or `max_tokens` and try again",
		"too many tokens: size limit exceeded by 11326 tokens. Try using shorter or fewer inputs.",
		"Please reduce the length of the messages or completion.",
	} {
		for _, style := range []modelserver.Style{
			modelserver.StyleOpenAI, modelserver.StyleFlat, modelserver.StyleVLLM, modelserver.StyleDetail, modelserver.StyleString,
		} {
			before := p.server.Stats().Requests
			failed := p.fails(modelserver.Fails(http.StatusBadRequest, style, "", words))
			require.Equal(t, extraction.KindContextTooLong, failed.Kind, "%s: %s", style, words)
			require.Equal(t, before+1, p.server.Stats().Requests, "permanent failures are not asked again")
		}
		require.Equal(t, extraction.KindUnavailable, p.fails(modelserver.Fails(500, modelserver.StyleOpenAI, "", words)).Kind)
	}
}
