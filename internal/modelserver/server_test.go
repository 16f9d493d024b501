package modelserver_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type client struct {
	t      *testing.T
	server *modelserver.Server
	http   *http.Client
}

func start(t *testing.T) client {
	t.Helper()
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	transport := &http.Transport{}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		server.Close()
	})
	return client{t: t, server: server, http: &http.Client{
		Transport:     transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

func (c client) post(text, format string) (*http.Response, error) {
	body := map[string]any{
		"model":    "test-model",
		"messages": []any{map[string]any{"role": "system", "content": "extract"}, map[string]any{"role": "user", "content": text}},
	}
	if format != "" {
		body["response_format"] = map[string]any{"type": format}
	}
	data, err := json.Marshal(body)
	require.NoError(c.t, err)
	req, err := http.NewRequest(http.MethodPost, c.server.BaseURL()+"/chat/completions", bytes.NewReader(data))
	require.NoError(c.t, err)
	req.Header.Set("Authorization", "Bearer sesame")
	return c.http.Do(req)
}

// ask returns status, header and body of an answer that is expected to arrive.
func (c client) ask(text string) (int, http.Header, string) {
	c.t.Helper()
	res, err := c.post(text, "json_schema")
	require.NoError(c.t, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(c.t, err)
	return res.StatusCode, res.Header, string(body)
}

func content(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Choices []struct{ Message struct{ Content string } }
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.Len(t, answer.Choices, 1)
	return answer.Choices[0].Message.Content
}

func TestAnswersTruthfullyByDefault(t *testing.T) {
	c := start(t)
	const text = "In 1833 Ada Lovelace met Charles Babbage; Ada Lovelace wrote to Élise in 東京."
	status, _, body := c.ask(text)
	require.Equal(t, http.StatusOK, status)

	var facts modelserver.Facts
	require.NoError(t, json.Unmarshal([]byte(content(t, body)), &facts))
	var names []string
	for _, e := range facts.Entities {
		names = append(names, e.Name)
		require.Contains(t, text, e.Quote)
	}
	require.Equal(t, []string{"In", "Ada Lovelace", "Charles Babbage", "Élise"}, names)
	require.NotEmpty(t, facts.Relationships)
	for _, r := range facts.Relationships {
		require.Contains(t, text, r.Quote)
		require.Contains(t, names, r.Source)
		require.Contains(t, names, r.Target)
	}
	_, _, again := c.ask(text)
	require.Equal(t, content(t, body), content(t, again))
}

func TestEveryCataloguedBehaviourIsPlayed(t *testing.T) {
	for _, name := range modelserver.Names() {
		t.Run(name, func(t *testing.T) {
			c := start(t)
			b, err := modelserver.Named(name)
			require.NoError(t, err)
			b.DelayMS, b.PadBytes = b.DelayMS/1000, b.PadBytes/1000 // the shape, not the size
			c.server.Then(b)
			if b.Hang {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				defer cancel()
				done := make(chan struct{})
				go func() {
					defer close(done)
					c.ask("Ada")
				}()
				require.NoError(t, c.server.Await(ctx, func(s modelserver.Stats) bool { return s.InFlight == 1 }))
				c.server.Release()
				<-done
				return
			}
			res, err := c.post("Ada met Babbage.", "")
			if b.Reset {
				require.Error(t, err)
				require.True(t, errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF), "%v", err)
				return
			}
			require.NoError(t, err)
			_, err = io.ReadAll(res.Body)
			require.NoError(t, res.Body.Close())
			if b.CutBody {
				require.ErrorIs(t, err, io.ErrUnexpectedEOF)
			} else {
				require.NoError(t, err)
			}
			want := b.Status
			if want == 0 {
				want = http.StatusOK
			}
			require.Equal(t, want, res.StatusCode)
			require.Equal(t, name, c.server.Records()[0].Behaviour)
		})
	}
}

func TestErrorStylesEchoWhatTheyAreTold(t *testing.T) {
	c := start(t)
	for _, style := range modelserver.Styles() {
		c.server.Then(modelserver.Fails(http.StatusTeapot, style, "some_code", "key {key} for {text} on {model}"))
		status, _, body := c.ask("Ada")
		require.Equal(t, http.StatusTeapot, status)
		if style != modelserver.StyleEmpty {
			require.Contains(t, body, "key sesame for Ada on test-model", style)
		}
	}
}

func TestScriptPrecedence(t *testing.T) {
	c := start(t)
	c.server.Default(modelserver.Writes("default"))
	c.server.Then(modelserver.Writes("first"), modelserver.Writes("second"))
	c.server.OnMarker("MARK", modelserver.Writes("marked once"), modelserver.Writes("marked"))
	said := func(text string) string {
		_, _, body := c.ask(text)
		return content(t, body)
	}
	require.Equal(t, "first", said("a"))
	require.Equal(t, "marked once", said("a MARK"))
	require.Equal(t, "marked", said("a MARK"))
	require.Equal(t, "marked", said("a MARK"))
	require.Equal(t, "second", said("a"))
	require.Equal(t, "default", said("a"))
	c.server.Decide(func(r modelserver.Request) modelserver.Behaviour { return modelserver.Writes("decided on " + r.Text) })
	require.Equal(t, "decided on a MARK", said("a MARK"))
	c.server.RejectFormats("json_schema")
	status, _, body := c.ask("a")
	require.Equal(t, http.StatusBadRequest, status)
	require.Contains(t, body, "response_format")
	c.server.RequireKey("other")
	status, _, _ = c.ask("a")
	require.Equal(t, http.StatusUnauthorized, status)
}

func TestMixIsReproducible(t *testing.T) {
	c := start(t)
	mix := modelserver.Mix{Seed: 7, Weights: map[string]int{"ok": 50, "prose": 25, "server_error": 25}}
	require.NoError(t, c.server.Mix(mix))
	counts := map[string]int{}
	for i := range 100 {
		text := strings.Repeat("x", i)
		c.ask(text)
		counts[mix.Pick(text)]++
	}
	require.Equal(t, counts, c.server.Stats().Behaviours)
	require.Len(t, counts, 3)
	require.ErrorContains(t, c.server.Mix(modelserver.Mix{Weights: map[string]int{"nonsense": 1}}), "nonsense")
}

func TestCountsWhatFleetPromisesNeed(t *testing.T) {
	c := start(t)
	hang, err := modelserver.Named("hang")
	require.NoError(t, err)
	c.server.Default(hang)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { c.ask("same text of A") })
	}
	all.Go(func() { c.ask("other") })
	require.NoError(t, c.server.Await(ctx, func(s modelserver.Stats) bool { return s.InFlight == 5 }))
	c.server.Release()
	all.Wait()
	require.NoError(t, c.server.Await(ctx, func(s modelserver.Stats) bool { return s.InFlight == 0 }))

	stats := c.server.Stats()
	require.Equal(t, 5, stats.Requests)
	require.Equal(t, 5, stats.MaxInFlight)
	require.Equal(t, 5, stats.WithKey)
	require.Equal(t, 2, stats.Texts)
	require.Equal(t, 4, stats.MaxPerText)
	require.Equal(t, 4, c.server.Calls("same text of A"))
	require.Equal(t, 5, c.server.MaxInWindow(time.Hour, ""))
	require.Equal(t, 4, c.server.MaxInWindow(time.Hour, "of A"))
	require.Equal(t, 1, c.server.MaxInWindow(time.Nanosecond, "other"))
	for _, r := range c.server.Records() {
		require.False(t, r.Done.Before(r.At))
	}
}

