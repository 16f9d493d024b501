package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// One document that a moderator objects to says nothing about the key.
func TestA403AboutTheTextIsRefused(t *testing.T) {
	p := start(t)
	for body, kind := range map[string]extraction.Kind{
		`{"error":{"code":403,"message":"Input was flagged","metadata":{"reasons":["violence"],"flagged_input":"x","provider_name":"p"}}}`: extraction.KindRefused,
		`{"error":{"code":403,"message":"no","metadata":{"reasons":["violence"]}}}`:                                                        extraction.KindRefused,
		`{"error":{"message":"Your input was rejected by our content policy"}}`:                                                            extraction.KindRefused,
		`{"error":{"message":"no","type":"moderation_blocked"}}`:                                                                           extraction.KindRefused,
		`{"error":{"message":"no","code":"content_filter"}}`:                                                                               extraction.KindRefused,
		`{"error":{"message":"Your account was flagged"}}`:                                                                                 extraction.KindAuth,
		`{"error":{"message":"You have no access to the moderation API"}}`:                                                                 extraction.KindAuth,
		`{"error":{"message":"flagged","code":"invalid_api_key"}}`:                                                                         extraction.KindAuth,
		`{"error":{"message":"no","metadata":{"reasons":[]}}}`:                                                                             extraction.KindAuth,
		`{"error":{"message":"Country not supported"}}`:                                                                                    extraction.KindAuth,
		``: extraction.KindAuth,
	} {
		require.Equal(t, kind, p.fails(modelserver.Behaviour{Name: "custom", Status: http.StatusForbidden, Body: &body}).Kind, body)
		require.Equal(t, extraction.KindAuth, p.fails(modelserver.Behaviour{Name: "custom", Status: http.StatusUnauthorized, Body: &body}).Kind)
	}
}

// So may a 400 be about the text, or about the request, or about the key.
func TestA400AboutTheTextIsRefusedAndOneAboutTheKeyIsAuth(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		p := start(t, func(c *openai.Config) { c.Stream = streamed })
		for body, kind := range map[string]extraction.Kind{
			`{"error":{"message":"Your input was flagged by our moderation policy","type":"invalid_request_error","code":null}}`:                                                      extraction.KindRefused,
			`{"error":{"message":"no","type":"data_inspection_failed","code":"data_inspection_failed"}}`:                                                                              extraction.KindRefused,
			`{"error":{"message":"Input data may contain inappropriate content."}}`:                                                                                                   extraction.KindRefused,
			`{"error":{"message":"Content Exists Risk","type":"invalid_request_error","code":"invalid_request_error"}}`:                                                               extraction.KindRefused,
			`{"error":{"message":"The response was filtered","param":"prompt","code":"content_filter","status":400}}`:                                                                 extraction.KindRefused,
			`{"error":{"message":"Provider returned error","code":400,"metadata":{"reasons":["violence"],"flagged_input":"x"}}}`:                                                      extraction.KindRefused,
			`{"error":{"message":"messages[0] was flagged","param":"messages[0].content"}}`:                                                                                           extraction.KindRefused,
			`{"error":{"message":"Unknown parameter: 'moderation'","param":"moderation","code":"unknown_parameter"}}`:                                                                 extraction.KindInvalidRequest,
			`{"error":{"message":"Your account was flagged"}}`:                                                                                                                        extraction.KindInvalidRequest,
			`{"error":{"message":"maximum context length is 100 tokens, flagged","code":"context_length_exceeded"}}`:                                                                  extraction.KindContextTooLong,
			`[{"error":{"code":400,"message":"API key not valid. Please pass a valid API key.","status":"INVALID_ARGUMENT","details":[{"@type":"x"},{"reason":"API_KEY_INVALID"}]}}]`: extraction.KindAuth,
			`{"error":{"code":400,"message":"no","details":[{"reason":"API_KEY_INVALID"}]}}`:                                                                                          extraction.KindAuth,
			`{"error":{"code":400,"message":"API key expired. Please renew the API key."}}`:                                                                                           extraction.KindAuth,
			`{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xx***xx."}`:                                                                          extraction.KindAuth,
			`{"error":{"code":400,"message":"no","details":[{"reason":"BAD_FIELD"}]}}`:                                                                                                extraction.KindInvalidRequest,
			`{"error":{"code":400,"message":"no","details":[5,{"reason":7},"x",{}]}}`:                                                                                                 extraction.KindInvalidRequest,
		} {
			require.Equal(t, kind, p.fails(modelserver.Behaviour{Name: "custom", Status: http.StatusBadRequest, Body: &body}).Kind, body)
		}
		// What the document says is not what the server says.
		const document = "Your input was flagged by our moderation policy, and the API key is not valid."
		p.server.Then(modelserver.Fails(http.StatusBadRequest, modelserver.StyleOpenAI, "", "cannot read: {text}"))
		_, err := p.ask(document)
		require.ErrorIs(t, err, extraction.ErrInvalidRequest)
	}
}

