package openai_test

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
)

const fuzzDocument = "Ada Lovelace met Charles Babbage in London in the year 1833."

// respondsWith is a provider whose server sends exactly this.
func respondsWith(status int, header http.Header, body []byte) (*openai.Provider, error) {
	return openai.New(openai.Config{
		BaseURL: "http://model.example/v1", Model: "m", APIKey: apiKey,
		Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Header: header, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
		}),
	})
}

// FuzzResponse: whatever a server sends, the outcome is a completion with content
// or a bounded, printable ProviderError of a known kind, without key or text.
func FuzzResponse(f *testing.F) {
	for _, body := range []string{
		"", "null", "[]", "{}", `"x"`, "<html><title>t</title>", oneAnswer, `{"choices":[]}`, `{"choices":{}}`, `{"choices":[null]}`,
		`{"error":{"message":"m","code":{"a":1}}}`, `{"error":"m"}`, `{"object":"error","message":"m","code":40}`,
		`{"detail":[{"loc":["body",0],"msg":"m"}]}`, `[{"error":{"message":["m"]}}]`, `{"error":{"error":{"error":{"error":{"error":"m"}}}}}`,
		`{"error":{"message":"` + apiKey + ` ` + fuzzDocument + `"}}`, "\xef\xbb\xbf{}", "\xff\xfe", `{"choices":[{"message":{"content":[{"text":1}]}}]}`,
		`{"choices":[{"message":{"content":"x"},"finish_reason":["stop"]}],"usage":[1]}`, `{"choices":[{"message":5}]}`,
		strings.Repeat("[", 5000), `{"error":{"message":"response_format"}}`, `{"error":{"message":"x","param":"temperature"}}`,
		"data: [DONE]\n\n", `{"error":{"message":"` + strings.Repeat(fuzzDocument+`\n`, 90) + `"}}`,
	} {
		for _, status := range []int{200, 204, 302, 400, 401, 429, 500} {
			f.Add(status, "7", []byte(body))
		}
	}
	kinds := map[extraction.Kind]bool{
		extraction.KindMalformed: true, extraction.KindEmpty: true, extraction.KindTruncated: true, extraction.KindRefused: true,
		extraction.KindContextTooLong: true, extraction.KindInvalidRequest: true, extraction.KindUnavailable: true,
		extraction.KindRateLimited: true, extraction.KindAuth: true, extraction.KindQuota: true,
	}
	f.Fuzz(func(t *testing.T, status int, retryAfter string, body []byte) {
		if status < 200 || status > 999 {
			t.Skip("net/http never hands such a response on")
		}
		provider, err := respondsWith(status, http.Header{"Retry-After": {retryAfter}, "Location": {retryAfter}}, body)
		if err != nil {
			t.Fatal(err)
		}
		completion, err := provider.Extract(t.Context(), ask(fuzzDocument))
		if err == nil {
			if strings.TrimSpace(completion.Content) == "" || status >= 300 {
				t.Fatalf("status %d: success with %q", status, completion.Content)
			}
			if completion.Usage.PromptTokens < 0 || completion.Usage.CompletionTokens < 0 {
				t.Fatalf("negative usage: %+v", completion.Usage)
			}
			return
		}
		var failed *extraction.ProviderError
		if !errors.As(err, &failed) {
			t.Fatalf("%T: %v", err, err)
		}
		shown := failed.Error()
		if !kinds[failed.Kind] || failed.Status != status || failed.RetryAfter < 0 {
			t.Fatalf("%+v", failed)
		}
		if len(shown) > 400 || !utf8.ValidString(shown) || strings.ContainsAny(shown, "\n\r\x00\x1b") {
			t.Fatalf("unfit for a log line: %q", shown)
		}
		if strings.Contains(shown, apiKey) || strings.Contains(shown, fuzzDocument[:20]) {
			t.Fatalf("leak: %q", shown)
		}
		if status >= 400 && (failed.Kind == extraction.KindMalformed || failed.Kind == extraction.KindEmpty || failed.Kind == extraction.KindTruncated) {
			t.Fatalf("status %d became %s", status, failed.Kind)
		}
	})
}

func BenchmarkExtract(b *testing.B) {
	text := strings.Repeat(fuzzDocument+" ", 50)
	body := []byte(`{"choices":[{"message":{"content":"` + strings.Repeat(`{\"name\":\"Ada\"},`, 300) + `"},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":900}}`)
	provider, err := respondsWith(200, http.Header{}, body)
	if err != nil {
		b.Fatal(err)
	}
	request := ask(text)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := provider.Extract(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
