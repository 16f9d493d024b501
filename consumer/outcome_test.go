package consumer_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/resilience"
	"github.com/weirkeeper/weirkeeper/resilience/admission"
)

// Row "extracted": the result is stored, then the chunk is settled.
func TestExtracted(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := failing()
	w.start(x)
	w.send("acme", `{"document_id":"d 1","index":1,"total":3,"text":"Ada met Charles."}`)
	r := w.onlyResult()

	require.Equal(t, 1, r.SchemaVersion)
	require.Equal(t, "acme", r.TenantID)
	require.Equal(t, "d 1", r.DocumentID)
	require.Equal(t, extraction.ChunkID("d 1", 1, "Ada met Charles."), r.ChunkID)
	require.Equal(t, []int{1, 3}, []int{r.Index, r.Total})
	require.Equal(t, found().Model, r.Model)
	require.Equal(t, found().Entities, r.Entities)
	require.Equal(t, 1, r.Attempts)
	require.Equal(t, "test", r.Worker)
	require.Equal(t, time.UTC, r.StartedAt.Location())
	require.False(t, r.FinishedAt.Before(r.StartedAt))
	require.Equal(t, "weir.results.acme.=ZCAx.1", w.messages(w.names.ResultStream())[0].Subject)
	require.Equal(t, "acme", x.made()[0].tenant)
}

// R30. Rows that are no attempt: more of them than MaxAttempts, and the chunk is still
// extracted, as its first attempt, and not before the delay is over.
func TestRefusalsAreDelayedAndNoAttempt(t *testing.T) {
	t.Parallel()
	const delay, moment = 200 * time.Millisecond, 15 * time.Millisecond
	for name, row := range map[string]struct {
		refusal error
		least   time.Duration
	}{
		"own rate limit":       {&resilience.RateLimitExceeded{Tenant: "acme", RetryAfter: delay}, delay},
		"circuit open":         {&resilience.CircuitOpen{Circuit: "default", RetryAfter: delay}, delay},
		"paused":               {&consumer.PausedError{Left: delay}, delay},
		"429 with a delay":     {&extraction.ProviderError{Kind: extraction.KindRateLimited, Status: 429, RetryAfter: delay}, delay},
		"429 after retries":    {&resilience.RetryExhausted{Operation: "x", Err: &extraction.ProviderError{Kind: extraction.KindRateLimited, RetryAfter: delay}}, delay},
		"refusal, wrapped":     {fmt.Errorf("call: %w", &resilience.RateLimitExceeded{RetryAfter: delay}), delay},
		"refusal, no time":     {&resilience.CircuitOpen{}, moment},
		"429 without a delay":  {&extraction.ProviderError{Kind: extraction.KindRateLimited}, moment},
		"not admitted in time": {fmt.Errorf("call: %w", &admission.DeadlineExceeded{Phase: admission.PhaseRate, Err: context.DeadlineExceeded}), moment},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			x := failing(row.refusal, row.refusal, row.refusal, row.refusal)
			w.start(x)
			w.send("acme", `{"text":"Ada"}`)
			r := w.onlyResult()
			require.Equal(t, 1, r.Attempts)
			calls := x.made()
			require.Len(t, calls, 5)
			for i := range calls[1:] {
				require.GreaterOrEqual(t, calls[i+1].at.Sub(calls[i].at), row.least)
			}
		})
	}
}

// A pause may be ended long before its time: what came back then does not wait for
// the end that it was told of.
func TestWhatAPauseRefusedComesBackSoon(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing(&consumer.PausedError{Left: 24 * time.Hour}))
	w.send("acme", `{"text":"Ada"}`)
	require.Equal(t, 1, w.onlyResult().Attempts)
}

