package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// The ninth trap of go-openai, and the first, for answers that are streamed.

func streaming(c *openai.Config) { c.Stream = true }

func startStreaming(t *testing.T, change ...func(*openai.Config)) pair {
	t.Helper()
	return start(t, append([]func(*openai.Config){streaming}, change...)...)
}

func TestStreamedAnswersAreTheSame(t *testing.T) {
	p, q := start(t), startStreaming(t)
	want, err := p.ask(sentence)
	require.NoError(t, err)
	got, err := q.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, want, got, "usage included")
	require.Equal(t, true, q.sent()["stream"])
	require.Equal(t, map[string]any{"include_usage": true}, q.sent()["stream_options"])
	require.Zero(t, q.sent()["temperature"])
	require.Contains(t, q.sent(), "temperature")
	delete(q.sent(), "stream_options")
	require.Equal(t, p.sent()["messages"], q.sent()["messages"])
	require.Equal(t, p.sent()["response_format"], q.sent()["response_format"])

	// Whatever the script, and wherever a server cuts it.
	text := "Ada schrieb: 東京 👩‍👩‍👧 e\u0301 \"quoted\" \\ \u2028 <b>&amp;</b> " + strings.Repeat("長い Élise. ", 60)
	p.server.Default(modelserver.Writes(text))
	q.server.Default(modelserver.Writes(text))
	got, err = q.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, text, got.Content)
}

func TestTrap9StreamsAreUnderstoodInEveryClothing(t *testing.T) {
	p := startStreaming(t)
	want := modelserver.Answer(sentence).JSON()
	for _, name := range []string{
		"ok", "stream_ignored", "stream_crlf", "stream_cr", "stream_keep_alive", "stream_split_data", "stream_no_blanks", "stream_no_done",
		"stream_one_event", "stream_empty_deltas", "stream_two_choices", "stream_finishes", "stream_after_finish", "array_content",
	} {
		p.server.Then(named(t, name))
		completion, err := p.ask(sentence)
		require.NoError(t, err, name)
		require.Equal(t, want, strings.TrimSpace(completion.Content), name)
		require.Equal(t, "stop", completion.FinishReason, name)
		require.Equal(t, "json_schema", completion.OutputMode, name)
		require.Positive(t, completion.Usage.PromptTokens, name)
	}
	for _, name := range []string{"no_usage", "negative_usage", "absurd_usage", "wrong_type_usage"} {
		p.server.Then(named(t, name))
		completion, err := p.ask(sentence)
		require.NoError(t, err, name)
		require.Equal(t, want, completion.Content)
		require.Equal(t, extraction.Usage{}, completion.Usage, name)
	}
	p.server.Then(modelserver.Behaviour{Name: "custom", Stream: modelserver.StreamFaults{LineEnd: "\r\n", SplitData: true}})
	completion, err := p.ask(sentence)
	require.NoError(t, err, "CRLF is one line's end")
	require.Equal(t, want, completion.Content)
	// A stream that nobody asked for is an answer, too.
	unasked := start(t)
	unasked.server.Then(modelserver.Behaviour{Name: "custom", Stream: modelserver.StreamFaults{Unasked: true}})
	completion, err = unasked.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, want, completion.Content)

	for name, body := range map[string]string{
		"all in the first event, unfinished lines": `data: {"choices":[{"delta":{"content":"x"},"finish_reason":"stop"}]}`,
		"message instead of delta":                 "data: {\"choices\":[{\"message\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n",
		"the message once more at the end":         "data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\ndata: {\"choices\":[{\"message\":{\"content\":\"x\"},\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n",
		"byte order mark and white space":          "\xef\xbb\xbf\r\n\r\n \n: hello\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n",
		"events of other kinds":                    "event: ping\ndata: {\"type\":\"ping\"}\n\nevent: x\n\ndata: null\n\ndata\n\ndata:\n\nfoo: {\ndata: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n",
		"an odd index, an empty error":             "data: {\"error\":null,\"choices\":[{\"index\":\"0\",\"delta\":{\"content\":\"x\",\"refusal\":null,\"tool_calls\":[]},\"finish_reason\":\"stop\",\"logprobs\":7}]}\n\n",
		"nothing after DONE is read":               "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\ndata: {\"error\":\"late\"}\n\n",
	} {
		p.server.Then(modelserver.Raw(http.StatusOK, "text/event-stream", body))
		completion, err := p.ask(sentence)
		require.NoError(t, err, name)
		require.Equal(t, "x", completion.Content, name)
	}
}

