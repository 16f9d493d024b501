package cachetest

import (
	"fmt"
	"sync/atomic"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// windowChecks are what a ledger promises of its window, and of when to ask again.
func windowChecks() []check {
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
			told := func(i int) moment {
				began := r.now()
				wait := r.ask("k", kvcache.Ask{Quota: q, Waiter: fmt.Sprint(i)}).RetryAfter
				return moment{began.Add(wait), r.now().Add(wait)}
			}
			var slots []moment
			for i := range 6 {
				slots = append(slots, told(i))
			}
			for i := 2; i < len(slots); i++ {
				if !slots[i-2].plus(q.Window).near(slots[i], r.grace()) {
					r.Errorf("waiters %d and %d were told %v and %v, want %v between them", i-2, i, slots[i-2], slots[i], q.Window)
				}
			}
			for _, i := range []int{4, 0, 5} {
				if again := told(i); !again.near(slots[i], r.grace()) {
					r.Errorf("waiter %d was told %v, and then %v", i, slots[i], again)
				}
			}
			r.wantRefused("k", q, 0, time.Minute)
			r.wantStanding("k", q, 2, 0)
		}},
	}
}

// moment is one that is known to be not before the first and not after the last: an
// answer names it relative to a moment between question and answer.
type moment struct{ first, last time.Time }

func (i moment) plus(d time.Duration) moment { return moment{i.first.Add(d), i.last.Add(d)} }

// near reports whether both can be the same, give or take the grace.
func (i moment) near(other moment, grace time.Duration) bool {
	return !i.first.After(other.last.Add(grace)) && !other.first.After(i.last.Add(grace))
}

func (i moment) String() string {
	return i.first.Format("15:04:05.000") + "-" + i.last.Format("15:04:05.000")
}