// R31. Row "401/403, quota exhausted": nobody's chunk is set aside for a wrong key.
func TestAuthAndQuotaWait(t *testing.T) {
	t.Parallel()
	for _, kind := range []extraction.Kind{extraction.KindAuth, extraction.KindQuota} {
		t.Run(string(kind), func(t *testing.T) {
			w := newWorld(t)
			x := always(&extraction.ProviderError{Kind: kind, Status: 401})
			r := w.start(x, func(c *consumer.Config) { c.MaxAttempts = 1 })
			for i := range 6 {
				w.send("acme", chunkJSON("d", i, "Ada"))
			}
			require.Eventually(t, func() bool { return r.Status().Outcomes[string(kind)] == 6 }, patience, 10*time.Millisecond)
			require.Empty(t, w.dead())
			require.EqualValues(t, 6, w.waiting(w.names.ChunkStream()))
			require.Len(t, x.made(), 6, "and it is not tried again at once")
		})
	}
}

// Row "transport, timeout, 5xx after the retries": each counts.
func TestTransientFailuresAreAttempts(t *testing.T) {
	t.Parallel()
	unavailable := &resilience.RetryExhausted{Operation: "extract", Retries: 3, Attempts: 4,
		Err: &extraction.ProviderError{Kind: extraction.KindUnavailable, Status: 503, Detail: "upstream is down"}}
	t.Run("then success", func(t *testing.T) {
		w := newWorld(t)
		x := failing(unavailable, errors.New("whatever nobody thought of"))
		w.start(x)
		w.send("acme", `{"text":"Ada"}`)
		require.Equal(t, 3, w.onlyResult().Attempts)
		require.Len(t, x.made(), 3)
	})
	t.Run("to the end", func(t *testing.T) {
		w := newWorld(t)
		x := always(unavailable)
		w.start(x)
		w.send("acme", `{"text":"Ada","mine":[1]}`)
		d := w.onlyDead()
		require.Equal(t, "attempts_exhausted", d.Kind)
		require.Equal(t, 3, d.Attempts)
		require.Equal(t, 3, d.Deliveries)
		require.Contains(t, d.Error, "upstream is down")
		require.Len(t, x.made(), 3)
		require.JSONEq(t, `{"text":"Ada","mine":[1]}`, string(d.msg.Data))

		// Published again, it is a new message with attempts of its own.
		w.send("acme", `{"text":"Ada"}`)
		require.Eventually(t, func() bool { return len(w.dead()) == 2 }, patience, 10*time.Millisecond)
		require.Equal(t, 3, w.dead()[1].Attempts)
	})
	t.Run("the server's delay is a floor", func(t *testing.T) {
		w := newWorld(t)
		x := failing(&extraction.ProviderError{Kind: extraction.KindUnavailable, RetryAfter: 300 * time.Millisecond})
		w.start(x)
		w.send("acme", `{"text":"Ada"}`)
		w.onlyResult()
		require.GreaterOrEqual(t, x.made()[1].at.Sub(x.made()[0].at), 300*time.Millisecond)
	})
	t.Run("mixed with refusals", func(t *testing.T) {
		w := newWorld(t)
		refusal := &resilience.RateLimitExceeded{RetryAfter: time.Millisecond}
		x := failing(refusal, unavailable, refusal, refusal, unavailable, refusal)
		w.start(x)
		w.send("acme", `{"text":"Ada"}`)
		require.Equal(t, 3, w.onlyResult().Attempts)
	})
}

// R31. Row "malformed, empty, truncated, refused, context too long, other 4xx": the
// same question would bring the same answer.
func TestAnswersThatWillNotChange(t *testing.T) {
	t.Parallel()
	for _, kind := range []extraction.Kind{extraction.KindMalformed, extraction.KindEmpty, extraction.KindTruncated,
		extraction.KindRefused, extraction.KindContextTooLong, extraction.KindInvalidRequest} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			x := always(fmt.Errorf("extract: %w", &extraction.ProviderError{Kind: kind, Detail: "because\nof sk-secret123"}))
			w.start(x)
			w.send("acme", `{"text":"Ada"}`)
			d := w.onlyDead()
			require.Equal(t, string(kind), d.Kind)
			require.Equal(t, 1, d.Attempts)
			require.Equal(t, 1, d.Deliveries)
			require.Len(t, x.made(), 1)
			require.Contains(t, d.Error, "because of")
			require.NotContains(t, d.Error+w.log.String(), "secret123")
		})
	}
}