func TestTrap9SuccessOfAStreamRequiresAFinishReason(t *testing.T) {
	p := startStreaming(t)
	for _, name := range []string{"no_finish", "null_finish", "stream_ends_early"} {
		failed := p.fails(named(t, name))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, name)
		require.Contains(t, failed.Detail, "without a finish_reason", name)
	}
	for _, b := range []modelserver.Behaviour{
		named(t, "stream_cut"), named(t, "cut_body"),
		{Name: "custom", Stream: modelserver.StreamFaults{CutAfter: 1}},
		// A finish_reason in every event is no sign that it was the last.
		{Name: "custom", Stream: modelserver.StreamFaults{CutAfter: 4, FinishAlways: true}},
	} {
		failed := p.fails(b)
		require.Equal(t, extraction.KindUnavailable, failed.Kind, b.Name)
		require.ErrorIs(t, failed, io.ErrUnexpectedEOF)
		require.Contains(t, failed.Detail, "broke off")
	}
	// With the answer complete, the connection may do what it likes.
	whole := 2 + (len(modelserver.Answer(sentence).JSON())+23)/24
	p.server.Then(modelserver.Behaviour{Name: "custom", Stream: modelserver.StreamFaults{CutAfter: whole}})
	completion, err := p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
	require.Zero(t, completion.Usage, "which came later")

	for _, body := range []string{
		": keep-alive\n\n", ": a\n\n: b\n\n", "data: [DONE]\n\n", "event: end\n\n", "data:\n\n",
		"data: {\"choices\":[]}\n\n", "data: {\"usage\":{\"prompt_tokens\":1}}\n\ndata: [DONE]\n\n",
	} {
		failed := p.fails(modelserver.Raw(http.StatusOK, "text/event-stream", body))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, body)
	}
}

func TestTrap9AnErrorInAStreamIsAnError(t *testing.T) {
	p := startStreaming(t)
	for _, name := range []string{"stream_error", "stream_error_event", "stream_error_field"} {
		failed := p.fails(named(t, name))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, name)
		require.Equal(t, http.StatusOK, failed.Status)
		require.Contains(t, failed.Detail, "EngineCore encountered an issue", name)
	}
	require.Equal(t, extraction.KindUnavailable, p.fails(named(t, "stream_broken_event")).Kind)
	for code, kind := range map[string]extraction.Kind{
		"context_length_exceeded": extraction.KindContextTooLong, "insufficient_quota": extraction.KindQuota,
		"invalid_api_key": extraction.KindAuth, "content_filter": extraction.KindRefused, "overloaded": extraction.KindUnavailable,
	} {
		b := named(t, "stream_error")
		b.Stream.ErrorEvent = &modelserver.ErrorBody{Code: code, Message: "m, n"}
		require.Equal(t, kind, p.fails(b).Kind, code)
	}
	start := "data: {\"choices\":[{\"delta\":{\"content\":\"half\"},\"finish_reason\":\"stop\"}]}\n\n"
	for _, rest := range []string{
		"data: {\"object\":\"error\",\"message\":\"boom\",\"code\":500}\n\n", "error: {\"code\":500,\"message\":\"boom\"}\n\n", "error: boom\n\n",
		"event: error\ndata: boom\n\n", "data: {\"choices\":[{\"error\":{\"message\":\"boom\"}}]}\n\n", "data: {\"error\":\"boom\"}\n\n",
		"data: {\"choices\":[{\"delta\":\n\n", "data: ping\n\n", "data: []\n\n", "data: <html>\n\n",
	} {
		failed := p.fails(modelserver.Raw(http.StatusOK, "text/event-stream", start+rest))
		require.Equal(t, extraction.KindUnavailable, failed.Kind, rest)
		require.Equal(t, strings.Contains(rest, "boom"), strings.Contains(failed.Detail, "boom"), failed.Detail)
	}
	// An event in hundreds of lines is none, whatever it says in the end.
	lines := "data: {" + strings.Repeat("\ndata: ", 300) + strings.TrimPrefix(start, "data: {")
	require.Contains(t, p.fails(modelserver.Raw(http.StatusOK, "text/event-stream", lines)).Detail, "too big")
	failed := p.fails(modelserver.Raw(http.StatusOK, "text/event-stream", "data: {\"choices\":[{\"delta\":{\"content\":{\"a\":1}},\"finish_reason\":\"stop\"}]}\n\n"))
	require.Equal(t, extraction.KindMalformed, failed.Kind)
}

