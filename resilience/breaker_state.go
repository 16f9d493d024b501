package resilience

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// State of a circuit, as it is stored.
type State string

const (
	Closed   State = "closed"    // calls pass
	Open     State = "open"      // calls are refused
	HalfOpen State = "half_open" // a few calls probe
)

// A circuit is stored as plain keys that anybody may watch, and an operator may
// edit:
//
//	<prefix><name>.half_open_calls  how many calls probe
//	<prefix><name>.state            closed, open or half_open; missing means closed
//	<prefix><name>.failures         failures in a row, forgotten with the first one's age
//	<prefix><name>.opened_at        epoch seconds, by the clock of who opened it
//	<prefix><name>.reason           why it was opened
//	<prefix><name>.hold             while it exists, an open circuit stays open
//	<prefix><name>.probe.<n>        who holds probe n; forgotten when the lease ends
//
// The times that matter are kept by the cache, which forgets hold and probes
// after their ttl, so that a client with a wrong clock can neither probe early
// nor take a lease from a living prober.
//
// Two rules make every change exact:
//
//  1. A transition writes all keys in one swap, whatever they hold, so that
//     each of them gets a new version. The version of the state key names the
//     period that begins.
//  2. A change within a period swaps only keys of its own. They were read
//     before the state was, and the state still had the period's version; by
//     rule 1 no transition lies between the two reads, and one after them makes
//     the swap fail.
//
// So a swap that succeeds was decided on what was true when it took place.
//
// They hold even if a reader can see part of a swap, as long as it sees the keys
// change in their order. A transition writes half_open_calls first, so that no
// state is ever seen with the count of the one before, then the state, then the
// rest: who has read a new failure count or probe reads the new state next. A
// change of probes writes half_open_calls last: who has read the new count has
// read the probes that it counts.
const (
	atCalls = iota
	atState
	atFailures
	atOpenedAt
	atReason
	atHold
	atProbes // the first of HalfOpenMaxCalls probes
)

func circuitKeys(base string, probes int) []kvcache.Entry {
	names := []string{"half_open_calls", "state", "failures", "opened_at", "reason", "hold"}
	for n := range probes {
		names = append(names, "probe."+strconv.Itoa(n))
	}
	entries := make([]kvcache.Entry, len(names))
	for i, name := range names {
		entries[i].Key = base + "." + name
	}
	return entries
}

// circuit is what was read of all keys.
type circuit []kvcache.Entry

func (c circuit) state() *kvcache.Entry { return &c[atState] }

func (c circuit) period() uint64 { return c[atState].Version }

func (c circuit) probes() []kvcache.Entry { return c[atProbes:] }

// stateOf reads a stored state. Anything but the three words lets traffic
// through; known is false for it.
func stateOf(e *kvcache.Entry) (s State, known bool) {
	if !e.Present {
		return Closed, true
	}
	switch s := State(strings.TrimSpace(e.Value)); s {
	case Closed, Open, HalfOpen:
		return s, true
	}
	return Closed, false
}

// count reads a stored number; what is not one counts as 0.
func count(e *kvcache.Entry) int {
	n, err := strconv.Atoi(strings.TrimSpace(e.Value))
	if !e.Present || err != nil {
		return 0
	}
	return max(n, 0)
}

// openedAt returns when the circuit was opened; ok is false if that is missing
// or no instant.
func (c circuit) openedAt() (at time.Time, ok bool) {
	seconds, err := strconv.ParseFloat(strings.TrimSpace(c[atOpenedAt].Value), 64)
	if !c[atOpenedAt].Present || err != nil || math.Abs(seconds) > 1e12 || math.IsNaN(seconds) {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(seconds * 1000)), true
}

// due says whether an open circuit may be probed. While there is a hold it may
// not. Without one the clock decides, which is the case of a circuit that was
// opened by hand; with our own the hold has outlasted the timeout already, so
// an opened_at in the future is the mistake of a clock and not waited for.
func (c circuit) due(now time.Time, recovery time.Duration) bool {
	if c[atHold].Present {
		return false
	}
	at, ok := c.openedAt()
	elapsed := now.Sub(at)
	return !ok || elapsed >= recovery || elapsed < 0
}

// forced says whether the circuit is held open until somebody resets it.
func (c circuit) forced() bool { return c[atHold].Present && c[atHold].Value == holdForced }

