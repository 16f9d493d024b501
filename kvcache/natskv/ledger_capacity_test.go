package natskv

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// simStep is something that one process does at some time.
type simStep struct {
	after   time.Duration // the step before
	client  int
	do      string
	burst   int
	tokens  int64
	quota   int
	retries int
	d       time.Duration
}

// outcome is an admission that a caller was told of.
type outcome struct {
	name   string
	id     uint64
	q      kvcache.Quota
	tokens int64
	asked  int64 // when, by the server's clock
	told   int64
}

const simKey = "tenant"

var simQuotas = []kvcache.Quota{
	{Window: time.Second, Requests: 4},
	{Window: time.Second, Requests: 4, Tokens: 20},
	{Window: 2 * time.Second, Requests: 3},
	{Window: time.Second, Tokens: 15},
	{Window: 20 * time.Second, Requests: 130}, // enough to take spares of
}

func drawSteps(t *rapid.T, clients int) []simStep {
	step := rapid.Custom(func(t *rapid.T) simStep {
		return simStep{
			after:   time.Duration(rapid.SampledFrom([]int{0, 0, 1, 10, 100, 400, 1000}).Draw(t, "after")) * time.Millisecond,
			client:  rapid.IntRange(0, clients-1).Draw(t, "client"),
			do:      rapid.SampledFrom([]string{"ask", "ask", "ask", "ask", "rush", "rush", "jump", "crash", "cool", "give up", "peek", "remake"}).Draw(t, "do"),
			burst:   rapid.IntRange(1, 6).Draw(t, "burst"),
			tokens:  rapid.Int64Range(0, 8).Draw(t, "tokens"),
			quota:   rapid.IntRange(0, len(simQuotas)-2).Draw(t, "quota"),
			retries: rapid.IntRange(0, 3).Draw(t, "retries"),
			d:       time.Duration(rapid.SampledFrom([]int{-10_000, 10_000, -1000, 300, 5}).Draw(t, "d")) * time.Millisecond,
		}
	})
	return rapid.SliceOfN(step, 5, 40).Draw(t, "steps")
}

func drawFaults(t *rapid.T) simFaults {
	percent := func(what string) int { return rapid.SampledFrom([]int{0, 0, 5, 30}).Draw(t, what) }
	return simFaults{percent("lost feed"), percent("lost request"), percent("lost reply"), percent("late request"),
		percent("stale read"), percent("failed read")}
}

// R18: however processes interleave, whatever is lost, late, stale or crashed
// between two steps, and however their clocks jump by 10 s: what callers were told
// is admitted never exceeds their quota in any span of its window, by the
// server's stamps; a log that was deleted is forgotten. And once everything is over, the whole quota is there again.
func TestR18NothingAddsCapacity(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		const clients = 3
		faults, steps := drawFaults(rt), drawSteps(rt, clients)
		seed := rapid.Uint64().Draw(rt, "seed")
		var problem string
		synctest.Test(t, func(*testing.T) { problem = simulate(clients, faults, steps, seed) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

func simulate(clients int, faults simFaults, steps []simStep, seed uint64) string {
	s := &simServer{feeds: map[*simFeed]string{}}
	var mu sync.Mutex
	var told []outcome
	var callers sync.WaitGroup
	var books []*logbook
	alive := make([]*simClient, clients)
	for i := range alive {
		alive[i] = newSimClient(s, faults, seed+uint64(i))
		books = append(books, alive[i].book)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ask := func(c *simClient, q kvcache.Quota, tokens int64, patience time.Duration) kvcache.Admission {
		asked := s.now()
		a, err := c.admit(ctx, q, tokens, patience)
		if err != nil || !a.Admitted {
			a.Admitted = false
			return a
		}
		select {
		case <-c.dead: // nobody is left to be told
		default:
			mu.Lock()
			told = append(told, outcome{simKey, a.ID, q, tokens, asked, s.now()})
			mu.Unlock()
		}
		return a
	}
	for i, step := range steps {
		time.Sleep(step.after)
		c, q := alive[step.client], simQuotas[step.quota]
		switch step.do {
		case "ask":
			for range step.burst {
				callers.Go(func() {
					for range step.retries + 1 {
						a := ask(c, q, step.tokens, 2*time.Second)
						if a.Admitted {
							return
						}
						time.Sleep(min(a.RetryAfter, 3*time.Second))
					}
				})
			}
		case "rush":
			callers.Go(func() {
				for n, refused := 0, 0; n < 20*step.burst && refused <= step.retries; n++ {
					a := ask(c, simQuotas[len(simQuotas)-1], 0, 2*time.Second)
					if !a.Admitted && a.RetryAfter > 0 { // comes back for the place of the oldest
						refused++
						time.Sleep(min(a.RetryAfter, 30*time.Second))
					}
				}
			})
		case "give up":
			callers.Go(func() { ask(c, q, step.tokens, 15*time.Millisecond) })
		case "jump":
			c.mu.Lock()
			c.jump += step.d
			c.mu.Unlock()
		case "cool":
			callers.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				_ = c.book.say(ctx, simKey, note{kind: cool, span: max(step.d/4, time.Millisecond)})
			})
		case "peek":
			callers.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				_, _ = c.book.peek(ctx, simKey, q)
			})
		case "remake":
			s.remake()
			for _, c := range alive {
				callers.Go(func() {
					time.Sleep(10 * c.latency())
					ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
					defer cancel()
					_, _ = c.book.again(ctx)
				})
			}
		case "crash":
			close(c.dead)
			c = newSimClient(s, faults, seed+uint64(100+i))
			alive[step.client], books = c, append(books, c.book)
		}
	}
	callers.Wait()
	time.Sleep(25 * time.Second)

	problem := verdict(s, told)
	if problem == "" {
		problem = restored(ctx, s)
	}
	cancel()
	for _, b := range books {
		b.close()
	}
	time.Sleep(5 * time.Second) // for what was sent late
	return problem
}

