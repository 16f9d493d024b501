package main

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/publish"
)

var watchBegun = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

func statusOf(done, dead, waiting int, queued uint64) publish.Status {
	p := publish.Progress{Chunks: done + dead + waiting, Done: done, Waiting: waiting, Dead: map[string]int{}}
	if dead > 0 {
		p.Dead["refused"] = dead
	}
	return publish.Status{Tenant: "acme", Total: p, WaitingChunks: queued, Documents: []publish.DocumentStatus{{DocumentID: "doc", Progress: p}}}
}

func TestWatchKnowsTheEnd(t *testing.T) {
	now := watchBegun
	follow := func(document string) *watch { return &watch{document: document, now: func() time.Time { return now }} }
	step := func(w *watch, s publish.Status, want bool) {
		t.Helper()
		ended, err := w.take(s)
		require.NoError(t, err)
		require.Equal(t, want, ended)
	}
	w := follow("")
	step(w, statusOf(0, 0, 0, 3), false) // nothing is settled yet
	step(w, statusOf(1, 0, 2, 2), false)
	step(w, statusOf(3, 0, 0, 1), false) // something else of the tenant waits
	step(w, statusOf(3, 0, 0, 0), true)
	split := statusOf(3, 0, 0, 0)
	split.WaitingDocuments = 1
	step(follow(""), split, false)
	step(follow(""), statusOf(0, 0, 0, 0), true)

	// A document that was complete before may be published again, and one that was
	// seen unfinished and is finished is done, whatever else waits.
	w = follow("doc")
	step(w, statusOf(3, 0, 0, 5), false)
	step(w, statusOf(1, 0, 2, 5), false)
	step(w, statusOf(2, 1, 0, 5), true)

	// Chunks that are nowhere are given up, but not at once.
	w = follow("")
	step(w, statusOf(1, 0, 2, 2), false)
	step(w, statusOf(1, 0, 2, 0), false)
	now = now.Add(lostAfter)
	ended, err := w.take(statusOf(1, 0, 2, 0))
	require.True(t, ended)
	require.ErrorContains(t, err, "2 chunks in no queue")
}

func TestWatchTellsPaceAndRest(t *testing.T) {
	now := watchBegun
	w := &watch{now: func() time.Time { return now }}
	take := func(s publish.Status) { _, _ = w.take(s) }
	take(statusOf(0, 0, 100, 100))
	require.Empty(t, w.pace(statusOf(0, 0, 100, 100)))
	now = now.Add(10 * time.Second)
	s := statusOf(18, 2, 80, 80)
	take(s)
	require.Equal(t, "2.0 chunks/s, about 40s left", w.pace(s))
	require.Equal(t, "20 of 100 chunks done, dead 2 (refused 2)", w.words(s))
	now = now.Add(2 * rateSpan)
	take(s)
	now = now.Add(rateSpan)
	take(s)
	require.Empty(t, w.pace(s), "nothing was done in the last minute")
	take(statusOf(0, 0, 100, 100)) // published again
	require.Empty(t, w.pace(s))
}

func TestStandingInWords(t *testing.T) {
	in := func(d time.Duration) *time.Time { at := watchBegun.Add(d); return &at }
	n := func(n int64) *int64 { return &n }
	for _, c := range []struct {
		tenant overview.Tenant
		want   string
	}{
		{overview.Tenant{}, ""},
		{overview.Tenant{RPM: 60, WindowMS: 60_000, Used: n(12)}, "12 of 60 calls per 1m0s are used"},
		{overview.Tenant{RPM: 60, TPM: 1000, WindowMS: 5000, Used: n(60), UsedTokens: n(300), WaitReason: overview.Limit, WaitUntil: in(3 * time.Second)},
			"throttled: 60 of 60 calls and 300 of 1000 tokens per 5s are used, next call in 3s"},
		{overview.Tenant{WaitReason: overview.Cooling, WaitUntil: in(time.Minute)}, "throttled: the model server has asked for less, next call in 1m0s"},
		{overview.Tenant{WaitReason: overview.Open}, "no calls: the circuit of the model server is open, until it is reset (502)"},
		{overview.Tenant{Tenant: "acme", WaitReason: overview.Paused, WaitUntil: in(time.Hour)}, `paused until 2026-01-02T04:04:05Z ("\x1bdear")`},
	} {
		s := newStanding(overview.Fleet{
			At: watchBegun, Tenants: []overview.Tenant{c.tenant}, Workers: []overview.Worker{{State: "consuming"}, {State: "stopped"}},
			Circuits: []overview.Circuit{{Name: "default", State: "open", Forced: true, Reason: "502"}},
			Pauses:   []overview.Pause{{Tenant: "acme", Until: in(time.Hour), Reason: "\x1bdear"}},
		})
		require.Equal(t, 1, s.Workers)
		require.Equal(t, c.want, s.words(true))
		s.Workers = 0
		require.Equal(t, "no worker is running", s.words(true))
	}
}

// Off a terminal a line is written when there is news, and the seconds that are left
// are none.
func TestWatchWritesALineOnlyOnChange(t *testing.T) {
	var out bytes.Buffer
	now := watchBegun
	l := &lineShower{out: &out, follow: &watch{now: func() time.Time { return now }}}
	limited := func(left time.Duration) *standing {
		until := now.Add(left)
		return &standing{Workers: 1, Tenant: overview.Tenant{WaitReason: overview.Limit, WaitUntil: &until}, at: now}
	}
	l.status(statusOf(1, 0, 2, 2), limited(5*time.Second))
	l.status(statusOf(1, 0, 2, 2), limited(4*time.Second))
	l.problem(errors.New("nats: \x1btimeout"))
	l.problem(errors.New("nats: \x1btimeout"))
	l.status(statusOf(2, 0, 0, 2), &standing{Workers: 1})
	l.status(statusOf(2, 0, 1, 1), &standing{Workers: 1})
	l.status(statusOf(2, 0, 1, 1), &standing{Workers: 1, Tenant: overview.Tenant{Used: new(int64)}})
	require.Equal(t, `1 of 3 chunks done; throttled: its allowance is used up, next call in 5s
cannot look: "nats: \x1btimeout"
2 of 2 chunks done, 2 more wait for the tenant
2 of 3 chunks done
`, out.String())
}

func TestWatchFitsTheScreen(t *testing.T) {
	s := &screenShower{follow: &watch{now: time.Now}}
	require.Equal(t, "reading results...", s.lines(80, 24)[0].Text)
	status := statusOf(2, 1, 3, 3)
	status.Documents = append([]publish.DocumentStatus{{DocumentID: "\x1bdone", Progress: publish.Progress{Chunks: 1, Done: 1}}}, status.Documents...)
	s.last, s.text, s.now = &status, [2]string{"3 of 6 chunks done", "1.0 chunks/s"}, &standing{}
	for height := 1; height < 30; height++ {
		require.LessOrEqual(t, len(s.lines(40, height)), height)
	}
	lines := s.lines(40, 10)
	require.Equal(t, "tenant acme: 3 of 6 chunks done", lines[0].Text)
	require.Equal(t, "no worker is running", lines[2].Text)
	require.True(t, strings.HasPrefix(lines[4].Text, "doc "), "what is not done comes first")
	require.Equal(t, 40, screen.Width(lines[4].Text))
	require.Contains(t, lines[5].Text, `"\x1bdone"`)
}
