package resilience_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// Every interleaving of the store operations of two or three clients is run.
// What each leads to must be what the clients could also have reached by taking
// turns, one whole operation after the other: then every transition is atomic,
// whatever happens between a read and a write. The store shows what a swap has
// written key by key, as a server may. A point that was reached before,
// with the same store and the same things seen by every client, is not gone on
// from again.

// act is one operation, of the client c, or of nobody while the scenario is
// prepared.
type act func(w *world, c *turn)

type interleaving struct {
	name    string
	probes  int
	prepare []act
	clients [][]act
}

// loan is a permit with the line to the store that its reports take.
type loan struct {
	resilience.Permit
	line *line
}

func ask(name string) act { return askAndLeave(name, 0) }

// askAndLeave asks for somebody who leaves during that operation of the store, counted
// from 1, if there are so many.
func askAndLeave(name string, step int) act {
	return func(w *world, c *turn) {
		ctx, leave := context.WithCancel(context.Background())
		defer leave()
		line := &line{Memory: w.cache, client: c, leave: leave, leaveIn: step}
		p, ok, err := w.breaker(line).Allow(ctx)
		line.leave = nil
		if ctx.Err() != nil {
			require.Same(w.t, context.Canceled, err)
			c.heard += " " + name + ":left"
			return
		}
		require.NoError(w.t, err)
		if c != nil {
			c.heard += fmt.Sprintf(" %s:%v,%v", name, ok, p.Probe())
		}
		if ok {
			w.held[name] = loan{p, line}
		}
		if p.Probe() {
			w.live[p.Period()]++
			w.most = max(w.most, w.live[p.Period()])
		}
	}
}

// tell reports a result with the permit of the given name, if there is one.
func tell(name string, report func(resilience.Permit) error) act {
	return func(w *world, c *turn) {
		p, ok := w.held[name]
		if !ok {
			return
		}
		if p.Probe() {
			w.live[p.Period()]-- // the call is over before its result is reported
		}
		p.line.client = c
		require.NoError(w.t, report(p.Permit))
	}
}

func succeed(name string) act {
	return tell(name, func(p resilience.Permit) error { return p.Success(context.Background()) })
}

func fail(name string) act {
	return tell(name, func(p resilience.Permit) error { return p.Failure(context.Background(), "down") })
}

func trip(name string) act {
	return tell(name, func(p resilience.Permit) error { return p.Trip(context.Background(), "key") })
}

func release(name string) act {
	return tell(name, func(p resilience.Permit) error { return p.Release(context.Background()) })
}

// renew is not the end of a call.
func renew(name string) act {
	return func(w *world, c *turn) {
		p := w.held[name]
		p.line.client = c
		_, err := p.Renew(context.Background())
		require.NoError(w.t, err)
	}
}

func reset(w *world, c *turn) {
	require.NoError(w.t, w.breaker(&line{Memory: w.cache, client: c}).Reset(context.Background()))
}

func force(w *world, c *turn) {
	require.NoError(w.t, w.breaker(&line{Memory: w.cache, client: c}).Force(context.Background(), "forced"))
}

func wait(w *world, _ *turn) { w.now = w.now.Add(10 * time.Second) }

var (
	opened = []act{ask("x"), trip("x")}
	due    = append(slices.Clone(opened), wait)
)

func with(first []act, more ...act) []act { return append(slices.Clone(first), more...) }

var interleavings = []interleaving{
	{"two failures reach the threshold", 1, []act{ask("a"), ask("b"), ask("c")}, [][]act{{fail("a")}, {fail("b")}, {fail("c")}}},
	{"failure against success", 1, []act{ask("x"), fail("x"), ask("a"), ask("b")}, [][]act{{fail("a")}, {succeed("b")}}},
	{"failures against success", 1, []act{ask("a"), ask("b"), ask("c")}, [][]act{{fail("a")}, {succeed("b")}, {fail("c")}}},
	{"trip against failure and success", 1, []act{ask("a"), ask("b"), ask("c")}, [][]act{{trip("a")}, {fail("b")}, {succeed("c")}}},
	{"stampede at recovery", 1, due, [][]act{{ask("a")}, {ask("b")}, {ask("c")}}},
	{"stampede at recovery, two probes", 2, due, [][]act{{ask("a")}, {ask("b")}, {ask("c")}}},
	{"stampede of two", 1, due, [][]act{{ask("a")}, {ask("b")}}},
	{"stampede of two, two probes", 2, due, [][]act{{ask("a")}, {ask("b")}}},
	{"probe taken while another is given back", 2, with(due, ask("a")), [][]act{{release("a")}, {ask("b")}, {ask("c")}}},
	{"probe done while another asks", 1, with(due, ask("a")), [][]act{{succeed("a")}, {ask("b"), fail("b")}}},
	{"probe failed while another asks", 1, with(due, ask("a")), [][]act{{fail("a")}, {ask("b"), succeed("b")}}},
	{"probe given back while others ask", 1, with(due, ask("a")), [][]act{{release("a")}, {ask("b")}, {ask("c")}}},
	{"two probes disagree", 2, with(due, ask("a"), ask("b")), [][]act{{succeed("a")}, {fail("b")}}},
	{"two probes given back", 2, with(due, ask("a"), ask("b")), [][]act{{release("a")}, {release("b")}, {ask("c")}}},
	{"a lease renewed while probes come and go", 2, with(due, ask("a"), ask("b")), [][]act{{renew("a")}, {release("b")}, {ask("c")}}},
	{"a lease renewed while the circuit closes", 2, with(due, ask("a"), ask("b")), [][]act{{renew("a"), fail("a")}, {succeed("b")}}},
	{"reset against everybody", 1, with(due, ask("a")), [][]act{{fail("a")}, {reset}, {ask("b")}}},
	{"forced against a probe", 1, with(due, ask("a")), [][]act{{succeed("a")}, {force}, {ask("b")}}},
	{"forced against a stampede", 1, due, [][]act{{ask("a")}, {force}, {ask("b")}}},
	{"late results of a closed period", 1, []act{ask("a"), ask("b"), ask("x"), trip("x"), wait}, [][]act{{fail("a")}, {succeed("b")}, {ask("c"), succeed("c")}}},
	{"a failure across a whole life of the circuit", 1, []act{ask("a"), ask("b")}, [][]act{{fail("a")}, {trip("b"), wait, ask("c"), succeed("c")}}},
	{"a success across a whole life of the circuit", 1, []act{ask("x"), fail("x"), ask("a"), ask("b")}, [][]act{{succeed("a")}, {trip("b"), reset, ask("c"), fail("c")}}},
	{"a probe given back in the period after", 1, with(due, ask("a")), [][]act{{release("a")}, {reset, ask("x"), trip("x"), wait, ask("y")}}},
	{"a probe taken in the period after", 2, with(due, ask("a")), [][]act{{ask("b")}, {fail("a"), wait, ask("c"), ask("d")}}},
	{"a lease renewed in the period after", 2, with(due, ask("a"), ask("b")), [][]act{{renew("a")}, {fail("b"), wait, ask("c"), ask("d")}}},
	{"time passes in between", 1, opened, [][]act{{ask("a")}, {wait}, {ask("b")}}},
	{"failures forgotten in between", 1, []act{ask("x"), fail("x"), ask("a"), ask("b")}, [][]act{{fail("a")}, {wait}, {fail("b")}}},
}

