package cachetest

import (
	"errors"
	"strconv"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

const (
	subSecond  = 300 * time.Millisecond
	fractional = 1300 * time.Millisecond
)

func ttlChecks() []check {
	return []check{
		{"R9 ttls below a second and with fractions are kept exactly", func(r *rig) {
			for _, ttl := range []time.Duration{time.Microsecond, subSecond, fractional} {
				r.write(ttl, func() { r.set("k", "v", ttl) }).
					expires(func() bool { return r.present("k") })
				r.write(ttl, func() { r.increment("n", ttl) }).
					expires(func() bool { return r.present("n") })
			}
		}},
		{"R9 set without a ttl survives, also one that follows a ttl", func(r *rig) {
			r.set("plain", "v", 0)
			r.set("was short", "v", subSecond)
			r.set("was short", "v", 0)
			r.write(fractional, func() { r.set("short", "v", fractional) }).
				expires(func() bool { return r.present("short") })
			r.wantValue("plain", "v")
			r.wantValue("was short", "v")
		}},
		{"R9 set with a ttl replaces the earlier one", func(r *rig) {
			r.set("longer", "v", subSecond)
			r.set("longer", "v", time.Hour)
			r.set("shorter", "v", time.Hour)
			r.write(subSecond, func() { r.set("shorter", "v", subSecond) }).
				expires(func() bool { return r.present("shorter") })
			r.wantValue("longer", "v")
		}},
		{"R9 increment's ttl counts from the first and is never refreshed", func(r *rig) {
			r.write(subSecond, func() { r.increment("n", subSecond) }).
				expires(func() bool { return r.increment("n", subSecond) > 1 })
		}},
		{"R9 increment leaves the ttl of a key that was set alone", func(r *rig) {
			r.set("forever", "5", 0)
			r.wantIncrement("forever", subSecond, 6)
			w := r.write(subSecond, func() { r.set("n", "5", subSecond) })
			r.increment("n", time.Hour)
			w.expires(func() bool { return r.present("n") })
			r.wantValue("forever", "6")
		}},
		{"R9 an expired counter starts anew with a new ttl", func(r *rig) {
			r.set("text", "not a number", subSecond)
			r.write(subSecond, func() { r.set("n", "7", subSecond) }).
				expires(func() bool { return r.present("n") || r.present("text") })
			r.wantIncrement("text", 0, 1)
			r.write(subSecond, func() { r.wantIncrement("n", subSecond, 1) }).
				expires(func() bool { return r.present("n") })
		}},
		{"R9 a value that expires leaves the hits of its key alone", func(r *rig) {
			r.hit("k", instant)
			r.write(subSecond, func() { r.set("k", "v", subSecond) }).
				expires(func() bool { return r.present("k") })
			r.wantCount("k", instant, 1)
		}},
		{"R9 a ttl that makes no sense is an error and changes nothing", func(r *rig) {
			r.set("k", "1", 0)
			_, incErr := r.cache.Increment(r.ctx, "k", -time.Nanosecond)
			for doing, err := range map[string]error{
				"set with a negative ttl":       r.cache.Set(r.ctx, "k", "2", -time.Second),
				"increment with a negative ttl": incErr,
				"a hit with a negative ttl":     r.cache.RecordHit(r.ctx, "k", instant, -time.Second),
				"a hit without a ttl":           r.cache.RecordHit(r.ctx, "k", instant, 0),
			} {
				if !errors.Is(err, kvcache.ErrInvalidTTL) {
					r.Errorf("%s: got %v, want ErrInvalidTTL", doing, err)
				}
			}
			r.wantValue("k", "1")
			r.wantCount("k", instant, 0)
		}},
		{"R10 a hit stays for its own ttl, whatever came before", func(r *rig) {
			short := func() { r.must(r.cache.RecordHit(r.ctx, "k", instant, subSecond), "record a short hit") }
			short()
			r.hit("k", instant.Add(time.Second))
			w := r.write(fractional, func() { r.set("clock", "", fractional) })
			w.expires(func() bool { return r.present("clock") })
			r.wantCount("k", instant.Add(time.Second), 1)
			r.wantOldest("k", instant.Add(time.Second), instant.Add(time.Second))
		}},
		{"R9 the longest ttls are still ttls", func(r *rig) {
			for i, ttl := range []time.Duration{24 * time.Hour, 365 * 24 * time.Hour, 1<<63 - 1} {
				key := strconv.Itoa(i)
				r.set(key, "v", ttl)
				r.wantValue(key, "v")
				r.wantIncrement("n"+key, ttl, 1)
				r.wantIncrement("n"+key, ttl, 2)
				r.must(r.cache.RecordHit(r.ctx, key, instant, ttl), "record a hit with a long ttl")
				r.wantCount(key, instant, 1)
			}
		}},
	}
}
