package resilience

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// recordTimeout bounds the silence of a store to which something is reported
// although the caller may have gone: what a guard records at the end of a call, or one
// step of [Breaker.Allow]. With every answer that time begins anew.
const recordTimeout = 2 * time.Second

var errSilent = errors.New("no answer in " + recordTimeout.String())

// lasting returns a context that does not end with ctx, but when the store has been
// silent for recordTimeout. What is cut off in the middle leaves its caller not
// knowing whether it took place. A probe may then be held by nobody; a report may be
// lost, and made again it may count twice.
func lasting(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	silence := time.AfterFunc(recordTimeout, func() { cancel(errSilent) })
	return context.WithValue(ctx, silenceKey{}, silence), func() {
		silence.Stop()
		cancel(nil)
	}
}

type silenceKey struct{}

// answered begins the time of a lasting context anew.
func answered(ctx context.Context) {
	if silence, ok := ctx.Value(silenceKey{}).(*time.Timer); ok {
		silence.Reset(recordTimeout)
	}
}

// silent returns the error of a store that has said nothing for as long as ctx lasts,
// nil if it was not that.
func silent(ctx context.Context) error {
	if context.Cause(ctx) != errSilent {
		return nil
	}
	return fmt.Errorf("%w: %w", kvcache.ErrUnavailable, errSilent)
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
