package overview

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// mostCircuits bounds what is shown of a bucket that somebody has filled.
const mostCircuits = 100

// lookAtCircuits reads the plain text keys that docs/wire.md promises.
func (r *Reader) lookAtCircuits(ctx context.Context) error {
	reading, err := r.circuitBucket.Look(ctx)
	if err != nil {
		return &ReadError{"bucket " + r.names.CircuitBucket(), err}
	}
	if !reading.Fresh {
		return nil
	}
	r.circuits = Circuits(reading.Entries)
	r.circuits = r.circuits[:min(len(r.circuits), mostCircuits)]
	return nil
}

// Circuits reads the bucket of the circuits, but for those of worker check, sorted by
// name.
func Circuits(entries []follow.Entry) []Circuit {
	byName := map[string]*Circuit{}
	for _, got := range entries {
		key, known := natskv.KeyOf(got.Key)
		name, property, ours := resilience.CircuitKey(key)
		if !known || !ours || wire.IsProbe(name) {
			continue
		}
		c := byName[name]
		if c == nil {
			c = &Circuit{Name: name, State: string(resilience.Closed)}
			byName[name] = c
		}
		c.set(property, got)
	}
	circuits := make([]Circuit, 0, len(byName))
	for _, c := range byName {
		if c.State != string(resilience.Open) {
			c.Forced, c.NextProbeAt = false, nil
		}
		circuits = append(circuits, *c)
	}
	slices.SortFunc(circuits, func(a, b Circuit) int { return strings.Compare(a.Name, b.Name) })
	return circuits
}

// set takes one property. What makes no sense is as if it were not there, which is
// how the breaker reads it.
func (c *Circuit) set(property string, stored follow.Entry) {
	value := string(stored.Value)
	switch property {
	case "state":
		switch s := resilience.State(value); s {
		case resilience.Open, resilience.HalfOpen:
			c.State = value
		}
	case "opened_at":
		if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds > 0 && seconds < 1e11 {
			at := time.UnixMilli(int64(seconds * 1000)).UTC()
			c.OpenedAt = &at
		}
	case "hold": // while it is there, no probe is let through
		c.Forced = resilience.HoldForced(value)
		if at, ends := natskv.Deadline(stored.Header, stored.Created); ends {
			c.NextProbeAt = &at
		}
	case "reason":
		c.Reason = wire.CleanError(value)
	case "failures":
		c.Failures, _ = strconv.Atoi(value)
	case "half_open_calls":
		c.HalfOpenCalls, _ = strconv.Atoi(value)
	}
}

// Ends says how an open circuit ends, as seen at a moment: "until it is reset", "next
// probe in 42s", or "" if that is not known.
func (c Circuit) Ends(at time.Time) string {
	switch {
	case c.Forced:
		return "until it is reset"
	case c.NextProbeAt == nil:
		return ""
	case c.NextProbeAt.After(at):
		return "next probe in " + max(time.Second, c.NextProbeAt.Sub(at).Round(time.Second)).String()
	}
	return "next probe with the next call"
}

// open reports whether no worker may call its model: the circuit of each is open. Of
// workers that do not say which one is theirs, any may be.
func (r *Reader) open() bool {
	state := map[string]string{}
	for _, c := range r.circuits {
		state[c.Name] = c.State
	}
	open := 0
	for _, w := range r.workers {
		if w.State == "stopped" {
			continue
		}
		if state[w.Circuit] != string(resilience.Open) {
			return false
		}
		open++
	}
	if open > 0 {
		return true
	}
	for _, c := range r.circuits {
		if c.State != string(resilience.Open) {
			return false
		}
	}
	return len(r.circuits) > 0
}
