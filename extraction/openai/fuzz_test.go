package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
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
		`{"error":{"message":"API key not valid","details":[{"reason":"API_KEY_INVALID"}],"metadata":{"reasons":["x"]}}}`,
		`{"choices":[],"prompt_filter_results":[{"hate":{"filtered":true}}]}`, `{"choices":[{"message":{"content":[{"type":"refusal","refusal":"no"}]}}]}`,
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

// FuzzErrorBody: whatever an error says of features and sizes, the request is made
// again a few times at most, each time differently, and the budget stays usable.
func FuzzErrorBody(f *testing.F) {
	for _, message := range []string{
		"", "maximum context length is 8192 tokens. However, you requested 9001 tokens (809 in the messages, 8192 in the completion)",
		"context length is only 8192, at least 6000 input tokens", "must be <= 300. Given: 1 `inputs` tokens", "supports at most 4096 completion tokens",
		"response_format max_completion_tokens temperature stream_options 'stream'", "range of max_tokens is [1, 300]", "max_tokens: 8192 > 4096, which is the maximum",
		"context length is 99999999999999999999 1 input tokens", "context length is 8192 8191 in the messages",
	} {
		body, err := json.Marshal(map[string]any{"error": map[string]any{"message": message}})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(400, body)
		f.Add(422, []byte(`{"detail":[{"loc":["body","stream_options"],"msg":"`+message+`"}]}`))
		f.Add(429, []byte("event: error\ndata: "+message+"\n\n"))
	}
	f.Fuzz(func(t *testing.T, status int, body []byte) {
		if status < 300 || status > 999 {
			t.Skip("no error")
		}
		sent := map[string]bool{}
		provider, err := openai.New(openai.Config{
			BaseURL: "http://model.example/v1", Model: "m", APIKey: apiKey, Stream: true,
			Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
				request, err := io.ReadAll(r.Body)
				if err != nil || sent[string(request)] {
					t.Fatalf("the same request again, or %v", err)
				}
				sent[string(request)] = true
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)), Request: r}, nil
			}),
		})
		if err != nil {
			t.Fatal(err)
		}
		var failed *extraction.ProviderError
		if _, err = provider.Extract(t.Context(), ask(fuzzDocument)); !errors.As(err, &failed) || failed.Status != status {
			t.Fatalf("%T: %v", err, err)
		}
		if budget := provider.Learnt().MaxTokens; len(sent) > 9 || budget < 256 || budget > openai.DefaultMaxTokens {
			t.Fatalf("%d requests, budget %d", len(sent), budget)
		}
		if shown := failed.Error(); len(shown) > 400 || !utf8.ValidString(shown) || strings.Contains(shown, apiKey) || strings.Contains(shown, fuzzDocument[:20]) {
			t.Fatalf("unfit to be shown: %q", shown)
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

// FuzzStream: however an event stream comes apart on its way, what it says is the
// same, and is a completion or a bounded ProviderError. Nothing is a success that no
// finish_reason has ended.
func FuzzStream(f *testing.F) {
	const one = `{"choices":[{"index":0,"delta":{"content":"x"},"finish_reason":"stop"}]}`
	for _, body := range []string{
		"data: " + one + "\n\ndata: [DONE]\n\n", "data:" + one, "data: " + one + "\r\n\r\n", "data: " + one + "\r\rdata: [DONE]\r\r",
		": ping\n\n", "event: error\ndata: boom\n\n", "error: {\"message\":\"boom\"}\n\n", "id: 1\nretry: 5\n\n", "data: {\ndata: }\n\n",
		"data: " + one + "\ndata: " + one + "\n", "data: {\"choices\":[\ndata: ]}\n\n", "data: {\"choices\":[{\"delta\":5}]}\n\n",
		"data: {\"choices\":[{\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"x\"}]},\"finish_reason\":\"stop\"}]}\n\n",
		"data: {\"choices\":[{\"delta\":{\"content\":\"" + apiKey + " " + fuzzDocument + "\"}}]}\n\ndata: {\"error\":\"" + apiKey + fuzzDocument + "\"}\n\n",
		"data: {\"usage\":{\"prompt_tokens\":1}}\n\n", "\xef\xbb\xbf\n\ndata: " + one + "\n\n", "data: \xff\n\n", "event", "data", "data: {\"choices\":[]}\n\ndata: [DONE]\n\n",
		oneAnswer, "<html>", "", strings.Repeat("\n", 100), strings.Repeat("data: [\n", 300),
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		extract := func(wrap func(io.Reader) io.Reader) (extraction.Completion, string) {
			provider, err := openai.New(openai.Config{
				BaseURL: "http://model.example/v1", Model: "m", APIKey: apiKey, Stream: true,
				Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(wrap(bytes.NewReader(body))), Request: r}, nil
				}),
			})
			if err != nil {
				t.Fatal(err)
			}
			completion, err := provider.Extract(t.Context(), ask(fuzzDocument))
			if err == nil {
				return completion, ""
			}
			var failed *extraction.ProviderError
			if !errors.As(err, &failed) || failed.Status != 200 {
				t.Fatalf("%T: %v", err, err)
			}
			shown := failed.Error()
			if len(shown) > 400 || !utf8.ValidString(shown) || strings.ContainsAny(shown, "\n\r\x00\x1b") ||
				strings.Contains(shown, apiKey) || strings.Contains(shown, fuzzDocument[:20]) {
				t.Fatalf("unfit to be shown: %q", shown)
			}
			return completion, shown
		}
		whole, wholeErr := extract(func(r io.Reader) io.Reader { return r })
		bytewise, bytewiseErr := extract(iotest.OneByteReader)
		if whole != bytewise || wholeErr != bytewiseErr {
			t.Fatalf("at once: %+v %q\nbyte by byte: %+v %q", whole, wholeErr, bytewise, bytewiseErr)
		}
		if wholeErr == "" && (strings.TrimSpace(whole.Content) == "" || bytes.HasPrefix(body, []byte("data:")) && whole.FinishReason == "") {
			t.Fatalf("success with %+v", whole)
		}
	})
}

func BenchmarkExtractStreamed(b *testing.B) {
	var body bytes.Buffer
	for range 300 {
		body.WriteString(`data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"{\"name\":\"Ada\"},"},"finish_reason":null}]}` + "\n\n")
	}
	body.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" + `data: {"choices":[],"usage":{"prompt_tokens":900,"completion_tokens":900}}` + "\n\ndata: [DONE]\n\n")
	provider, err := respondsWith(200, http.Header{}, body.Bytes())
	if err != nil {
		b.Fatal(err)
	}
	request := ask(strings.Repeat(fuzzDocument+" ", 50))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := provider.Extract(b.Context(), request); err != nil {
			b.Fatal(err)
		}
	}
}
