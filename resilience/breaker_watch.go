package resilience

import (
	"context"
	"errors"
	"fmt"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// ErrUnwatchable: the breaker's cache does not tell of changes. Ask
// [Breaker.Snapshot] now and then instead.
var ErrUnwatchable = errors.New("resilience: the cache does not offer kvcache.Watcher")

// Watch tells listener of the circuit's transitions, whichever process makes
// them, until ctx ends, whose error it returns. It needs a cache that is a
// kvcache.Watcher, else the error is [ErrUnwatchable]; any other is a
// [*StoreError], after which one may watch again.
//
// What it tells is for people and their tools. A transition that another one
// follows at once may be skipped: From is the state that was told before, At is
// when it was heard of, and Reason is what the circuit says then. The
// transitions of this breaker are told too; [BreakerConfig.OnChange] tells each
// of them, with the same [Change.Period].
//
// A stored state that is none closes the circuit, with what was stored as the reason;
// if it was closed already that is no transition, and only logged.
//
// listener is called by the goroutine that called Watch.
func (b *Breaker) Watch(ctx context.Context, listener func(Change)) error {
	watcher, ok := b.cfg.Cache.(kvcache.Watcher)
	switch {
	case b.own != nil:
		watcher = b.own
	case !ok:
		return ErrUnwatchable
	}
	var last kvcache.Entry
	var from State // "" before the first
	err := watcher.Watch(ctx, []string{b.keys[atState].Key}, func(e kvcache.Entry) {
		to, before, was := b.interpret(&e), from, last
		from, last = to, e
		_, known := stateOf(&e)
		began := to != before || known && e.Version != was.Version && (e.Present || was.Present)
		if before == "" || !began {
			return
		}
		reason := b.reasonFor(ctx, to)
		if !known {
			reason = fmt.Sprintf("somebody has stored %.64q, which is no state", e.Value)
		}
		listener(Change{Circuit: b.cfg.Name, From: before, To: to, Reason: reason, At: b.cfg.Clock(), Period: e.Version})
	})
	if err == nil {
		return nil
	}
	return storeError(ctx, "breaker watch", err)
}

// reasonFor reads why the circuit opened. That it cannot be read is no reason
// not to tell the rest.
func (b *Breaker) reasonFor(ctx context.Context, to State) string {
	if to != Open {
		return ""
	}
	reason := []kvcache.Entry{b.keys[atReason]}
	if err := b.store.Load(ctx, reason); err != nil {
		return ""
	}
	return reason[0].Value
}
