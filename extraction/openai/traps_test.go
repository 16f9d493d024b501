package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// The traps of go-openai, in the order in which they are listed in
// docs/adr/0006-openai-adapter.md. Each test lets a real server set the trap.

func TestTrap1RetryAfterIsKeptOnErrors(t *testing.T) {
	p := start(t)
	for header, want := range map[[2]string]time.Duration{
		{"Retry-After", "7"}:        7 * time.Second,
		{"Retry-After", "1.5"}:      1500 * time.Millisecond,
		{"Retry-After-Ms", "250"}:   250 * time.Millisecond,
		{"retry-after", "3"}:        3 * time.Second,
		{"Retry-After", "-3"}:       0,
		{"Retry-After", "in a bit"}: 0,
		{"Retry-After", "1e300"}:    0,
	} {
		for _, name := range []string{"rate_limited_silent", "server_error", "bad_gateway"} {
			failed := p.fails(named(t, name).WithHeader(header[0], header[1]))
			require.Equal(t, want, failed.RetryAfter, "%v on %s", header, name)
		}
	}
	for _, style := range modelserver.Styles() {
		failed := p.fails(modelserver.Fails(http.StatusTooManyRequests, style, "", "slow down").WithHeader("Retry-After", "4"))
		require.Equal(t, extraction.KindRateLimited, failed.Kind)
		require.Equal(t, 4*time.Second, failed.RetryAfter, style)
	}
	date := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	failed := p.fails(named(t, "rate_limited_silent").WithHeader("Retry-After", date))
	require.InDelta(t, time.Hour.Seconds(), failed.RetryAfter.Seconds(), 60)
}

func TestTrap2FlatAndOddErrorBodiesKeepKindAndMessage(t *testing.T) {
	p := start(t)
	for _, style := range modelserver.Styles() {
		failed := p.fails(modelserver.Fails(http.StatusBadRequest, style, "", "the flux is too weak"))
		require.Equal(t, extraction.KindInvalidRequest, failed.Kind, style)
		require.Equal(t, http.StatusBadRequest, failed.Status, style)
		if style != modelserver.StyleEmpty && style != modelserver.StyleHTML {
			require.Contains(t, failed.Detail, "the flux is too weak", style)
		}
	}
	for _, body := range []string{
		`[{"error":{"message":"the flux is too weak","code":400}}]`,           // Gemini
		`{"detail":{"error":{"message":"the flux is too weak"}}}`,             // FastAPI around OpenAI
		`{"error":{"message":["the flux is too weak"],"code":{"a":1}}}`,       // a list as message
		`{"error":{"message":"the flux is too weak","type":7,"param":[1,2]}}`, // wrong types
		`"the flux is too weak"`,                              //
		"\xef\xbb\xbf" + `{"message":"the flux is too weak"}`, // byte order mark
	} {
		failed := p.fails(modelserver.Raw(http.StatusBadRequest, "application/json", body))
		require.Contains(t, failed.Detail, "the flux is too weak", body)
	}
}

func TestTrap3ErrorsAreBoundedHoweverLongTheBody(t *testing.T) {
	p := start(t)
	for _, body := range []string{
		"<html><title>Bad gateway</title>" + strings.Repeat("<p>x</p>", 100_000),
		strings.Repeat("word ", 100_000),
		`{"error":{"message":"` + strings.Repeat("長", 100_000) + `"}}`,
		`{"error":{"message":"m","code":"` + strings.Repeat("c", 10_000) + `"}}`,
	} {
		failed := p.fails(modelserver.Raw(http.StatusBadGateway, "text/html", body))
		require.Equal(t, extraction.KindUnavailable, failed.Kind)
		require.Less(t, len(failed.Error()), 400)
		require.NotContains(t, failed.Error(), "<p>")
		require.Less(t, len(fmt.Sprintf("%+v", failed)), 800)
	}
}

// Of an error no more than 64 KiB is read, whatever comes after.
func TestTrap3OnlyTheBeginningOfAnErrorIsRead(t *testing.T) {
	p := start(t)
	for pad, said := range map[int]string{60 << 10: "the flux is too weak", 64 << 10: "an error body of 65536 bytes without a message", 1 << 20: "an error body of 65536 bytes without a message"} {
		body := strings.Repeat(" ", pad) + `{"error":{"message":"the flux is too weak"}}`
		require.Contains(t, p.fails(modelserver.Raw(http.StatusBadRequest, "application/json", body)).Detail, said, pad)
	}
}