// freeProbe returns a probe that nobody holds, or -1, and how many are held. An
// operator who removes half_open_calls, or sets it to 0, frees all.
func (c circuit) freeProbe() (free, held int) {
	free = -1
	for i, e := range c.probes() {
		if e.Present {
			held++
		} else if free < 0 {
			free = i
		}
	}
	if calls := c[atCalls]; !calls.Present || strings.TrimSpace(calls.Value) == "0" {
		return 0, 0
	}
	return free, held
}

// holds says whether probe n is still the caller's.
func (c circuit) holds(n int, id string) bool {
	e := &c.probes()[n]
	return e.Present && e.Value == id
}

// Values of the hold key.
const (
	holdRecovery = "recovery" // until the cache forgets it
	holdForced   = "forced"   // until somebody resets the circuit
)

// plan is what to write after a circuit has been read. The zero plan is to
// write nothing.
type plan struct {
	changes []kvcache.Change
	to      State // set for a transition
	reason  string
	takes   bool // a probe, for whoever asks
}

// transition rewrites every key (rule 1): all that is not set afterwards is
// deleted.
func (c circuit) transition(to State) plan {
	p := plan{to: to, changes: make([]kvcache.Change, len(c))}
	for i, e := range c {
		p.changes[i] = kvcache.Change{Key: e.Key, Version: e.Version, Delete: true}
	}
	p.set(atState, string(to), 0)
	return p
}

func (p *plan) set(i int, value string, ttl time.Duration) {
	p.changes[i].Value, p.changes[i].TTL, p.changes[i].Delete = value, ttl, false
}

// maxReason bounds what is kept of a reason, in bytes: a store refuses values that
// are too large, and a circuit must open whatever an error has to say.
const maxReason = 1024

// open forgets all counts and holds the circuit open for hold, 0 for ever.
func (c circuit) open(now time.Time, reason string, hold time.Duration) plan {
	if len(reason) > maxReason {
		reason = strings.ToValidUTF8(reason[:maxReason], "")
	}
	p := c.transition(Open)
	p.reason = reason
	p.set(atOpenedAt, strconv.FormatFloat(float64(now.UnixMilli())/1000, 'f', 3, 64), 0)
	if reason != "" {
		p.set(atReason, reason, 0)
	}
	if hold == 0 {
		p.set(atHold, holdForced, 0)
	} else {
		p.set(atHold, holdRecovery, hold)
	}
	return p
}

// halfOpen begins a period of probing with the probe of whoever found out that
// it is time. When and why the circuit opened stays to be seen.
func (c circuit) halfOpen(id string, lease time.Duration) plan {
	p := c.transition(HalfOpen)
	p.takes = true
	for _, i := range []int{atOpenedAt, atReason} {
		if c[i].Present {
			p.set(i, c[i].Value, 0)
		}
	}
	p.set(atCalls, "1", 0)
	p.set(atProbes, id, lease)
	return p
}

// within changes keys of the current period (rule 2).
func within(changes ...kvcache.Change) plan { return plan{changes: changes} }

// fail counts one more failure. Later ones keep the time at which the first is
// forgotten.
func (c circuit) fail(ttl time.Duration) plan {
	e := &c[atFailures]
	if e.Present {
		ttl = kvcache.KeepTTL
	}
	return within(kvcache.Change{Key: e.Key, Version: e.Version, Value: strconv.Itoa(count(e) + 1), TTL: ttl})
}

// forgive forgets the failures.
func (c circuit) forgive() plan {
	e := &c[atFailures]
	return within(kvcache.Change{Key: e.Key, Version: e.Version, Delete: true})
}

// take hands out probe n to id; held are held already. Every change of the
// number of probes writes calls, so that two of them never both succeed.
func (c circuit) take(n, held int, id string, lease time.Duration) plan {
	e := &c.probes()[n]
	p := within(kvcache.Change{Key: e.Key, Version: e.Version, Value: id, TTL: lease}, c.calls(held+1))
	p.takes = true
	return p
}

// give takes probe n back.
func (c circuit) give(n int) plan {
	_, held := c.freeProbe()
	e := &c.probes()[n]
	return within(kvcache.Change{Key: e.Key, Version: e.Version, Delete: true}, c.calls(held-1))
}

func (c circuit) calls(n int) kvcache.Change {
	e := &c[atCalls]
	return kvcache.Change{Key: e.Key, Version: e.Version, Value: strconv.Itoa(max(n, 0))}
}

// renew starts the lease of probe n again.
func (c circuit) renew(n int, id string, lease time.Duration) plan {
	e := &c.probes()[n]
	return within(kvcache.Change{Key: e.Key, Version: e.Version, Value: id, TTL: lease})
}
