package cachetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
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

func ledgerChecks() []check {
	return []check{
		{"R18 the quota is admitted and not one more, key by key", func(r *rig) {
			q := perMinute(3, 0)
			for _, key := range []string{"k", "k.k", "K", "", "a b*>\n\u00fc", "l" + fmt.Sprintf("%01000d", 0)} {
				for i := range int64(3) {
					r.wantStanding(key, q, i, 5*i)
					r.wantAdmitted(key, q, 5)
				}
				r.wantRefused(key, q, 5, time.Minute)
				r.wantStanding(key, q, 3, 15)
			}
		}},
		{"R18 the quota and not one more when many ask at once", func(r *rig) {
			var admitted atomic.Int64
			inParallel(40, func(i int) {
				a, err := r.ledger().Admit(r.ctx, "k", kvcache.Ask{Quota: perMinute(7, 0)})
				if err != nil {
					r.Errorf("admit: %v", err)
				} else if a.Admitted {
					admitted.Add(1)
				}
			})
			if n := admitted.Load(); n != 7 {
				r.Errorf("40 asked at once, %d were admitted, want 7", n)
			}
			r.wantStanding("k", perMinute(7, 0), 7, 0)
		}},
		{"R18 a place is free again one window later, not before", func(r *rig) {
			q := kvcache.Quota{Window: 400 * time.Millisecond, Requests: 3}
			var begun, ended []time.Time
			clock := newStopwatch(r)
			for asked := 0; len(ended) < 9; asked++ {
				if asked == 200 {
					r.Fatalf("asked 200 times at the times that were told, and only admitted %d times", len(ended))
				}
				before := clock.now()
				a := r.ask("k", kvcache.Ask{Quota: q})
				if a.Admitted {
					begun, ended = append(begun, before), append(ended, clock.now())
					clock.wait(10 * time.Millisecond)
					continue
				}
				clock.wait(a.RetryAfter / 3)
				if a.RetryAfter < 5*time.Millisecond {
					clock.wait(a.RetryAfter)
				}
			}
			for i := 3; i < len(ended); i++ {
				if span := ended[i].Sub(begun[i-3]); span < q.Window {
					r.Errorf("admissions %d to %d within %v of a window of %v", i-3, i, span, q.Window)
				}
			}
		}},
		{"R19 sleeping exactly retry_after gets the place", func(r *rig) {
			q := kvcache.Quota{Window: 300 * time.Millisecond, Requests: 2, Tokens: 10}
			for proven := 0; proven < 3; {
				clock := newStopwatch(r)
				began := clock.now()
				r.wantAdmitted("k", q, 4)
				clock.wait(50 * time.Millisecond)
				r.wantAdmitted("k", q, 4)
				a := r.ask("k", kvcache.Ask{Quota: q, Tokens: 4})
				switch {
				case !a.Admitted && (a.RetryAfter <= 0 || a.RetryAfter > q.Window+r.grace()):
					r.Fatalf("refused for %v by a window of %v", a.RetryAfter, q.Window)
				case !a.Admitted:
					clock.wait(a.RetryAfter)
					r.wantAdmitted("k", q, 4)
					proven++
				case clock.now().Sub(began) < q.Window:
					r.Fatalf("three admissions of two within %v of %v", clock.now().Sub(began), q.Window)
				}
				clock.wait(q.Window + r.grace())
			}
		}},
		{"R19 a refusal records nothing, and asking does not make the wait longer", func(r *rig) {
			q := perMinute(2, 100)
			r.wantAdmitted("k", q, 60)
			last := time.Minute
			for range 20 {
				last = r.wantRefused("k", q, 50, last)
			}
			r.wantStanding("k", q, 1, 60)
			r.wantAdmitted("k", q, 40)
		}},
		{"R19 waiters are told an instant each, and again the same", func(r *rig) {
			q := perMinute(2, 0)
			r.wantAdmitted("k", q, 0)
			r.wait(100 * time.Millisecond)
			r.wantAdmitted("k", q, 0)
			slot := func(i int) time.Duration {
				return r.ask("k", kvcache.Ask{Quota: q, Waiter: fmt.Sprint(i)}).RetryAfter
			}
			var slots []time.Duration
			for i := range 6 {
				slots = append(slots, slot(i))
			}
			for i := 2; i < len(slots); i++ {
				if d := slots[i] - slots[i-2] - q.Window; d < -r.grace() || d > r.grace() {
					r.Errorf("waiters %d and %d are %v apart, want %v", i-2, i, slots[i]-slots[i-2], q.Window)
				}
			}
			for _, i := range []int{4, 0, 5} {
				if d := slots[i] - slot(i); d < 0 || d > r.grace() {
					r.Errorf("waiter %d was told %v, and then %v less", i, slots[i], d)
				}
			}
			r.wantRefused("k", q, 0, slots[0])
			r.wantStanding("k", q, 2, 0)
		}},
		{"Ledger: requests and tokens are taken together or not at all", func(r *rig) {
			q := perMinute(3, 100)
			r.wantAdmitted("k", q, 60)
			r.wantRefused("k", q, 41, time.Minute)
			r.wantStanding("k", q, 1, 60)
			r.wantAdmitted("k", q, 40)
			r.wantAdmitted("k", q, 0)
			r.wantRefused("k", q, 0, time.Minute)
			r.wantStanding("k", q, 3, 100)
		}},
		{"Ledger: settling replaces the estimate, less or more", func(r *rig) {
			q := perMinute(10, 100)
			first := r.wantAdmitted("k", q, 90)
			r.settle("k", first, 20)
			second := r.wantAdmitted("k", q, 80)
			if first == second || first == 0 {
				r.Errorf("ids %d and %d do not tell the admissions apart", first, second)
			}
			r.settle("k", second, 30)
			r.wantStanding("k", q, 2, 50)
			r.settle("k", second, 300)
			r.wantStanding("k", q, 2, 320)
			r.wantRefused("k", q, 1, time.Minute)
			r.settle("k", second, 80)
			r.settle("k", second+1<<20, 1_000_000)
			r.settle("other", second, 1_000_000)
			r.wantStanding("k", q, 2, 100)
		}},
		{"Ledger: a cool-down refuses everything, and is only ever extended", func(r *rig) {
			q := perMinute(10, 0)
			r.wantAdmitted("k", q, 0)
			r.cool("k", 0)
			r.cool("k", -time.Minute)
			r.wantAdmitted("k", q, 0)
			r.cool("k", time.Hour)
			r.cool("k", time.Second)
			if wait := r.wantRefused("k", q, 0, time.Hour); wait < time.Hour-10*time.Second {
				r.Errorf("cooled for an hour, then for a second: refused for %v", wait)
			}
			r.wantRefused("k", perMinute(0, 0), 0, time.Hour)
			if wait := r.wantStanding("k", q, 2, 0); wait <= 0 {
				r.Errorf("peek at a key that cools down: retry after %v", wait)
			}
			r.wantAdmitted("other", q, 0)

			for refused := false; !refused; {
				clock := newStopwatch(r)
				began, brief := clock.now(), 200*time.Millisecond
				r.cool("brief", brief)
				a := r.ask("brief", kvcache.Ask{Quota: q})
				if refused = !a.Admitted; refused {
					clock.wait(a.RetryAfter)
					r.wantAdmitted("brief", q, 0)
				} else if clock.now().Sub(began) < brief {
					r.Fatalf("admitted %v into a cool-down of %v", clock.now().Sub(began), brief)
				}
			}
		}},
		{"Ledger: an unlimited quota admits and records nothing", func(r *rig) {
			for range 20 {
				if id := r.wantAdmitted("k", perMinute(0, 0), 1000); id != 0 {
					r.Errorf("unlimited: got id %d, want 0", id)
				}
			}
			r.wantStanding("k", perMinute(0, 0), 0, 0)
			r.settle("k", 0, 50)
			r.wantStanding("k", perMinute(0, 0), 0, 0)
			r.wantAdmitted("k", perMinute(0, 10), 7) // requests alone are unlimited
			r.wantRefused("k", perMinute(0, 10), 7, time.Minute)
		}},
		{"Ledger: the quota may change from one question to the next", func(r *rig) {
			for range 4 {
				r.wantAdmitted("k", perMinute(4, 0), 0)
			}
			r.wantRefused("k", perMinute(4, 0), 0, time.Minute)
			r.wantRefused("k", perMinute(2, 0), 0, time.Minute)
			r.wantAdmitted("k", perMinute(5, 0), 0)
			r.wantStanding("k", perMinute(1, 0), 5, 0)
			r.wantRefused("k", kvcache.Quota{Window: time.Hour, Requests: 5}, 0, time.Hour)
			r.wantAdmitted("k", kvcache.Quota{Window: time.Hour, Requests: 6}, 0)
			r.wait(20 * time.Millisecond)
			r.wantAdmitted("k", kvcache.Quota{Window: 10 * time.Millisecond, Requests: 1}, 0)
		}},
		{"Ledger: questions without an answer are errors and take nothing", func(r *rig) {
			for name, ask := range map[string]kvcache.Ask{
				"no window":        {Quota: kvcache.Quota{Requests: 1}},
				"negative window":  {Quota: kvcache.Quota{Window: -1, Requests: 1}},
				"too wide":         {Quota: kvcache.Quota{Window: kvcache.MaxWindow + 1, Requests: 1}},
				"negative request": {Quota: perMinute(-1, 0)},
				"negative quota":   {Quota: perMinute(1, -1)},
				"negative cost":    {Quota: perMinute(1, 0), Tokens: -1},
				"absurd cost":      {Quota: perMinute(1, 0), Tokens: kvcache.MaxTokens + 1},
			} {
				if _, err := r.ledger().Admit(r.ctx, "k", ask); !errors.Is(err, kvcache.ErrInvalidAsk) {
					r.Errorf("%s: got %v, want ErrInvalidAsk", name, err)
				}
			}
			if _, err := r.ledger().Admit(r.ctx, "k", kvcache.Ask{Quota: perMinute(5, 9), Tokens: 10}); !errors.Is(err, kvcache.ErrExceedsQuota) {
				r.Errorf("10 tokens of 9: got %v, want ErrExceedsQuota", err)
			}
			if _, err := r.ledger().Peek(r.ctx, "k", kvcache.Quota{}); !errors.Is(err, kvcache.ErrInvalidAsk) {
				r.Errorf("peek through no window: got %v, want ErrInvalidAsk", err)
			}
			if err := r.ledger().Settle(r.ctx, "k", 1, -1); !errors.Is(err, kvcache.ErrInvalidAsk) {
				r.Errorf("settle to -1: got %v, want ErrInvalidAsk", err)
			}
			r.wantStanding("k", perMinute(1, 1), 0, 0)
		}},
		{"R8 a ledger shares a key with a value and with hits, and outlives their deletion", func(r *rig) {
			q := perMinute(2, 0)
			r.set("k", "v", 0)
			r.hit("k", instant)
			r.wantAdmitted("k", q, 3)
			r.wantValue("k", "v")
			r.wantCount("k", instant, 1)
			r.delete("k")
			r.wantStanding("k", q, 1, 3)
		}},
		{"R5 R7 a cancelled context and a closed cache are honoured, and nothing is taken", func(r *rig) {
			ctx, cancel := context.WithCancel(r.ctx)
			cancel()
			for name, do := range ledgerOperations(ctx, r.ledger()) {
				if err := do(); !errors.Is(err, context.Canceled) {
					r.Errorf("%s with a cancelled context: got %v, want context.Canceled", name, err)
				}
			}
			r.wantStanding("k", perMinute(1, 0), 0, 0)
			r.must(r.cache.Close(), "close")
			for name, do := range ledgerOperations(r.ctx, r.ledger()) {
				if err := do(); !errors.Is(err, kvcache.ErrClosed) {
					r.Errorf("%s after close: got %v, want ErrClosed", name, err)
				}
			}
		}},
	}
}

func ledgerOperations(ctx context.Context, l kvcache.Ledger) map[string]func() error {
	return map[string]func() error{
		"admit":  func() error { _, err := l.Admit(ctx, "k", kvcache.Ask{Quota: perMinute(1, 0)}); return err },
		"settle": func() error { return l.Settle(ctx, "k", 1, 1) },
		"cool":   func() error { return l.Cool(ctx, "k", time.Second) },
		"peek":   func() error { _, err := l.Peek(ctx, "k", perMinute(1, 0)); return err },
	}
}

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