// What the model did instead of answering is told in the same kinds as without
// streaming; trap 7 for streams.
func TestTrap7OfStreams(t *testing.T) {
	p, q := startStreaming(t), start(t)
	for _, name := range []string{
		"no_choices", "refusal", "content_filter", "length", "length_empty", "tool_calls", "empty", "blank", "null_content", "reasoning_only", "reasoning_only_2",
	} {
		require.Equal(t, *q.fails(named(t, name)), *p.fails(named(t, name)), name)
	}
	// A cut stays a cut, whatever comes later.
	failed := p.fails(modelserver.Raw(http.StatusOK, "text/event-stream",
		"data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"length\"}]}\n\ndata: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"))
	require.Equal(t, extraction.KindTruncated, failed.Kind)
}

func TestTrap1RetryAfterIsKeptOnStreams(t *testing.T) {
	p := startStreaming(t)
	for status, kind := range map[int]extraction.Kind{429: extraction.KindRateLimited, 503: extraction.KindUnavailable} {
		for _, style := range modelserver.Styles() {
			failed := p.fails(modelserver.Fails(status, style, "", "slow down").WithHeader("Retry-After", "4"))
			require.Equal(t, kind, failed.Kind)
			require.Equal(t, status, failed.Status)
			require.Equal(t, 4*time.Second, failed.RetryAfter, style)
		}
		// Some gateways send errors as events, too.
		failed := p.fails(modelserver.Raw(status, "text/event-stream", "event: error\ndata: {\"error\":{\"message\":\"slow down\"}}\n\n").WithHeader("Retry-After", "4"))
		require.Equal(t, kind, failed.Kind)
		require.Equal(t, "slow down", failed.Detail)
		require.Equal(t, 4*time.Second, failed.RetryAfter)
	}
}

func TestTrap3AnEndlessStreamIsNotReadToItsEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 250 MB, one after the other; left out of -short")
	}
	const delta = "data: {\"choices\":[{\"delta\":{\"content\":\"%s\"}}]}\n\n"
	for name, piece := range map[string]string{
		"comments":         ": ping ping ping ping ping ping ping ping ping ping ping\n\n",
		"events":           "data: {\"id\":\"" + strings.Repeat("x", 5000) + "\",\"choices\":[]}\n\n",
		"lines":            "data: \n",
		"content":          fmt.Sprintf(delta, strings.Repeat("x", 10_000)),
		"a line":           "data: " + strings.Repeat("x", 100_000),
		"an event":         "data: \"x\ndata: \"" + strings.Repeat("x", 1000) + "\n",
		"refusals":         "data: {\"choices\":[{\"delta\":{\"refusal\":\"" + strings.Repeat("x", 10_000) + "\"}}]}\n\n",
		"nothing but ends": ":\n\n\n\n\n\n\n\n\n\n\n\n",
	} {
		endless := &repeats{piece: piece}
		provider := connect(t, "http://model.example/v1", streaming, func(c *openai.Config) {
			c.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
				return &http.Response{StatusCode: 200, Header: http.Header{}, Body: io.NopCloser(endless), Request: r}, nil
			})
		})
		_, err := provider.Extract(t.Context(), ask(sentence))
		require.ErrorIs(t, err, extraction.ErrUnavailable, name)
		require.ErrorContains(t, err, "too big", name)
		require.LessOrEqual(t, endless.read, 33<<20, name)
	}
}

// repeats is a body that says the same for ever.
type repeats struct {
	piece      string
	read, left int
}

