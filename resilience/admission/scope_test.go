package admission

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// pair is the same thing twice: as a scope makes it and as the standard library does.
type pair struct {
	ours, theirs context.Context
	fired        [2]atomic.Int32 // calls of functions that were registered with AfterFunc
}

func (p *pair) difference(instants bool) string {
	a, b := p.ours, p.theirs
	if fmt.Sprint(a.Err(), context.Cause(a)) != fmt.Sprint(b.Err(), context.Cause(b)) {
		return fmt.Sprintf("Err %v, Cause %v, expected %v, %v", a.Err(), context.Cause(a), b.Err(), context.Cause(b))
	}
	at, ok := a.Deadline()
	bt, bok := b.Deadline()
	switch {
	case ok != bok || ok && !at.Equal(bt):
		return fmt.Sprintf("Deadline %v %v, expected %v %v", at, ok, bt, bok)
	case a.Value(key{}) != b.Value(key{}):
		return "Value"
	case instants && closed(a) != closed(b):
		return fmt.Sprintf("Done is closed: %v, expected %v", closed(a), closed(b))
	case p.fired[0].Load() != p.fired[1].Load():
		return fmt.Sprintf("AfterFunc ran %d times, expected %d", p.fired[0].Load(), p.fired[1].Load())
	}
	return ""
}

type key struct{}

func closed(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	default:
		return false
	}
}

// TestScopeIsAContext: A11-A15 rest on it. A tree of caller, call and attempt in scopes
// answers like one made with the standard library, whoever listens, derives from
// it or ends what, and whenever.
func TestScopeIsAContext(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		actions := rapid.SliceOfN(rapid.SampledFrom([]string{
			"look", "look", "listen call", "listen attempt", "derive call", "derive attempt", "after call", "after attempt",
			"end call", "end call because", "end attempt", "cancel caller", "cancel caller because", "pass", "pass"}), 1, 14).Draw(rt, "actions")
		deadline := rapid.SampledFrom([]time.Duration{0, 1, 3, 9}).Draw(rt, "deadline")
		limit := rapid.SampledFrom([]time.Duration{1, 3, 9}).Draw(rt, "limit")
		var problem string
		synctest.Test(t, func(*testing.T) { problem = playScope(actions, deadline*time.Second, limit*time.Second) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func playScope(actions []string, deadline, limit time.Duration) string {
	start := time.Now()
	base, cancel := context.WithCancelCause(context.WithValue(context.Background(), key{}, "here"))
	defer cancel(nil)
	caller, stop := WithTimeout(base, deadline)
	defer stop()
	var call, attempt scope
	call.parent = caller
	attempt.parent, attempt.since, attempt.limit = &call, &start, limit
	theirCall, endCall := context.WithCancelCause(caller)
	defer endCall(nil)
	theirAttempt, endAttempt := context.WithDeadline(theirCall, start.Add(limit))
	defer endAttempt()

	calls, attempts := pair{ours: &call, theirs: theirCall}, pair{ours: &attempt, theirs: theirAttempt}
	pairs := []*pair{&calls, &attempts}
	of := map[string]*pair{"call": pairs[0], "attempt": pairs[1]}
	because := errors.New("because")
	done := ""
	for _, action := range actions {
		done += action + "; "
		var verb, who string
		_, _ = fmt.Sscan(action, &verb, &who)
		switch p := of[who]; verb {
		case "listen":
			_, _ = p.ours.Done(), p.theirs.Done()
		case "derive":
			a, stopA := context.WithTimeout(p.ours, 4*time.Second)
			b, stopB := context.WithTimeout(p.theirs, 4*time.Second)
			defer stopA()
			defer stopB()
			pairs = append(pairs, &pair{ours: a, theirs: b})
		case "after":
			context.AfterFunc(p.ours, func() { p.fired[0].Add(1) })
			context.AfterFunc(p.theirs, func() { p.fired[1].Add(1) })
		case "pass":
			time.Sleep(time.Second)
		}
		if attempt.late() { // a deadline of its own that nobody has seen pass need not have passed
			_ = attempt.Err()
		}
		switch action {
		case "end call":
			call.end(nil)
			endCall(nil)
		case "end call because":
			call.end(because)
			endCall(because)
		case "end attempt":
			attempt.end(nil)
			endAttempt()
		case "cancel caller":
			cancel(nil)
		case "cancel caller because":
			cancel(because)
		}
		synctest.Wait()
		if verb != "look" { // what nobody looks at must come out right as well
			continue
		}
		for i, p := range pairs {
			if d := p.difference(false); d != "" {
				return fmt.Sprintf("after %s: context %d: %s", done, i, d)
			}
		}
	}
	for i, p := range pairs {
		if d := p.difference(true); d != "" {
			return fmt.Sprintf("at the end, after %s: context %d: %s", done, i, d)
		}
	}
	return ""
}

// TestScopeStartsNothingUnheard: what nobody listens to costs no timer, no
// allocation and no entry in its parent, which is why there are scopes.
func TestScopeStartsNothingUnheard(t *testing.T) {
	parent, cancel := context.WithTimeout(t.Context(), time.Hour)
	defer cancel()
	start := time.Now()
	var s scope
	require.Zero(t, testing.AllocsPerRun(100, func() {
		s = scope{}
		s.parent, s.since, s.limit = parent, &start, time.Hour
		_, _ = s.Deadline()
		if s.Err() != nil || s.Value(key{}) != nil {
			t.Fatal("it has not ended")
		}
		s.end(nil)
	}))
	require.ErrorIs(t, s.Err(), context.Canceled)
	require.True(t, closed(&s), "whoever listens afterwards hears that it is over")
}

// TestScopeUnderRaces: listening, looking and ending at the same time.
func TestScopeUnderRaces(t *testing.T) {
	start := time.Now()
	for range 200 {
		parent, cancel := context.WithCancel(t.Context())
		var s scope
		s.parent, s.since, s.limit = parent, &start, time.Hour
		done := make(chan error, 4)
		for range 2 {
			go func() { <-s.Done(); done <- s.Err() }()
		}
		go func() {
			for s.Err() == nil {
			}
			done <- s.Err()
		}()
		go func() { s.end(nil); done <- s.Err() }()
		go cancel()
		for range 4 {
			require.ErrorIs(t, <-done, context.Canceled)
		}
		cancel()
	}
}
