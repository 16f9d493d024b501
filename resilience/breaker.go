package resilience

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	mathrand "math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Breaker is one circuit: it stops calls to a server that keeps failing and
// lets a few of them find out whether it has come back. Ask it with
// [Breaker.Allow] before a call and tell the [Permit] how the call ended.
//
// It keeps nothing in the process but its settings and, with
// [BreakerConfig.MaxStaleness], for that long what it read last: the circuit is what
// the cache holds, and all breakers on it agree. It runs no goroutine. Safe for
// concurrent use.
type Breaker struct {
	cfg     BreakerConfig
	store   kvcache.Versioned
	values  kvcache.KeyValue // the same store, for what needs no exactness
	own     *kvcache.Memory  // to be closed, nil if a cache was handed in
	keys    []kvcache.Entry  // a template for reading
	entries sync.Pool        // of *[1]kvcache.Entry, for the read that every call makes
	closed  recent           // there was no other state
	sound   recent           // there were no failures
	warned  atomic.Uint64    // version of the state that was warned about last, plus 1
}

// NewBreaker returns the breaker of the circuit, or a [*ConfigError].
func NewBreaker(cfg BreakerConfig) (*Breaker, error) {
	clock := cfg.Clock // nil for a cache with timers of its own
	if err := cfg.complete(); err != nil {
		return nil, err
	}
	b := &Breaker{cfg: cfg, keys: circuitKeys(cfg.Prefix+cfg.Name, cfg.HalfOpenMaxCalls)}
	b.closed = recent{key: b.keys[atState].Key, ordinary: func(e *kvcache.Entry) bool { return b.interpret(e) == Closed }}
	b.sound = recent{key: b.keys[atFailures].Key, ordinary: func(e *kvcache.Entry) bool { return !e.Present }}
	b.entries.New = func() any { return new([1]kvcache.Entry) }
	if cfg.Cache == nil {
		b.own = kvcache.NewMemory(kvcache.WithClock(clock))
		b.store, b.values = b.own, b.own
		return b, nil
	}
	versioned, ok := cfg.Cache.(kvcache.Versioned)
	if !ok {
		versioned = kvcache.Unversioned(cfg.Cache)
	}
	b.store, b.values = versioned, cfg.Cache
	return b, nil
}

// Close releases the cache if the breaker made it itself.
func (b *Breaker) Close() error {
	if b.own == nil {
		return nil
	}
	return b.own.Close()
}

// Allow decides whether a call may be made now. It may begin a period of probing
// and take a probe, so ask only if the call will be made. An error is a
// [*StoreError], or ctx's own; no call may be made then either.
//
// If ctx ends while a probe is being taken, Allow gives it back before it returns. That
// is a few round trips, and at most 4 s if the store has stopped to answer; in
// all other places Allow ends with ctx, as far as the store does.
func (b *Breaker) Allow(ctx context.Context) (Permit, bool, error) {
	period, closed, err := b.ordinary(ctx, "breaker allow", &b.closed)
	if err != nil {
		return Permit{}, false, err
	}
	p := Permit{breaker: b, period: period}
	switch {
	case !closed:
		p, err = b.ask(ctx)
	case b.cfg.Ramp > 0:
		p.refusal, err = b.ramp(ctx)
	}
	return p, err == nil && p.refusal == nil, err
}

// ask is Allow for a circuit that is probably not closed.
func (b *Breaker) ask(ctx context.Context) (Permit, error) {
	var p Permit
	done, err := b.change(ctx, "breaker allow", func(c circuit) plan {
		p = Permit{breaker: b, period: c.period()}
		switch b.interpret(c.state()) {
		case Open:
			if c.due(b.cfg.Clock(), b.cfg.RecoveryTimeout) {
				p.id = rand.Text()
				return c.halfOpen(p.id, b.cfg.ProbeLease)
			}
		case HalfOpen:
			if free, held := c.freeProbe(); free >= 0 {
				p.probe, p.id = free, rand.Text()
				return c.take(free, held, p.id, b.cfg.ProbeLease)
			}
		default:
			return plan{}
		}
		p.refusal = b.refusal(c)
		return plan{}
	})
	switch {
	case errors.Is(err, ErrContended): // others are probing, which is the answer
		return Permit{refusal: &CircuitOpen{Circuit: b.cfg.Name, RetryAfter: b.poll()}}, nil
	case err != nil:
		return Permit{}, err
	case done.to != "":
		p.period = done.changes[atState].Version
	}
	if gone := ctx.Err(); gone != nil && p.Probe() {
		ctx, cancel := lasting(ctx)
		defer cancel()
		_ = p.Release(ctx) // if that fails the lease ends it
		return Permit{}, gone
	}
	return p, nil
}

// maxSwaps is how often a change is tried that loses against others. Whoever
// wins moves the circuit on, so that losing for long takes very many callers.
const maxSwaps = 64

// change reads the circuit, lets decide what to write, and writes it if nothing
// has changed in between, else begins again. It returns the plan that was
// carried out. After maxSwaps attempts the error is [ErrContended] and nothing
// was written.
func (b *Breaker) change(ctx context.Context, op string, decide func(circuit) plan) (plan, error) {
	for n := range maxSwaps {
		c, err := b.read(ctx)
		if err != nil {
			return plan{}, storeError(ctx, op, err)
		}
		answered(ctx)
		b.closed.noticed(c.state())
		b.sound.noticed(&c[atFailures])
		todo := decide(c)
		if len(todo.changes) == 0 {
			return todo, nil
		}
		swapped, err := b.swap(ctx, todo)
		if err != nil {
			return plan{}, storeError(ctx, op, err)
		}
		answered(ctx)
		if swapped {
			if todo.to != "" {
				from, _ := stateOf(c.state())
				b.tell(Change{Circuit: b.cfg.Name, From: from, To: todo.to, Reason: todo.reason, At: b.cfg.Clock(), Period: todo.changes[atState].Version})
			}
			return todo, nil
		}
		if n > 0 { // the first time the other client has probably finished
			pause := time.Millisecond << min(n, 5)
			if err := sleepContext(ctx, mathrand.N(pause)); err != nil {
				return plan{}, err
			}
		}
	}
	return plan{}, &StoreError{Op: op, Err: ErrContended}
}

// swap carries a plan out. If that takes a probe it goes on when ctx ends, as nobody
// would know that the probe is taken.
func (b *Breaker) swap(ctx context.Context, p plan) (bool, error) {
	defer b.sound.forget()
	defer b.closed.forget()
	if p.takes {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		lasting, cancel := lasting(ctx)
		defer cancel()
		swapped, err := b.store.Swap(lasting, p.changes)
		if silence := silent(lasting); err != nil && silence != nil {
			return false, cmp.Or(ctx.Err(), silence)
		}
		return swapped, err
	}
	return b.store.Swap(ctx, p.changes)
}

// tell passes a transition on. It has taken place, so a listener that panics must
// not take the permit with it.
func (b *Breaker) tell(c Change) {
	defer func() {
		if p := recover(); p != nil {
			b.cfg.Logger.Error("OnChange panicked", "circuit", c.Circuit, "to", c.To, "panic", p)
		}
	}()
	b.cfg.OnChange(c)
}

// read loads the whole circuit, and then the state again, so that it is the last
// that was read: see rule 2.
func (b *Breaker) read(ctx context.Context) (circuit, error) {
	c := make(circuit, len(b.keys))
	copy(c, b.keys)
	if err := b.store.Load(ctx, c); err != nil {
		return nil, err
	}
	answered(ctx)
	return c, b.store.Load(ctx, c[atState:atState+1])
}
