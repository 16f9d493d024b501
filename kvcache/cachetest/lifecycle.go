package cachetest

import (
	"context"
	"errors"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// operations are all operations but Close, each on the key "k".
func operations(ctx context.Context, c kvcache.Cache) map[string]func() error {
	return map[string]func() error{
		"get":        func() error { _, _, err := c.Get(ctx, "k"); return err },
		"set":        func() error { return c.Set(ctx, "k", "9", 0) },
		"increment":  func() error { _, err := c.Increment(ctx, "k", 0); return err },
		"delete":     func() error { return c.Delete(ctx, "k") },
		"record hit": func() error { return c.RecordHit(ctx, "k", instant, time.Hour) },
		"count hits": func() error { _, err := c.CountHits(ctx, "k", instant); return err },
		"oldest hit": func() error { _, _, err := c.OldestHit(ctx, "k", instant); return err },
	}
}

func lifecycleChecks() []check {
	return []check{
		{"R7 closing twice is safe, and a closed cache says so", func(r *rig) {
			r.set("k", "1", 0)
			r.must(r.cache.Close(), "close")
			r.must(r.cache.Close(), "close again")
			for name, do := range operations(r.ctx, r.cache) {
				if err := do(); !errors.Is(err, kvcache.ErrClosed) {
					r.Errorf("%s after close: got %v, want ErrClosed", name, err)
				}
			}
		}},
		{"R7 closing while others use it is safe", func(r *rig) {
			inParallel(4, func(i int) {
				if i == 0 {
					if err := r.cache.Close(); err != nil {
						r.Errorf("close: %v", err)
					}
					return
				}
				for name, do := range operations(r.ctx, r.cache) {
					if err := do(); err != nil && !errors.Is(err, kvcache.ErrClosed) {
						r.Errorf("%s while closing: got %v, want nothing or ErrClosed", name, err)
					}
				}
			})
		}},
		{"R5 a cancelled context is honoured by every operation, and nothing is written", func(r *rig) {
			r.set("k", "1", 0)
			r.hit("k", instant)
			ctx, cancel := context.WithCancel(r.ctx)
			cancel()
			for name, do := range operations(ctx, r.cache) {
				if err := do(); !errors.Is(err, context.Canceled) {
					r.Errorf("%s with a cancelled context: got %v, want context.Canceled", name, err)
				}
			}
			r.wantValue("k", "1")
			r.wantCount("k", instant, 1)
		}},
	}
}
