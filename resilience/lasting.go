package resilience

import (
	"context"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// recordTimeout bounds what goes on although its caller may have gone: all that a
// guard records at the end of a call together, or one step of [Breaker.Allow].
const recordTimeout = 2 * time.Second

// lasting returns a context that does not end with ctx, but after recordTimeout.
// What is cut off in the middle leaves its caller not knowing whether it took place.
// A probe may then be held by nobody; a report may be lost, and made again it may
// count twice.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
}

// recording is the context in which a guard records what has become of a call. A
// store in memory never waits, so it needs no time limit, nor the cost of one.
func (g *Guard) recording(ctx context.Context) (context.Context, context.CancelFunc) {
	if g.instant {
		return context.Background(), func() {}
	}
	return lasting(ctx)
}

func inMemory(store any) bool {
	_, ok := store.(*kvcache.Memory)
	return ok
}
