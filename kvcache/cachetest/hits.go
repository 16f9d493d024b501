package cachetest

import (
	"time"
)

// instant is where hits are recorded. No cache's clock is near it, and none may
// care: the caller owns every instant (R11).
var instant = time.Date(2001, 9, 9, 1, 46, 40, 123456789, time.UTC)

func hitChecks() []check {
	return []check{
		{"R10 an empty series has no hits", func(r *rig) {
			r.wantCount("k", instant, 0)
			r.wantCount("k", time.Unix(0, 0), 0)
			r.wantOldest("k", instant, time.Time{})
		}},
		{"R10 a hit at the boundary counts", func(r *rig) {
			r.hit("k", instant)
			r.wantCount("k", instant.Add(-time.Nanosecond), 1)
			r.wantCount("k", instant, 1)
			r.wantOldest("k", instant, instant)
			r.wantCount("k", instant.Add(time.Nanosecond), 0)
			r.wantOldest("k", instant.Add(time.Nanosecond), time.Time{})
		}},
		{"R10 two hits at the same instant are two", func(r *rig) {
			r.hit("k", instant)
			r.hit("k", instant)
			r.wantCount("k", instant, 2)
			r.hit("k", instant)
			r.wantCount("k", instant, 3)
		}},
		{"R10 the oldest hit is the earliest at or after since, in whatever order they came", func(r *rig) {
			at := func(seconds int) time.Time { return instant.Add(time.Duration(seconds) * time.Second) }
			r.hit("k", at(30), at(10), at(20), at(40), at(25))
			r.wantOldest("k", at(0), at(10))
			r.wantCount("k", at(0), 5)
			r.wantOldest("k", at(10), at(10))
			r.wantOldest("k", at(11), at(20))
			r.wantCount("k", at(11), 4)
			r.wantOldest("k", at(26), at(30))
			r.wantCount("k", at(30), 2)
			r.wantCount("k", at(41), 0)
			r.wantOldest("k", at(41), time.Time{})
		}},
		{"R10 series are kept apart by key", func(r *rig) {
			r.hit("a", instant)
			r.hit("b", instant, instant.Add(time.Second))
			r.wantCount("a", instant, 1)
			r.wantCount("b", instant, 2)
			r.wantCount("ab", instant, 0)
			r.wantOldest("b", instant.Add(time.Nanosecond), instant.Add(time.Second))
			r.wantOldest("a", instant.Add(time.Nanosecond), time.Time{})
		}},
		{"R10 a whole window slides", func(r *rig) {
			const n = 50
			for i := range n {
				r.hit("k", instant.Add(time.Duration(i)*time.Second))
			}
			for i := range n {
				since := instant.Add(time.Duration(i) * time.Second)
				r.wantCount("k", since, n-i)
				r.wantOldest("k", since, since)
			}
		}},
		{"R11 the caller owns every instant, past or future", func(r *rig) {
			for _, at := range []time.Time{
				time.Unix(0, 0), time.Unix(0, 1), time.Unix(-1, 0), time.Date(1969, 1, 2, 3, 4, 5, 6, time.UTC), instant,
				time.Now(), time.Now().Add(-24 * time.Hour), time.Now().Add(24 * time.Hour),
				time.Date(2100, 1, 1, 0, 0, 0, 999999999, time.FixedZone("east", 3*3600)),
			} {
				key := at.UTC().String()
				r.hit(key, at)
				r.wantCount(key, at, 1)
				r.wantOldest(key, at, at)
				r.wantOldest(key, at.Add(-time.Minute), at)
				r.wantCount(key, at.Add(time.Nanosecond), 0)
			}
		}},
		{"R11 time that passes for the cache alone changes no answer", func(r *rig) {
			r.hit("k", instant)
			r.write(subSecond, func() { r.set("clock", "", subSecond) }).
				expires(func() bool { return r.present("clock") })
			r.wantCount("k", instant, 1)
			r.wantOldest("k", instant, instant)
		}},
		{"R10 no hit is lost when many record at the same instant", func(r *rig) {
			const callers, each = 8, 10
			inParallel(callers, func(int) {
				for range each {
					if err := r.cache.RecordHit(r.ctx, "k", instant, time.Hour); err != nil {
						r.Errorf("record a hit: %v", err)
					}
				}
			})
			r.wantCount("k", instant, callers*each)
		}},
	}
}