// tooMany are the scenarios with so many schedules that swaps are not torn and
// reads not split too.
var tooMany = []string{"stampede at recovery", "stampede at recovery, two probes", "forced against a stampede"}

// mode is how finely clients are interleaved.
type mode int

const (
	byTurns mode = iota // one whole act after the other
	whole               // store operations, each at one instant
	torn                // store operations, and swaps are seen key by key
	split               // store operations, and what follows the state is read a while after it
)

func TestExhaustiveInterleavings(t *testing.T) {
	total := 0
	for _, s := range interleavings {
		t.Run(s.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // pauses take no time
				right, _ := explore(t, s, byTurns)
				for _, m := range []mode{whole, torn, split} {
					if m != whole && (raceEnabled || slices.Contains(tooMany, s.name)) { // nothing runs at the same time
						continue
					}
					all, runs := explore(t, s, m)
					total += runs
					for outcome, schedule := range all {
						require.Contains(t, right, outcome, "reached only by the interleaving %v", schedule)
					}
				}
			})
		})
	}
	t.Logf("%d interleavings", total)
}

// askThenLeave is askAndLeave in two turns: a probe is held in between.
func askThenLeave(name string) []act {
	return []act{
		func(w *world, c *turn) {
			heard := c.heard
			ask(name)(w, c)
			c.heard = heard
		},
		func(w *world, c *turn) {
			release(name)(w, c)
			c.heard += " " + name + ":left"
		},
	}
}

// The same with callers who leave while they ask: whenever they do, they keep no
// probe, and nothing comes about that would not if they had got one and given it
// back.
func TestExhaustiveInterleavingsOfWhoLeaves(t *testing.T) {
	const steps = 9 // more than a round that is lost, and another
	total := 0
	for name, scenario := range map[string]func(leaves ...act) interleaving{
		"beside another who asks": func(leaves ...act) interleaving {
			return interleaving{probes: 1, prepare: due, clients: [][]act{leaves, {ask("b")}}}
		},
		"beside another who asks, two probes": func(leaves ...act) interleaving {
			return interleaving{probes: 2, prepare: due, clients: [][]act{leaves, {ask("b")}}}
		},
		"while a probe succeeds": func(leaves ...act) interleaving {
			return interleaving{probes: 2, prepare: with(due, ask("a")), clients: [][]act{leaves, {succeed("a")}}}
		},
		"while a probe fails": func(leaves ...act) interleaving {
			return interleaving{probes: 2, prepare: with(due, ask("a")), clients: [][]act{leaves, {fail("a")}}}
		},
		"while a probe is given back": func(leaves ...act) interleaving {
			return interleaving{probes: 1, prepare: with(due, ask("a")), clients: [][]act{leaves, {release("a")}}}
		},
		"while it is reset": func(leaves ...act) interleaving {
			return interleaving{probes: 1, prepare: due, clients: [][]act{leaves, {reset}}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				right, _ := explore(t, scenario(askThenLeave("a'")...), byTurns)
				for step := 1; step <= steps; step++ {
					outcomes, _ := explore(t, scenario(askAndLeave("a'", step)), byTurns)
					maps.Copy(right, outcomes)
				}
				for step := 1; step <= steps; step++ {
					for _, m := range []mode{whole, torn, split} {
						if m != whole && raceEnabled {
							continue
						}
						all, runs := explore(t, scenario(askAndLeave("a'", step)), m)
						total += runs
						for outcome, schedule := range all {
							require.Contains(t, right, outcome, "left during operation %d, reached only by the interleaving %v", step, schedule)
						}
					}
				}
			})
		})
	}
	t.Logf("%d interleavings", total)
}
