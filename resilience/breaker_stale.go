package resilience

import (
	"context"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// recent is a key of a circuit that has its ordinary value nearly always, and when that
// was read last. What was read serves again for [BreakerConfig.MaxStaleness], unless the
// breaker itself has written since the read began, or has read something else.
type recent struct {
	key      string
	ordinary func(*kvcache.Entry) bool

	mu      sync.Mutex
	version uint64    // of the ordinary value
	read    time.Time // zero: not known
	writes  uint64    // of the breaker, so far
}

// ordinary reports whether a key has its ordinary value, and which version of it.
func (b *Breaker) ordinary(ctx context.Context, op string, r *recent) (version uint64, ok bool, err error) {
	var began time.Time
	var writes uint64
	if stale := b.cfg.MaxStaleness; stale > 0 {
		began = b.cfg.Clock()
		if version, writes, ok = r.recall(began, stale); ok && ctx.Err() == nil {
			return version, true, nil
		}
	}
	one := b.entries.Get().(*[1]kvcache.Entry)
	defer b.entries.Put(one)
	one[0].Key = r.key
	if err := b.store.Load(ctx, one[:]); err != nil {
		return 0, false, storeError(ctx, op, err)
	}
	answered(ctx)
	if !r.ordinary(&one[0]) {
		return 0, false, nil
	}
	r.remember(one[0].Version, began, writes)
	return one[0].Version, true, nil
}

func (r *recent) recall(now time.Time, stale time.Duration) (version, writes uint64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	age := now.Sub(r.read)
	return r.version, r.writes, !r.read.IsZero() && age >= 0 && age < stale // a clock may be set back
}

// remember keeps what a read found that began at a time and after so many writes.
func (r *recent) remember(version uint64, began time.Time, writes uint64) {
	if began.IsZero() { // nothing is to be kept
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes == writes {
		r.version, r.read = version, began
	}
}

// noticed forgets what a later read has shown to be over.
func (r *recent) noticed(e *kvcache.Entry) {
	r.mu.Lock()
	over := e.Version != r.version
	r.mu.Unlock()
	if over {
		r.forget()
	}
}

// forget is also for after each write, whether or not that succeeded.
func (r *recent) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writes++
	r.read = time.Time{}
}