func (r *repeats) Read(p []byte) (int, error) {
	n := 0
	for n < len(p) {
		copied := copy(p[n:], r.piece[r.left:])
		n += copied
		r.left = (r.left + copied) % len(r.piece)
	}
	r.read += n
	return n, nil
}

// What streaming is for: a server that has begun and hangs is noticed long before
// the attempt's time is up.
func TestAStreamThatFallsSilentIsGivenUp(t *testing.T) {
	p := startStreaming(t, func(c *openai.Config) { c.IdleTimeout = 250 * time.Millisecond })
	require.ErrorIs(t, p.fails(modelserver.Behaviour{Name: "custom", Stream: modelserver.StreamFaults{StallAfter: 1}}), extraction.ErrUnavailable)
	failed := p.fails(named(t, "stream_stalls"))
	require.Equal(t, extraction.KindUnavailable, failed.Kind)
	require.Equal(t, "the server fell silent in the middle of its answer, for 250ms", failed.Detail)
	require.NotErrorIs(t, failed, context.Canceled, "nobody has given up but the adapter")

	// The server notices, and the next call has a working connection.
	require.NoError(t, p.server.Await(t.Context(), func(s modelserver.Stats) bool { return s.InFlight == 0 }))
	_, err := p.ask(sentence)
	require.NoError(t, err)

	// Slow is not silent: each event counts, and so does a comment.
	for _, keepAlive := range []bool{false, true} {
		p.server.Then(modelserver.Behaviour{Name: "custom", DripMS: 20, Stream: modelserver.StreamFaults{KeepAlive: keepAlive}})
		begun := time.Now()
		_, err = p.ask(strings.Repeat(sentence+" Elsewhere Mary Somerville wrote. ", 3))
		require.NoError(t, err)
		require.Greater(t, time.Since(begun), 250*time.Millisecond)
	}
}

// Comments alone are life, too: a gateway sends them while the model thinks.
func TestCommentsKeepAStreamAlive(t *testing.T) {
	const idle, comments = time.Second, 8
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		say := func(text string) {
			_, _ = io.WriteString(w, text)
			_ = http.NewResponseController(w).Flush()
		}
		say("data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n")
		for range comments {
			time.Sleep(idle / 6) // the server's pace, which is what this is about
			say(": thinking\n\n")
		}
		say("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	}))
	defer server.Close()
	provider := connect(t, server.URL, streaming, func(c *openai.Config) { c.IdleTimeout = idle })
	completion, err := provider.Extract(t.Context(), ask(sentence))
	require.NoError(t, err)
	require.Equal(t, "x", completion.Content)
}

// A queue, a model that is being loaded and a long prompt are silent, too.
func TestBeforeAStreamHasBegunSilenceIsAllowed(t *testing.T) {
	p := startStreaming(t, func(c *openai.Config) { c.IdleTimeout = 300 * time.Millisecond })
	for _, b := range []modelserver.Behaviour{
		modelserver.Behaviour{Name: "custom"}.WithDelay(450 * time.Millisecond),
		modelserver.Behaviour{Name: "custom", Stream: modelserver.StreamFaults{Ignored: true}}.WithDelay(450 * time.Millisecond),
	} {
		p.server.Then(b)
		_, err := p.ask(sentence)
		require.NoError(t, err)
	}
	// Only the attempt's own time bounds that.
	p = startStreaming(t, func(c *openai.Config) { c.IdleTimeout, c.Timeout = 20*time.Millisecond, 60*time.Millisecond })
	failed := p.fails(named(t, "hang"))
	require.Contains(t, failed.Detail, "no complete answer within 60ms")
	require.ErrorIs(t, failed, context.DeadlineExceeded)
}

func TestAStreamHasTheAttemptsTimeAndTheCallers(t *testing.T) {
	p := startStreaming(t, func(c *openai.Config) { c.Timeout = 50 * time.Millisecond })
	failed := p.fails(named(t, "stream_stalls"))
	require.Contains(t, failed.Detail, "within 50ms")

	p = startStreaming(t)
	p.server.Default(named(t, "stream_stalls"))
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := p.provider.Extract(ctx, ask(sentence))
	require.Equal(t, context.DeadlineExceeded, err)

	ctx, giveUp := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		_, err := p.provider.Extract(ctx, ask(sentence))
		done <- err
	}()
	require.NoError(t, p.server.Await(t.Context(), func(s modelserver.Stats) bool { return s.Requests == 2 && s.InFlight == 1 }))
	giveUp()
	require.Equal(t, context.Canceled, <-done)
}

