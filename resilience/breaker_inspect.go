package resilience

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Snapshot is a circuit as it stands, for people and dashboards.
type Snapshot struct {
	Circuit       string        `json:"circuit"`
	State         State         `json:"state"`
	Forced        bool          `json:"forced"` // open until somebody resets it
	Reason        string        `json:"reason,omitempty"`
	OpenedAt      time.Time     `json:"opened_at,omitzero"`
	Failures      int           `json:"failures"`
	HalfOpenCalls int           `json:"half_open_calls"` // probes that are held now
	RetryAfter    time.Duration `json:"-"`
}

// Snapshot reads the circuit and changes nothing.
func (b *Breaker) Snapshot(ctx context.Context) (Snapshot, error) {
	c, err := b.read(ctx)
	if err != nil {
		return Snapshot{}, storeError(ctx, "breaker snapshot", err)
	}
	s := Snapshot{
		Circuit:    b.cfg.Name,
		State:      b.interpret(c.state()),
		Forced:     c.forced(),
		Reason:     c[atReason].Value,
		Failures:   count(&c[atFailures]),
		RetryAfter: b.retryAfter(c),
	}
	s.OpenedAt, _ = c.openedAt()
	_, s.HalfOpenCalls = c.freeProbe()
	return s, nil
}

// State reads the stored state and changes nothing: a circuit whose recovery
// timeout has passed stays open until somebody asks for a call.
func (b *Breaker) State(ctx context.Context) (State, error) {
	state := []kvcache.Entry{b.keys[atState]}
	if err := b.store.Load(ctx, state); err != nil {
		return "", storeError(ctx, "breaker state", err)
	}
	return b.interpret(&state[0]), nil
}

// RetryAfter reads how long to wait before asking [Breaker.Allow] makes sense,
// and changes nothing. It is 0 if a call would be allowed now.
func (b *Breaker) RetryAfter(ctx context.Context) (time.Duration, error) {
	s, err := b.Snapshot(ctx)
	return s.RetryAfter, err
}

// Reset closes the circuit and forgets everything. Calls that are out no longer
// count, whatever becomes of them.
func (b *Breaker) Reset(ctx context.Context) error {
	_, err := b.change(ctx, "breaker reset", func(c circuit) plan { return c.transition(Closed) })
	return err
}

// Forget removes all that is stored of the circuit, which is closed then, as one that
// was never used: for a circuit that nobody uses any more.
func (b *Breaker) Forget(ctx context.Context) error {
	_, err := b.change(ctx, "breaker forget", func(c circuit) plan {
		p := c.transition(Closed)
		p.changes[atState].Delete = true
		return p
	})
	return err
}

// HoldForced reports whether a stored property hold keeps its circuit open until
// somebody resets it.
func HoldForced(hold string) bool { return hold == holdForced }

// Force opens the circuit until somebody resets it: no time passes, no probe is
// made.
func (b *Breaker) Force(ctx context.Context, reason string) error {
	_, err := b.change(ctx, "breaker force", func(c circuit) plan { return c.open(b.cfg.Clock(), reason, 0) })
	return err
}

// retryAfter is what is left of the recovery timeout, never 0 for a circuit that
// refuses: a clock that runs ahead must not make its callers ask in a loop.
func (b *Breaker) retryAfter(c circuit) time.Duration {
	now, recovery := b.cfg.Clock(), b.cfg.RecoveryTimeout
	switch b.interpret(c.state()) {
	case Open:
		if c.due(now, recovery) {
			return 0
		}
		at, ok := c.openedAt()
		if !ok || c.forced() {
			return recovery
		}
		left := recovery - min(max(0, now.Sub(at)), recovery)
		return max(left, min(recovery, 100*time.Millisecond))
	case HalfOpen:
		if free, _ := c.freeProbe(); free < 0 {
			return b.poll()
		}
	}
	return 0
}

// poll is when to ask again while others probe: nobody knows how long that
// takes.
func (b *Breaker) poll() time.Duration { return min(b.cfg.RecoveryTimeout, time.Second) }

func (b *Breaker) refusal(c circuit) *CircuitOpen {
	return &CircuitOpen{Circuit: b.cfg.Name, RetryAfter: b.retryAfter(c), Reason: c[atReason].Value}
}

// interpret reads a state and warns, once for each time it was written, if it
// is none.
func (b *Breaker) interpret(e *kvcache.Entry) State {
	s, known := stateOf(e)
	if !known && b.warned.Swap(e.Version+1) != e.Version+1 {
		b.cfg.Logger.Warn("stored circuit state is unknown, treated as closed",
			"circuit", b.cfg.Name, "key", e.Key, "value", e.Value)
	}
	return s
}

// StoredCircuit is a circuit that a cache holds something of.
type StoredCircuit struct {
	Name string
	// Probes is for how many probes it has keys, at least 1: the
	// [BreakerConfig.HalfOpenMaxCalls] that shows all that are held.
	Probes int
}

// StoredCircuits finds the circuits among the keys of a cache, sorted by name. A
// circuit that never failed has no keys.
func StoredCircuits(prefix string, keys []string) []StoredCircuit {
	probes := map[string]int{}
	for _, key := range keys {
		key, ours := strings.CutPrefix(key, prefix)
		name, property, known := CircuitKey(key)
		if !ours || !known {
			continue
		}
		n := 0
		if digits, is := strings.CutPrefix(property, "probe."); is {
			n, _ = strconv.Atoi(digits) // it is a number, else the key is no circuit's
		}
		probes[name] = max(probes[name], n+1)
	}
	circuits := make([]StoredCircuit, 0, len(probes))
	for name, n := range probes {
		circuits = append(circuits, StoredCircuit{name, n})
	}
	slices.SortFunc(circuits, func(a, b StoredCircuit) int { return cmp.Compare(a.Name, b.Name) })
	return circuits
}

// CircuitKey takes a key apart, without its prefix: whose it is, and which property,
// such as state or probe.0. ok is false for a key of no circuit.
func CircuitKey(key string) (circuit, property string, ok bool) {
	name, property, found := cutLast(key)
	if !found {
		return "", "", false
	}
	for _, own := range circuitKeys("", 0) {
		if own.Key == "."+property {
			return name, property, name != ""
		}
	}
	n, err := strconv.Atoi(property)
	name, word, _ := cutLast(name)
	if err != nil || n < 0 || n >= maxProbes || word != "probe" {
		return "", "", false
	}
	return name, "probe." + property, name != ""
}

func cutLast(key string) (before, after string, found bool) {
	dot := strings.LastIndexByte(key, '.')
	if dot < 0 {
		return key, "", false
	}
	return key[:dot], key[dot+1:], true
}
