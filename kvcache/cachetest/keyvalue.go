package cachetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

func keyValueChecks() []check {
	return []check{
		{"R8 a missing key is absent, not an error", func(r *rig) {
			r.wantAbsent("missing")
		}},
		{"R8 values are strings and come back as they went in", func(r *rig) {
			for i, value := range []string{
				"closed", "", " ", "0", "-1", "1e3", "true", "null", `{"a":"b"}`, "two\nlines\r\n\t",
				"Grüße, 世界 🌍", "a\x00b", "\xff\xfe", strings.Repeat("long ", 10_000),
			} {
				key := "value" + strconv.Itoa(i)
				r.set(key, value, 0)
				r.wantValue(key, value)
			}
		}},
		{"R8 set replaces", func(r *rig) {
			r.set("k", "one", 0)
			r.set("k", "two", 0)
			r.wantValue("k", "two")
			r.set("k", "", 0)
			r.wantValue("k", "")
		}},
		{"R8 increment counts from a missing key and reads back as a decimal string", func(r *rig) {
			for want := int64(1); want <= 12; want++ {
				r.wantIncrement("n", 0, want)
				r.wantValue("n", strconv.FormatInt(want, 10))
			}
		}},
		{"R8 increment continues from a number that was set", func(r *rig) {
			for value, want := range map[string]int64{
				"41": 42, "0": 1, "-1": 0, "-5": -4, "9": 10, "9223372036854775806": 9223372036854775807,
			} {
				r.set("n", value, 0)
				r.wantIncrement("n", 0, want)
				r.wantValue("n", strconv.FormatInt(want, 10))
			}
		}},
		{"R8 increment of something else is an error and changes nothing", func(r *rig) {
			for _, value := range []string{"", " ", "open", "1.5", "1e3", " 1", "0x10", "1_000", "9223372036854775807", "99999999999999999999"} {
				r.set("k", value, 0)
				if n, err := r.cache.Increment(r.ctx, "k", time.Hour); !errors.Is(err, kvcache.ErrNotNumber) {
					r.Errorf("increment of %s: got %d, %v, want ErrNotNumber", quote(value), n, err)
				}
				r.wantValue("k", value)
			}
		}},
		{"R8 delete forgets a value, and a missing key is no error", func(r *rig) {
			r.delete("k")
			r.set("k", "v", 0)
			r.delete("k")
			r.wantAbsent("k")
			r.delete("k")
			r.wantAbsent("k")
			r.set("k", "again", 0)
			r.wantValue("k", "again")
		}},
		{"R8 delete starts a counter anew", func(r *rig) {
			r.increment("n", 0)
			r.increment("n", 0)
			r.delete("n")
			r.wantIncrement("n", 0, 1)
		}},
		{"R8 delete clears both the value and the hits of a key", func(r *rig) {
			r.set("k", "v", 0)
			r.hit("k", instant)
			r.set("bystander", "v", 0)
			r.hit("bystander", instant)
			r.delete("k")
			r.wantAbsent("k")
			r.wantCount("k", instant, 0)
			r.wantOldest("k", instant, time.Time{})
			r.wantValue("bystander", "v")
			r.wantCount("bystander", instant, 1)

			r.hit("hits only", instant)
			r.delete("hits only")
			r.wantCount("hits only", instant, 0)
		}},
		{"R8 a value and a hit series share a key without colliding", func(r *rig) {
			r.hit("k", instant, instant)
			r.wantAbsent("k")
			r.wantIncrement("k", 0, 1)
			r.wantCount("k", instant, 2)
			r.set("k", "v", 0)
			r.wantCount("k", instant, 2)
			r.hit("k", instant)
			r.wantValue("k", "v")
			r.wantCount("k", instant, 3)
		}},
		{"R8 keys of any characters are kept apart", awkwardKeysAreKeptApart},
		{"R8 no increment is lost when many race", noIncrementIsLost},
	}
}

// awkwardKeys are different keys, however a store may spell, fold, split or cut
// them.
func awkwardKeys() []string {
	long := strings.Repeat("k", 1000)
	return []string{
		"", " ", "  ", ".", "..", "a.", ".a", "a..b", "a.b", "*", ">", "a.*", "a.>", "a b", "a\tb", "a\nb", "a\x00", "a",
		"A", "é", "e\u0301", "ключ.состояние", "世界", "🌍", "/", "a/b", `a\b`, "=", "=a", "=YQ", "_", "-", "$KV", "a:b", "a,b", "a%20b", "a+b",
		"\xff", "\xfe", "a.hits", "a:hits", "hits.a", "h.a", "v.a", "_hits", strings.Repeat("é", 500),
		long, long + "k", long + ".", strings.Repeat("x y", 2000), strings.Repeat("x y", 2000) + "z",
	}
}

func awkwardKeysAreKeptApart(r *rig) {
	keys := awkwardKeys()
	for i, key := range keys {
		r.wantAbsent(key)
		r.wantCount(key, instant, 0)
		r.set(key, fmt.Sprint(i), 0)
		for range i%3 + 1 {
			r.hit(key, instant)
		}
	}
	for i, key := range keys {
		r.wantValue(key, fmt.Sprint(i))
		r.wantCount(key, instant, i%3+1)
		r.wantIncrement(key, 0, int64(i)+1)
	}
	for i, key := range keys {
		r.wantValue(key, fmt.Sprint(i+1))
		r.delete(key)
		r.wantAbsent(key)
		r.wantCount(key, instant, 0)
	}
}

func noIncrementIsLost(r *rig) {
	const callers, each = 8, 25
	var mu sync.Mutex
	seen := make(map[int64]bool)
	inParallel(callers, func(int) {
		for range each {
			n, err := r.cache.Increment(r.ctx, "n", time.Hour)
			if err != nil {
				r.Errorf("increment: %v", err)
				return
			}
			mu.Lock()
			if seen[n] {
				r.Errorf("two callers were told %d", n)
			}
			seen[n] = true
			mu.Unlock()
		}
	})
	r.wantValue("n", strconv.Itoa(callers*each))
}

func quote(s string) string { return fmt.Sprintf("%.60q", s) }
