package resilience_test

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/kvcache"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// Every interleaving of the store operations of two or three clients is run.
// What each leads to must be what the clients could also have reached by taking
// turns, one whole operation after the other: then every transition is atomic,
// whatever happens between a read and a write. A point that was reached before,
// with the same store and the same things seen by every client, is not gone on
// from again.

// world is one circuit and its clients, made anew for each interleaving.
// Threshold 2, recovery 10s, at most probes probes.
type world struct {
	t      *testing.T
	now    time.Time
	probes int
	cache  *kvcache.Memory
	names  map[string]string // of leases
	held   map[string]loan   // by name
	live   map[uint64]int    // probes that are out, by period
	most   int               // the most there ever were in one
}

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

func ask(name string) act {
	return func(w *world, c *turn) {
		line := &line{Memory: w.cache, client: c}
		p, ok, err := w.breaker(line).Allow(context.Background())
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

func TestExhaustiveInterleavings(t *testing.T) {
	total := 0
	for _, s := range interleavings {
		t.Run(s.name, func(t *testing.T) {
			byTurns, _ := explore(t, s, false)
			all, runs := explore(t, s, true)
			total += runs
			t.Logf("%d schedules, %d outcomes", runs, len(all))
			for outcome, schedule := range all {
				require.Contains(t, byTurns, outcome, "reached only by the interleaving %v", schedule)
			}
		})
	}
	t.Logf("%d interleavings", total)
}

// explore runs every schedule of the scenario's clients, switching between store
// operations if fine, else only between acts. It returns a schedule for each
// outcome.
func explore(t *testing.T, s interleaving, fine bool) (outcomes map[string][]int, runs int) {
	outcomes = make(map[string][]int)
	seen := make(map[string]bool)
	var schedule []int
	for {
		w, turns, taken, alternatives := runSchedule(t, s, fine, schedule, seen)
		runs++
		outcomes[w.outcome(turns)] = taken
		// The next schedule differs in the last place where there was a choice.
		k := len(taken) - 1
		for k >= 0 && taken[k]+1 >= alternatives[k] {
			k--
		}
		if k < 0 {
			return outcomes, runs
		}
		schedule = append(slices.Clone(taken[:k]), taken[k]+1)
	}
}

// runSchedule follows schedule, and after its end always the first client that
// can go on. alternatives says among how many each choice was; from a point in
// seen there is none.
func runSchedule(t *testing.T, s interleaving, fine bool, schedule []int, seen map[string]bool) (w *world, turns []*turn, taken, alternatives []int) {
	w = newWorld(t, s)
	turns = make([]*turn, len(s.clients))
	var waiting []int
	for i, acts := range s.clients {
		c := &turn{world: w, fine: fine, gate: make(chan struct{}), parked: make(chan bool)}
		turns[i] = c
		go func() {
			for _, a := range acts {
				c.pass()
				c.fresh = true
				a(w, c)
				c.saw += "."
			}
			c.parked <- false
		}()
		if <-c.parked {
			waiting = append(waiting, i)
		}
	}
	for len(waiting) > 0 {
		choices := len(waiting)
		if len(taken) >= len(schedule) {
			if point := w.point(turns); seen[point] {
				choices = 1
			} else {
				seen[point] = true
			}
		}
		choice := 0
		if len(taken) < len(schedule) {
			choice = schedule[len(taken)]
		}
		taken, alternatives = append(taken, choice), append(alternatives, choices)
		c := turns[waiting[choice]]
		c.gate <- struct{}{}
		if !<-c.parked {
			waiting = slices.Delete(waiting, choice, choice+1)
		}
	}
	require.LessOrEqual(t, w.most, s.probes, "%v", taken)
	return w, turns, taken, alternatives
}

// turn is one client: it goes on when the scheduler says so.
type turn struct {
	world  *world
	fine   bool
	fresh  bool // an act has begun, its first operation needs no second go-ahead
	gate   chan struct{}
	parked chan bool
	saw    string // everything it has read, so all that its course depends on
	heard  string // what it was told
}

func (c *turn) pass() {
	c.parked <- true
	<-c.gate
}

func (c *turn) step() {
	if c.fine && !c.fresh {
		c.pass()
	}
	c.fresh = false
}

// line is a way to the store that its client may have to wait for.
type line struct {
	*kvcache.Memory
	client *turn
}

func (l *line) Load(ctx context.Context, entries []kvcache.Entry) error {
	c := l.client
	if c == nil {
		return l.Memory.Load(ctx, entries)
	}
	c.step()
	err := l.Memory.Load(ctx, entries)
	c.saw += c.world.describe(entries)
	return err
}

func (l *line) Swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	c := l.client
	if c == nil {
		return l.Memory.Swap(ctx, changes)
	}
	c.step()
	for _, change := range changes {
		if strings.Contains(change.Key, ".probe.") && !change.Delete && c.world.names[change.Value] == "" {
			c.world.names[change.Value] = fmt.Sprintf("after%q", c.saw) // leases are random, their stories are not
		}
	}
	ok, err := l.Memory.Swap(ctx, changes)
	c.saw += fmt.Sprint(ok)
	return ok, err
}

func (w *world) describe(entries []kvcache.Entry) string {
	var d strings.Builder
	for _, e := range entries {
		value := e.Value
		if name := w.names[value]; name != "" {
			value = name
		}
		fmt.Fprintf(&d, "%s=%d:%q ", e.Key, e.Version, value)
	}
	return d.String()
}

// point is all that the rest of a schedule depends on.
func (w *world) point(turns []*turn) string {
	entries := []kvcache.Entry{{Key: "model.state"}, {Key: "model.failures"}, {Key: "model.half_open_calls"},
		{Key: "model.opened_at"}, {Key: "model.reason"}, {Key: "model.hold"}, {Key: "model.probe.0"}, {Key: "model.probe.1"}}
	require.NoError(w.t, w.cache.Load(context.Background(), entries))
	h := sha256.New()
	fmt.Fprint(h, w.describe(entries), w.now, w.live, w.most)
	for _, c := range turns {
		fmt.Fprintf(h, "|%s %v", c.saw, c.fresh)
	}
	return string(h.Sum(nil))
}

func newWorld(t *testing.T, s interleaving) *world {
	w := &world{t: t, probes: s.probes, now: time.Unix(1_700_000_000, 0), held: make(map[string]loan),
		names: make(map[string]string), live: make(map[uint64]int)}
	w.cache = kvcache.NewMemory(kvcache.WithClock(func() time.Time { return w.now }))
	for _, a := range s.prepare {
		a(w, nil)
	}
	for _, p := range w.held {
		if p.Probe() {
			id, _, err := w.cache.Get(context.Background(), "model.probe.0")
			require.NoError(t, err)
			w.names[id] = "prepared0"
			id, _, err = w.cache.Get(context.Background(), "model.probe.1")
			require.NoError(t, err)
			w.names[id] = "prepared1"
		}
	}
	return w
}

func (w *world) breaker(cache kvcache.KeyValue) *resilience.Breaker {
	b, err := resilience.NewBreaker(resilience.BreakerConfig{
		Cache: cache, Name: "model", FailureThreshold: 2, RecoveryTimeout: 10 * time.Second,
		HalfOpenMaxCalls: w.probes, ProbeLease: time.Minute, Clock: func() time.Time { return w.now },
	})
	require.NoError(w.t, err)
	return b
}

// outcome is what was answered and what is stored. Which of several probes one
// holds makes no difference.
func (w *world) outcome(turns []*turn) string {
	s, err := w.breaker(w.cache).Snapshot(context.Background())
	require.NoError(w.t, err)
	outcome := fmt.Sprintf("%+v", s)
	for _, c := range turns {
		outcome += " |" + c.heard
	}
	return outcome
}