// Refusals that come with a status of success, in whole answers and in streams.
func TestRefusalsWithStatus200(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		p := start(t, func(c *openai.Config) { c.Stream = streamed })
		for body, kind := range map[string]extraction.Kind{
			`{"choices":[{"index":0,"message":{"content":[{"type":"refusal","refusal":"I cannot help with that"}]},"finish_reason":"stop"}]}`:        extraction.KindRefused,
			`{"choices":[{"index":0,"message":{"content":[{"type":"text","text":"{}"},{"type":"refusal","refusal":"no"}]},"finish_reason":"stop"}]}`: extraction.KindRefused,
			`{"choices":[{"index":0,"message":{"content":[{"type":"refusal","refusal":5}]},"finish_reason":"stop"}]}`:                                extraction.KindEmpty,
			`{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":true,"severity":"high"}}}]}`:      extraction.KindRefused,
			`{"choices":[],"prompt_filter_results":[{"prompt_index":0,"content_filter_results":{"hate":{"filtered":false}}}]}`:                       extraction.KindEmpty,
			`{"choices":[],"prompt_filter_results":"odd"}`:                                                       extraction.KindEmpty,
			`{"error":{"message":"Input flagged by moderation","code":403,"metadata":{"reasons":["violence"]}}}`: extraction.KindRefused,
			`{"error":{"message":"no","code":"content_filter"}}`:                                                 extraction.KindRefused,
			`{"error":{"message":"no","type":"moderation_error"}}`:                                               extraction.KindRefused,
			`{"error":{"message":"flagged","code":403}}`:                                                         extraction.KindUnavailable,
			`{"choices":[{"index":0,"error":{"message":"no","code":403,"metadata":{"reasons":["violence"]}},"message":{"content":""},"finish_reason":"error"}]}`: extraction.KindRefused,
			`{"choices":[{"index":0,"error":{"message":"boom","code":502},"message":{"content":""},"finish_reason":"error"}]}`:                                   extraction.KindUnavailable,
		} {
			if streamed {
				body = "data: " + strings.Replace(body, `"message":{"content"`, `"delta":{"content"`, 1) + "\n\ndata: [DONE]\n\n"
			}
			require.Equal(t, kind, p.fails(modelserver.Behaviour{Name: "custom", Body: &body}).Kind, body)
		}
	}
}

// The words of Gemini and others behind gateways, also with a whole answer.
func TestFinishReasonsOfOtherVendors(t *testing.T) {
	p := start(t)
	for _, content := range []string{"", `{"entities":[],"relationships":[]}`} {
		for reason, kind := range map[string]extraction.Kind{
			"SAFETY": extraction.KindRefused, "RECITATION": extraction.KindRefused, "PROHIBITED_CONTENT": extraction.KindRefused,
			"BLOCKLIST": extraction.KindRefused, "SPII": extraction.KindRefused, "Safety": extraction.KindRefused, "refusal": extraction.KindRefused,
			"content_filter: PROHIBITED_CONTENT": extraction.KindRefused, "MAX_TOKENS": extraction.KindTruncated,
			"insufficient_system_resource": extraction.KindUnavailable,
		} {
			failed := p.fails(modelserver.Behaviour{Name: "custom", Content: &content, FinishReason: &reason})
			require.Equal(t, kind, failed.Kind, "%s with %q", reason, content)
		}
	}
}

// Characters that are broken on the way must not become others without a word.
func TestAnAnswerThatIsNotUTF8IsMalformed(t *testing.T) {
	p := start(t)
	whole := `{"choices":[{"index":0,"message":{"content":"{\"entities\":[],\"relationships\":[],\"x\":\"` + "\xff" + `\"}"},"finish_reason":"stop"}]}`
	event := "data: " + strings.Replace(whole, `"message"`, `"delta"`, 1) + "\n\ndata: [DONE]\n\n"
	for _, body := range []string{whole, event} {
		require.Equal(t, extraction.KindMalformed, p.fails(modelserver.Behaviour{Name: "custom", Body: &body}).Kind)
		sound := strings.Replace(body, "\xff", "y", 1)
		p.server.Then(modelserver.Behaviour{Name: "custom", Body: &sound})
		_, err := p.ask(sentence)
		require.NoError(t, err)
	}
}