// verdict counts what callers were told against every quota, by the stamps.
func verdict(s *simServer, told []outcome) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := map[uint64]simEntry{}
	latest := int64(0)
	var cools []simEntry
	for _, e := range s.entries {
		e.stamp = max(e.stamp, latest)
		latest = e.stamp
		at[e.seq] = e
		if notes := decodeEntry(e.body).notes; len(notes) > 0 {
			cools = append(cools, e)
		}
	}
	ids := map[uint64]bool{}
	for _, o := range told {
		if ids[o.id] {
			return fmt.Sprintf("admission %d was given to two callers", o.id)
		}
		ids[o.id] = true
		e := at[o.id>>takeBits]
		if o.told == o.asked && o.told > e.stamp+int64(spareLife(o.q.Window)) {
			return fmt.Sprintf("spare %d was handed out %v after its stamp", o.id, time.Duration(o.told-e.stamp))
		}
		var requests, tokens int64
		for _, p := range told {
			// Spares were used later than stamped, and the window's slack is for that.
			used := at[p.id>>takeBits].stamp
			if p.told == p.asked && p.q.Window == o.q.Window {
				used = p.told
			}
			// What was taken from a narrower window is remembered for no longer
			// than that needs.
			kept := at[p.id>>takeBits].stamp > e.stamp-int64(p.q.Window+entryGrace)
			jitter := slack(o.q.Window) - spareLife(o.q.Window)      // for the way to the model server
			same := s.life(p.id>>takeBits) == s.life(o.id>>takeBits) // else p was in a log that was deleted
			if p.id <= o.id && kept && same && used > e.stamp-int64(o.q.Window+jitter) {
				requests, tokens = requests+1, tokens+p.tokens
			}
		}
		if o.q.Requests > 0 && requests > o.q.Requests || o.q.Tokens > 0 && tokens > o.q.Tokens {
			return fmt.Sprintf("%d requests and %d tokens in the window of %+v that ends with %d", requests, tokens, o.q, o.id)
		}
		for _, c := range cools {
			for _, n := range decodeEntry(c.body).notes {
				if n.kind == cool && c.seq < e.seq && s.life(c.seq) == s.life(e.seq) && e.stamp < c.stamp+int64(n.span) {
					return fmt.Sprintf("%d was admitted in a cool-down of %v by %d", o.id, n.span, c.seq)
				}
			}
		}
	}
	return ""
}

// restored asks more often than the quota allows, without any fault.
func restored(ctx context.Context, s *simServer) string {
	a, b := newSimClient(s, simFaults{}, 1), newSimClient(s, simFaults{}, 2)
	defer a.book.close()
	defer b.book.close()
	admitted := 0
	for i := range 8 {
		c := []*simClient{a, b}[i%2]
		got, err := c.admit(ctx, simQuotas[0], 0, time.Second)
		if err != nil {
			return err.Error()
		}
		if got.Admitted {
			admitted++
		}
	}
	if admitted != 4 {
		return fmt.Sprintf("long after everything, %d of 4 were admitted", admitted)
	}
	return ""
}

// A simulation that cannot fail proves nothing: counting by a guess of the time
// instead of the stamps is found out.
func TestSimulationFindsAForgedVerdict(t *testing.T) {
	s := &simServer{entries: []simEntry{{seq: 1, stamp: 0}, {seq: 2, stamp: 10}}}
	told := []outcome{{simKey, takeID(1, 0), kvcache.Quota{Window: 11, Requests: 1}, 0, 0, 1}, {simKey, takeID(2, 0), kvcache.Quota{Window: 11, Requests: 1}, 0, 10, 11}}
	require.NotEmpty(t, verdict(s, told))
	told[1].q.Window = 10
	require.Empty(t, verdict(s, told))
}