func TestTrap3AnEndlessAnswerIsNotReadToItsEnd(t *testing.T) {
	p := start(t)
	failed := p.fails(named(t, "huge"))
	require.Equal(t, extraction.KindUnavailable, failed.Kind)
	require.Contains(t, failed.Detail, "too big")

	for _, status := range []int{200, 500} {
		endless := &spaces{}
		provider := connect(t, "http://model.example/v1", func(c *openai.Config) {
			c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(endless), Request: r}, nil
			})
		})
		_, err := provider.Extract(t.Context(), ask(sentence))
		require.ErrorIs(t, err, extraction.ErrUnavailable)
		require.Less(t, endless.read, 9<<20)
	}
}

// spaces is a body that goes on for 100 MB.
type spaces struct{ read int }

func (s *spaces) Read(p []byte) (int, error) {
	if s.read > 100<<20 {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = ' '
	}
	s.read += len(p)
	return len(p), nil
}

func TestTrap4BodiesThatAreNoCompletionAreUnavailable(t *testing.T) {
	p := start(t)
	for _, name := range []string{"ok_html", "ok_empty", "ok_error", "ok_error_flat", "ok_null", "ok_list", "ok_array_body", "cut_body"} {
		failed := p.fails(named(t, name))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, name)
		require.Equal(t, http.StatusOK, failed.Status, name)
		require.NotErrorIs(t, failed, io.EOF, name)
	}
	for _, body := range []string{
		`{"choices":`, `{}`, `{"choices":null}`, `"ok"`, `nope`, "data: {\"choices\":[]}\n\n", `{"choices":[]}{"choices":[]}`,
		`{"error":"model is loading"}`, `{"error":{"message":"x"},"choices":[{"message":{"content":"half"},"finish_reason":"stop"}]}`,
		`{"choices":[{"error":{"message":"upstream"},"message":{"content":"half"}}]}`, `{"message":"no such route","code":404}`,
	} {
		failed := p.fails(modelserver.Raw(http.StatusOK, "application/json", body))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, body)
	}
	require.ErrorIs(t, p.fails(named(t, "cut_body")), io.ErrUnexpectedEOF)
	require.Contains(t, p.fails(named(t, "ok_error")).Detail, "upstream failed")

	// An error's code can say more than that another time may do.
	for code, kind := range map[string]extraction.Kind{
		"context_length_exceeded": extraction.KindContextTooLong,
		"insufficient_quota":      extraction.KindQuota,
		"invalid_api_key":         extraction.KindAuth,
	} {
		failed := p.fails(modelserver.Raw(http.StatusOK, "application/json", `{"error":{"message":"m","code":"`+code+`"}}`))
		require.Equal(t, kind, failed.Kind)
	}
	// An empty error beside an answer is no error.
	for _, empty := range []string{`null`, `""`, `{}`, `false`} {
		p.server.Then(modelserver.Raw(http.StatusOK, "application/json",
			`{"error":`+empty+`,"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`))
		completion, err := p.ask(sentence)
		require.NoError(t, err)
		require.Equal(t, "x", completion.Content)
	}
}

func TestTrap5RedirectsAreNotFollowed(t *testing.T) {
	p := start(t)
	for _, status := range []int{301, 302, 303, 307, 308} {
		redirect := named(t, "redirect").WithHeader("Location", "https://login.example/sso?token=hunter2")
		redirect.Status = status
		before := p.server.Stats().Requests
		failed := p.fails(redirect)
		require.Equal(t, extraction.KindUnavailable, failed.Kind)
		require.Equal(t, status, failed.Status)
		require.Contains(t, failed.Detail, "https://login.example/sso")
		require.NotContains(t, failed.Error(), "hunter2")
		require.Equal(t, before+1, p.server.Stats().Requests)
	}
}

