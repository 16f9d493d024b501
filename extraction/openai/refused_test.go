package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
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
