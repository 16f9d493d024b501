package cachetest

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// termsChecks are what a ledger promises beside its window: tokens and what they really
// were, cool-downs, quotas that change, and what else it must leave alone.
func termsChecks() []check {
	return []check{
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