func TestThrottleRefusesWithATrueRetryAfter(t *testing.T) {
	c := start(t)
	c.server.Throttle(modelserver.Limit{Requests: 2, WindowMS: 60_000})
	for range 2 {
		status, _, _ := c.ask("a")
		require.Equal(t, http.StatusOK, status)
	}
	status, header, _ := c.ask("a")
	require.Equal(t, http.StatusTooManyRequests, status)
	require.Equal(t, "60", header.Get("Retry-After"))
}

func TestControlEndpoint(t *testing.T) {
	c := start(t)
	command := func(body string) (int, string) {
		res, err := c.http.Post(c.server.URL()+"/control", "application/json", strings.NewReader(body))
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		answer, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(answer)
	}
	status, answer := command(`{"default":{"name":"rate_limited","header":{"Retry-After":"7"}},"then":["prose"],"markers":{"M":["no_finish"]},"reject_formats":["text"]}`)
	require.Equal(t, http.StatusOK, status, answer)
	code, _, body := c.ask("a")
	require.Equal(t, http.StatusOK, code)
	require.Contains(t, content(t, body), "Sure!")
	code, header, _ := c.ask("a")
	require.Equal(t, http.StatusTooManyRequests, code)
	require.Equal(t, "7", header.Get("Retry-After"))
	code, _, _ = c.ask("an M")
	require.Equal(t, http.StatusOK, code)

	res, err := c.http.Get(c.server.URL() + "/control?window_ms=60000&contains=M")
	require.NoError(t, err)
	var report modelserver.Report
	require.NoError(t, json.NewDecoder(res.Body).Decode(&report))
	require.NoError(t, res.Body.Close())
	require.Equal(t, 3, report.Requests)
	require.Equal(t, 1, report.MaxInWindow)
	require.Equal(t, map[string]int{"prose": 1, "rate_limited": 1, "no_finish": 1}, report.Behaviours)

	for _, bad := range []string{`{"default":"nonsense"}`, `{"unknown":1}`, `{`, `{"mix":{"weights":{"ok":-1}}}`} {
		status, _ = command(bad)
		require.Equal(t, http.StatusBadRequest, status, bad)
	}
	status, answer = command(`{"reset":true}`)
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, answer, `"requests":0`)
}

func TestListensOnLoopbackOnly(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:0", ":0", "nonsense"} {
		_, err := modelserver.New(modelserver.Options{Addr: addr})
		require.ErrorContains(t, err, "loopback", addr)
	}
}

func TestASuccessorTakesTheSameAddress(t *testing.T) {
	c := start(t)
	addr := c.server.Addr()
	c.server.Close()
	_, err := c.post("a", "")
	require.Error(t, err)
	next, err := modelserver.New(modelserver.Options{Addr: addr})
	require.NoError(t, err)
	defer next.Close()
	status, _, _ := c.ask("a")
	require.Equal(t, http.StatusOK, status)
}
