package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// circuitBook is what the fleet has stored of its circuits.
type circuitBook struct {
	session *session
	cache   *natskv.Cache // nil if there is no bucket
	stored  []resilience.StoredCircuit
}

// circuits opens a session with the circuits of the fleet.
func (f operatorFlags) circuits(ctx context.Context, streams cli.Streams, write bool) (*circuitBook, error) {
	return openBook(ctx, f, streams, write, openCircuits)
}

// openCircuits opens their bucket; one that is missing is made only if it has to be
// written to.
func openCircuits(ctx context.Context, s *session, write bool) (*circuitBook, error) {
	book := &circuitBook{session: s}
	exists, err := wire.BucketExists(ctx, s.js, s.names.CircuitBucket())
	if err == nil && (exists || write) {
		if book.cache, err = natskv.Open(ctx, s.js, s.names.CircuitBucket(), natskv.WithReplicas(s.names.Replicas())); err == nil {
			var keys []string
			keys, err = book.cache.Keys(ctx)
			book.stored = resilience.StoredCircuits("", keys)
		}
	}
	if err != nil {
		book.closeCache()
		return nil, err
	}
	return book, nil
}

func (b *circuitBook) close() {
	b.closeCache()
	b.session.close()
}

func (b *circuitBook) closeCache() {
	if b.cache != nil {
		_ = b.cache.Close()
	}
}

func (b *circuitBook) find(name string) (resilience.StoredCircuit, bool) {
	for _, stored := range b.stored {
		if stored.Name == name {
			return stored, true
		}
	}
	return resilience.StoredCircuit{Name: name, Probes: 1}, false
}

func (b *circuitBook) knows(name string) bool {
	_, known := b.find(name)
	return known
}

// noteUnknown says of a circuit that nothing is stored of, and that no worker has, that
// it may be misspelt.
func (b *circuitBook) noteUnknown(ctx context.Context, out io.Writer, name string) {
	if !b.knows(name) && !b.session.works(ctx, func(w wire.WorkerState) bool { return w.Circuit == name }) {
		fmt.Fprintf(out, "nothing is stored of circuit %s so far: check that workers have --circuit %[1]s\n", cli.Printable(name))
	}
}

// breaker is one for an operator: it makes no calls, so the thresholds of the
// fleet do not matter to it.
func (b *circuitBook) breaker(name string, changed func(resilience.Change)) (*resilience.Breaker, error) {
	stored, _ := b.find(name)
	config := resilience.DefaultBreakerConfig()
	config.Cache, config.Name, config.HalfOpenMaxCalls, config.OnChange = b.cache, name, stored.Probes, changed
	return resilience.NewBreaker(config)
}

func (b *circuitBook) snapshot(ctx context.Context, name string) (resilience.Snapshot, error) {
	if b.cache == nil {
		return resilience.Snapshot{Circuit: name, State: resilience.Closed}, nil
	}
	breaker, err := b.breaker(name, nil)
	if err != nil {
		return resilience.Snapshot{}, err
	}
	return breaker.Snapshot(ctx)
}

// change does something to a circuit and says what came of it.
func (b *circuitBook) change(ctx context.Context, streams cli.Streams, name string, asJSON bool, do func(context.Context, *resilience.Breaker) error) error {
	breaker, err := b.breaker(name, func(c resilience.Change) {
		if c.From != c.To { // else only what was stored of it has changed
			fmt.Fprintf(streams.Err, "circuit %s was %s and is %s\n", cli.Printable(name), c.From, c.To)
		}
	})
	if err != nil {
		return err
	}
	if err := b.session.ask(ctx, func(ctx context.Context) error { return do(ctx, breaker) }); err != nil {
		return err
	}
	return b.show(ctx, streams.Out, name, asJSON)
}

func (b *circuitBook) show(ctx context.Context, out io.Writer, name string, asJSON bool) error {
	s, err := b.snapshot(ctx, name)
	if err != nil {
		return err
	}
	seen, now, err := b.seen(ctx, name)
	if err != nil {
		return err
	}
	if asJSON {
		return cli.WriteJSON(out, struct {
			resilience.Snapshot
			NextProbeAt *time.Time `json:"next_probe_at,omitempty"`
		}{s, seen.NextProbeAt})
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "circuit\t%s\nstate\t%s\n", cli.Printable(s.Circuit), stateShown(s))
	if !s.OpenedAt.IsZero() {
		fmt.Fprintf(table, "opened\t%s\n", openedShown(s))
	}
	if s.Reason != "" {
		fmt.Fprintf(table, "reason\t%s\n", cli.Printable(s.Reason))
	}
	if ends := seen.Ends(now); ends != "" {
		fmt.Fprintf(table, "ends\t%s\n", ends)
	}
	fmt.Fprintf(table, "failures\t%d\nprobes\t%d\n", s.Failures, s.HalfOpenCalls)
	return table.Flush()
}

// seen is the circuit as the views of the fleet have it, with when it lets a call
// through again, and what time it is by the same clock.
func (b *circuitBook) seen(ctx context.Context, name string) (overview.Circuit, time.Time, error) {
	reading, _, err := b.session.read(ctx, b.session.names.CircuitBucket())
	if err != nil {
		return overview.Circuit{}, reading.Now, err
	}
	for _, c := range overview.Circuits(reading.Entries) {
		if c.Name == name {
			return c, reading.Now, nil
		}
	}
	return overview.Circuit{}, reading.Now, nil
}

func stateShown(s resilience.Snapshot) string {
	if s.State == resilience.Open && s.Forced {
		return "open until reset"
	}
	return string(s.State)
}

func openedShown(s resilience.Snapshot) string {
	if s.OpenedAt.IsZero() {
		return "-"
	}
	return s.OpenedAt.UTC().Format(time.RFC3339)
}