func TestTrap5AHalfDecodedAnswerIsNotUsed(t *testing.T) {
	p := start(t)
	whole, err := json.Marshal(map[string]any{"choices": []any{map[string]any{
		"message": map[string]any{"content": "half of the truth"}, "finish_reason": "stop",
	}}})
	require.NoError(t, err)
	for cut := 1; cut < len(whole); cut++ {
		failed := p.fails(modelserver.Raw(http.StatusOK, "application/json", string(whole[:cut])))
		require.Equal(t, extraction.KindUnavailable, failed.Kind)
	}
}

func TestTrap6AnAttemptEndsByItsOwnTimeout(t *testing.T) {
	p := start(t, func(c *openai.Config) { c.Timeout = 50 * time.Millisecond })
	drip := named(t, "drip")
	for _, b := range []modelserver.Behaviour{named(t, "hang"), drip} {
		failed := p.fails(b)
		require.Equal(t, extraction.KindUnavailable, failed.Kind)
		require.Contains(t, failed.Detail, "within 50ms")
		require.ErrorIs(t, failed, context.DeadlineExceeded)
	}
	// The caller's deadline is another thing, and its own error.
	p = start(t)
	p.server.Default(drip)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := p.provider.Extract(ctx, ask(sentence))
	require.Equal(t, context.DeadlineExceeded, err)
}

func TestTrap6ConnectionsThatFail(t *testing.T) {
	p := start(t)
	require.Equal(t, extraction.KindUnavailable, p.fails(named(t, "reset")).Kind)
	p.server.Close()
	_, err := p.ask(sentence)
	require.ErrorIs(t, err, extraction.ErrUnavailable)
	require.ErrorContains(t, err, "connection refused")
	require.NotContains(t, err.Error(), "Post ")
}

func TestTrap8TemperatureZeroIsReallySent(t *testing.T) {
	p := start(t)
	_, err := p.ask(sentence)
	require.NoError(t, err)
	require.Contains(t, p.sent(), "temperature")
	require.Zero(t, p.sent()["temperature"])
	require.Equal(t, false, p.sent()["stream"])
}

func TestTrap8NoModelNameIsRefusedByTheClient(t *testing.T) {
	for _, model := range []string{"o1-mini-local", "o3", "o4-distill", "gpt-5", "gpt-6-sol", "text-davinci-003", "gpt-3.5-turbo-instruct"} {
		p := start(t, func(c *openai.Config) { c.Model = model })
		_, err := p.ask(sentence)
		require.NoError(t, err, model)
		require.Equal(t, model, p.sent()["model"])
		require.Zero(t, p.sent()["temperature"])
		require.Contains(t, p.sent(), "max_tokens")
	}
}

// Trap 8, invalid UTF-8 and empty content: TestR31BadTextIsRefusedBeforeAnyCall.

func TestTrap10AHandWrittenSchemaArrivesUnchanged(t *testing.T) {
	p := start(t)
	const schema = `{"type":"object","properties":{"name":{"type":["string","null"]},"kind":{"anyOf":[{"const":"a"},{"type":"null"}]}},"required":["name","kind"],"additionalProperties":false,"title":"T"}`
	req := ask(sentence)
	req.Schema = extraction.Schema{Name: "hand_written", JSON: json.RawMessage(schema)}
	_, err := p.provider.Extract(t.Context(), req)
	require.NoError(t, err)
	format, err := json.Marshal(p.sent()["response_format"])
	require.NoError(t, err)
	require.JSONEq(t, `{"type":"json_schema","json_schema":{"name":"hand_written","strict":true,"schema":`+schema+`}}`, string(format))
}

// Each failure leaves the provider usable: nothing is stuck, and no connection
// is handed on in a broken state.
func TestAfterEveryFaultTheNextCallWorks(t *testing.T) {
	p := start(t, func(c *openai.Config) { c.Timeout = 2 * time.Second })
	for _, name := range modelserver.Names() {
		if name == "slow" || name == "hang" {
			continue // only their time is bad; trap 6 has them
		}
		p.server.Then(named(t, name))
		_, err := p.ask(sentence)
		var failed *extraction.ProviderError
		require.True(t, err == nil || errors.As(err, &failed), "%s: %v", name, err)
		_, err = p.ask(sentence)
		require.NoError(t, err, name)
	}
}