// A server that leaves the connection open after its answer costs little time.
func TestAnAnswerThatIsCompleteIsNotWaitedFor(t *testing.T) {
	p := startStreaming(t)
	whole := 2 + (len(modelserver.Answer(sentence).JSON())+23)/24
	for _, after := range []int{whole, whole + 1} { // before usage, and before [DONE]
		p.server.Then(modelserver.Behaviour{Name: "custom", Stream: modelserver.StreamFaults{StallAfter: after}})
		begun := time.Now()
		completion, err := p.ask(sentence)
		require.NoError(t, err)
		require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
		require.Less(t, time.Since(begun), 10*time.Second)
	}
}

func TestConnectionsOfStreamsAreReused(t *testing.T) {
	p := startStreaming(t)
	for _, name := range []string{"ok", "stream_crlf", "stream_no_done", "stream_ignored", "rate_limited", "stream_keep_alive", "length", "ok", "ok"} {
		p.server.Then(named(t, name))
		_, _ = p.ask(sentence)
	}
	require.Equal(t, 1, p.server.Stats().Connections)
}

// Like the rest of the dialect: what the server refuses is left out from then on.
func TestStreamingIsGivenUpWhereItIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		refusal       modelserver.Behaviour
		stream, usage bool
	}{
		"options in a message": {modelserver.Fails(400, modelserver.StyleOpenAI, "", "Unrecognized request argument supplied: stream_options"), true, false},
		"options as param":     {modelserver.Raw(400, "application/json", `{"error":{"message":"Unknown parameter.","param":"stream_options"}}`), true, false},
		"options, FastAPI":     {modelserver.Raw(422, "application/json", `{"detail":[{"loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`), true, false},
		"options, the field":   {modelserver.Raw(422, "application/json", `{"detail":[{"loc":["body","stream_options","include_usage"],"msg":"Extra inputs are not permitted"}]}`), true, false},
		"stream":               {modelserver.Raw(400, "application/json", `{"error":{"message":"Unsupported value: 'stream' does not support true with this model.","param":"stream","code":"unsupported_value"}}`), false, false},
		"stream as param":      {modelserver.Raw(400, "application/json", `{"error":{"message":"Unknown parameter.","param":"stream"}}`), false, false},
		"stream in a message":  {modelserver.Fails(400, modelserver.StyleDetail, "", "Streaming is not supported by this deployment"), false, false},
	} {
		p := startStreaming(t)
		p.server.Then(c.refusal)
		for range 2 {
			completion, err := p.ask(sentence)
			require.NoError(t, err, name)
			require.Equal(t, modelserver.Answer(sentence).JSON(), completion.Content)
			require.Equal(t, "json_schema", completion.OutputMode)
			require.Equal(t, c.stream, p.sent()["stream"], name)
			require.Equal(t, c.usage, p.sent()["stream_options"] != nil, name)
		}
		require.Equal(t, 3, p.server.Stats().Requests, "what was learnt is remembered")
	}
	// Who does not stream has nothing to give up.
	p := start(t)
	require.Equal(t, extraction.KindInvalidRequest, p.fails(modelserver.Fails(400, modelserver.StyleOpenAI, "", "Streaming is off, and so are stream_options")).Kind)
	require.Equal(t, 1, p.server.Stats().Requests)
}

func TestStreamedEventsOverHTTP2(t *testing.T) {
	answer, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"delta": map[string]any{"content": "x"}, "finish_reason": "stop"}}})
	require.NoError(t, err)
	provider, proto := overTLS(t, "data: "+string(answer)+"\n\ndata: [DONE]\n\n", streaming)
	for range 3 {
		completion, err := provider.Extract(t.Context(), ask(sentence))
		require.NoError(t, err)
		require.Equal(t, "x", completion.Content)
	}
	require.Equal(t, []string{"HTTP/2.0", "HTTP/2.0", "HTTP/2.0"}, proto())
}