// Row "body is not a chunk", and bad input of every sort.
func TestBadInputIsSetAsideAsItCame(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := failing()
	w.start(x)
	subject := w.names.ChunkSubject("a b.*")
	bodies := map[string]string{
		"empty":         ``,
		"prose":         `Ada met Charles.`,
		"list":          `["Ada"]`,
		"wrong shape":   `{"text":{"a":1}}`,
		"no text":       `{"title":"x"}`,
		"blank":         `{"text":" \n"}`,
		"NUL":           `{"text":"a\u0000"}`,
		"invalid UTF-8": "{\"text\":\"\xff\"}",
		"index":         `{"text":"a","index":2,"total":2}`,
		"unknown kept":  `{"text":"","mine":{"deep":[1,2]}}`,
		"large":         `{"text":1,"pad":"` + strings.Repeat("x", 900_000) + `"}`,
	}
	for name, body := range bodies {
		w.sendTo(subject, body, nats.Header{"X-Mine": {name}, "Nats-Msg-Id": {name}})
	}
	odd := w.sendTo("weir.chunks.not+encoded", `{"text":"Ada"}`, nil)
	w.settled()
	require.Empty(t, w.results())
	require.Empty(t, x.made(), "no model is asked")

	dead := w.dead()
	require.Len(t, dead, len(bodies)+1)
	for _, d := range dead {
		require.Equal(t, "invalid_message", d.Kind)
		require.Zero(t, d.Attempts)
		require.Equal(t, 1, d.Deliveries)
		require.NotEmpty(t, d.Error)
		require.WithinDuration(t, time.Now(), d.FailedAt, time.Minute)
		if d.OriginSequence == odd {
			require.Equal(t, "weir.dead.not+encoded", d.msg.Subject)
			require.Equal(t, "weir.chunks.not+encoded", d.OriginSubject)
			continue
		}
		require.Equal(t, "weir.dead.=YSBiLio", d.msg.Subject)
		require.Equal(t, subject, d.OriginSubject)
		name := d.msg.Header.Get("X-Mine")
		require.Equal(t, bodies[name], string(d.msg.Data), name)
		require.Equal(t, name, d.msg.Header.Get(wire.HeaderOriginMsgID))
	}
}

// Ids that NATS could not take as they are come out as they went in.
func TestStrangeIds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.start(failing())
	want := map[string]string{}
	for _, id := range []string{"a b", "a.b", "*", ">", "=", "テナント", "\n", strings.Repeat("é", 256)} {
		body := chunkJSON(id, 0, "Ada")
		w.send(id, body)
		want[id] = id
	}
	w.settled()
	got := map[string]string{}
	for _, r := range w.results() {
		got[r.TenantID] = r.DocumentID
	}
	require.Equal(t, want, got)
	require.Empty(t, w.dead())
}

// A panic is a dead letter with the stack in the log; the worker goes on.
func TestPanic(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	x := scripted(func(_ context.Context, _ int, c extraction.Chunk) (extraction.Extraction, error) {
		switch c.Text {
		case "runtime":
			var list []int
			_ = list[len(c.Text)]
		case "value":
			panic("with the document's text in it")
		}
		return found(), nil
	})
	w.start(x)
	for i, text := range []string{"runtime", "value", "Ada"} {
		w.send("acme", chunkJSON("d", i, text))
	}
	w.settled()
	require.Len(t, w.results(), 1)
	dead := w.dead()
	require.Len(t, dead, 2)
	for _, d := range dead {
		require.Equal(t, "attempts_exhausted", d.Kind)
		require.Contains(t, d.Error, "panic")
		require.Equal(t, 1, d.Attempts)
	}
	require.Contains(t, w.log.String(), "outcome_test.go", "the stack")
	require.NotContains(t, w.log.String(), "document's text")
}
