package cachetest

import (
	"testing"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// RunLedger checks the [kvcache.Ledger] capability, and skips if the cache does
// not have it.
func RunLedger(t *testing.T, open Open) {
	t.Helper()
	probe := open(t)
	_, ok := probe.(kvcache.Ledger)
	if err := probe.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if !ok {
		t.Skipf("%T does not offer kvcache.Ledger", probe)
	}
	runAll(t, open, ledgerChecks())
}

// perMinute is a quota whose window no check outlives.
func perMinute(requests, tokens int64) kvcache.Quota {
	return kvcache.Quota{Window: time.Minute, Requests: requests, Tokens: tokens}
}

func (r *rig) ledger() kvcache.Ledger { return r.cache.(kvcache.Ledger) }

func (r *rig) ask(key string, ask kvcache.Ask) kvcache.Admission {
	r.Helper()
	a, err := r.ledger().Admit(r.ctx, key, ask)
	r.must(err, "admit to "+quote(key))
	return a
}

func (r *rig) wantAdmitted(key string, q kvcache.Quota, tokens int64) uint64 {
	r.Helper()
	a := r.ask(key, kvcache.Ask{Quota: q, Tokens: tokens})
	if !a.Admitted {
		r.Fatalf("%d tokens of %s within %+v: refused for %v, want admitted", tokens, quote(key), q, a.RetryAfter)
	}
	return a.ID
}

// wantRefused checks a refusal for at most that long.
func (r *rig) wantRefused(key string, q kvcache.Quota, tokens int64, most time.Duration) time.Duration {
	r.Helper()
	a := r.ask(key, kvcache.Ask{Quota: q, Tokens: tokens})
	if a.Admitted {
		r.Fatalf("%d tokens of %s within %+v: admitted, want refused", tokens, quote(key), q)
	}
	if a.RetryAfter <= 0 || a.RetryAfter > most+r.grace() {
		r.Fatalf("%d tokens of %s within %+v: refused for %v, want more than 0 and at most %v", tokens, quote(key), q, a.RetryAfter, most)
	}
	return a.RetryAfter
}

func (r *rig) wantStanding(key string, q kvcache.Quota, requests, tokens int64) time.Duration {
	r.Helper()
	s, err := r.ledger().Peek(r.ctx, key, q)
	r.must(err, "peek at "+quote(key))
	if s.Requests != requests || s.Tokens != tokens {
		r.Fatalf("peek at %s: got %d requests and %d tokens, want %d and %d", quote(key), s.Requests, s.Tokens, requests, tokens)
	}
	return s.RetryAfter
}

func (r *rig) settle(key string, id uint64, tokens int64) {
	r.Helper()
	r.must(r.ledger().Settle(r.ctx, key, id, tokens), "settle "+quote(key))
}

func (r *rig) cool(key string, d time.Duration) {
	r.Helper()
	r.must(r.ledger().Cool(r.ctx, key, d), "cool "+quote(key))
}

// grace is what a cache that lives in real time may be late.
func (r *rig) grace() time.Duration {
	if r.advance != nil {
		return 0
	}
	return Grace
}

// wait lets d pass.
func (r *rig) wait(d time.Duration) {
	if r.advance != nil {
		r.advance(d)
		return
	}
	select {
	case <-time.After(d):
	case <-r.ctx.Done():
	}
}

func ledgerChecks() []check { return append(windowChecks(), termsChecks()...) }

// stopwatch is the time that passes for the cache under test.
type stopwatch struct {
	r     *rig
	start time.Time
	moved time.Duration
}

func newStopwatch(r *rig) *stopwatch { return &stopwatch{r: r, start: time.Now()} }

func (s *stopwatch) wait(d time.Duration) {
	s.r.wait(d)
	s.moved += d
}

func (s *stopwatch) now() time.Time {
	if s.r.advance != nil {
		return s.start.Add(s.moved)
	}
	return time.Now()
}
