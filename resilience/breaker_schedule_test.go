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

// world is one circuit and its clients, made anew for each interleaving.
// Threshold 2, recovery 10s, at most probes probes.
type world struct {
	t      *testing.T
	now    time.Time
	probes int
	cache  *kvcache.Memory
	names  map[string]string // of leases
	unseen *[]kvcache.Entry  // what the latest swap has replaced and others still read
	held   map[string]loan   // by name
	live   map[uint64]int    // probes that are out, by period
	most   int               // the most there ever were in one
}

// explore runs every schedule of the scenario's clients, interleaved by m.
// It returns a schedule for each outcome.
func explore(t *testing.T, s interleaving, m mode) (outcomes map[string][]int, runs int) {
	outcomes = make(map[string][]int)
	seen := make(map[string]bool)
	var schedule []int
	for {
		w, turns, taken, alternatives := runSchedule(t, s, m, schedule, seen)
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
func runSchedule(t *testing.T, s interleaving, m mode, schedule []int, seen map[string]bool) (w *world, turns []*turn, taken, alternatives []int) {
	w = newWorld(t, s)
	turns = make([]*turn, len(s.clients))
	var waiting []int
	for i, acts := range s.clients {
		c := &turn{world: w, mode: m, gate: make(chan struct{}), parked: make(chan bool)}
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
	require.Equal(t, w.live[w.period()], w.probesHeld(), "who holds the others? %v", taken)
	return w, turns, taken, alternatives
}

// turn is one client: it goes on when the scheduler says so.
type turn struct {
	world  *world
	mode   mode
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
	if c.mode != byTurns && !c.fresh {
		c.pass()
	}
	c.fresh = false
}

// line is a way to the store that its client may have to wait for.
type line struct {
	*kvcache.Memory
	client  *turn
	leave   func() // ends the context of whoever asks
	leaveIn int    // in how many operations
}

// underWay carries out an operation. Who leaves meanwhile does not hear what became of
// it, and who has left begins none.
func (l *line) underWay(ctx context.Context, operation func(context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.client.step()
	if l.leaveIn--; l.leaveIn == 0 && l.leave != nil {
		l.leave()
	}
	err := operation(context.WithoutCancel(ctx))
	if gone := ctx.Err(); gone != nil {
		l.client.saw += "left"
		return gone
	}
	return err
}

func (l *line) Load(ctx context.Context, entries []kvcache.Entry) error {
	c := l.client
	if c == nil {
		return l.Memory.Load(ctx, entries)
	}
	return l.underWay(ctx, func(ctx context.Context) error {
		if c.mode == split && len(entries) > atState+1 { // the state, and what follows it a while later
			if err := l.read(ctx, entries[:atState+1]); err != nil {
				return err
			}
			c.pass()
			return l.read(ctx, entries[atState+1:])
		}
		return l.read(ctx, entries)
	})
}

// atState is where a circuit's state stands among its keys.
const atState = 1

func (l *line) read(ctx context.Context, entries []kvcache.Entry) error {
	c := l.client
	err := l.Memory.Load(ctx, entries)
	if c.world.unseen != nil {
		for i := range entries {
			for _, old := range *c.world.unseen {
				if old.Key == entries[i].Key {
					entries[i] = old
				}
			}
		}
	}
	c.saw += c.world.describe(entries)
	return err
}

func (l *line) Swap(ctx context.Context, changes []kvcache.Change) (ok bool, err error) {
	if l.client == nil {
		return l.Memory.Swap(ctx, changes)
	}
	err = l.underWay(ctx, func(ctx context.Context) (err error) {
		ok, err = l.swap(ctx, changes)
		return err
	})
	return ok && err == nil, err
}

func (l *line) swap(ctx context.Context, changes []kvcache.Change) (bool, error) {
	c := l.client
	for _, change := range changes {
		if strings.Contains(change.Key, ".probe.") && !change.Delete && c.world.names[change.Value] == "" {
			c.world.names[change.Value] = fmt.Sprintf("after%q", c.saw) // leases are random, their stories are not
		}
	}
	// Swaps exclude each other, but what they write is seen key by key.
	w := c.world
	w.unseen = nil // of a swap before, which the store has finished by now
	before := make([]kvcache.Entry, len(changes))
	for i, change := range changes {
		before[i].Key = change.Key
	}
	if err := l.Memory.Load(ctx, before); err != nil {
		return false, err
	}
	ok, err := l.Memory.Swap(ctx, changes)
	c.saw += fmt.Sprint(ok)
	if ok && c.mode == torn {
		mine := &before
		w.unseen = mine
		for i := 0; i < 2 && len(before) > 1 && w.unseen == mine; i++ { // the first, the second, and the rest at once
			before = before[1:]
			c.pass()
		}
		if w.unseen == mine {
			w.unseen = nil
		}
	}
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
	if w.unseen != nil {
		fmt.Fprint(h, "unseen ", w.describe(*w.unseen))
	}
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

func (w *world) period() uint64 {
	state := []kvcache.Entry{{Key: "model.state"}}
	require.NoError(w.t, w.cache.Load(context.Background(), state))
	return state[0].Version
}

func (w *world) probesHeld() int {
	s, err := w.breaker(w.cache).Snapshot(context.Background())
	require.NoError(w.t, err)
	return s.HalfOpenCalls
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
