package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/kvcache/natskv"
	"github.com/weirkeeper/weirkeeper/resilience"
)

type circuitCommands struct {
	List  circuitListCommand  `cmd:"" help:"List the circuits that have been anything but quiet."`
	Show  circuitShowCommand  `cmd:"" help:"Show one circuit."`
	Reset circuitResetCommand `cmd:"" help:"Close a circuit and forget its failures."`
	Open  circuitOpenCommand  `cmd:"" help:"Open a circuit until it is reset: no worker calls its model server."`

	Forget circuitForgetCommand `cmd:"" help:"Remove all that is stored of a circuit that no worker uses any more."`
}

type circuitName struct {
	Name string `arg:"" help:"Name of the circuit, as the workers' --circuit has it."`
}

func (c circuitName) check() error {
	if err := checkCircuit(c.Name); err != nil {
		return cli.Usage(err)
	}
	return nil
}

// longestCircuit is in bytes: the keys of one with a longer name are hashes, which
// nobody can list.
const longestCircuit = 700

// checkCircuit takes any name that a circuit may have, also of programs whose workers
// are not ours; --circuit takes fewer.
func checkCircuit(name string) error {
	switch {
	case name == "":
		return errors.New("the circuit must have a name")
	case len(name) > longestCircuit:
		return fmt.Errorf("the name of a circuit has %d bytes at most, not %d", longestCircuit, len(name))
	case !utf8.ValidString(name) || strings.ContainsRune(name, utf8.RuneError):
		return errors.New("the name of the circuit is not UTF-8, or has lost a character on its way here: nats kv ls shows its keys")
	}
	return nil
}

type circuitListCommand struct {
	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (circuitListCommand) Help() string {
	return `A circuit that never failed a call has left nothing to be listed: it is closed. To watch them all: nats kv watch weir_circuit`
}

func (c *circuitListCommand) Run(ctx context.Context, streams cli.Streams) error {
	book, err := c.circuits(ctx, streams, false)
	if err != nil {
		return err
	}
	defer book.close()
	circuits := []resilience.Snapshot{}
	for _, stored := range book.stored {
		if wire.IsProbe(stored.Name) { // of worker check
			continue
		}
		circuit, err := book.snapshot(ctx, stored.Name)
		if err != nil {
			return err
		}
		circuits = append(circuits, circuit)
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, circuits)
	}
	table := tabwriter.NewWriter(streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CIRCUIT\tSTATE\tOPENED\tFAILURES\tPROBES\tREASON")
	for _, s := range circuits {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\t%d\t%s\n", cli.Printable(s.Circuit), stateShown(s), openedShown(s), s.Failures, s.HalfOpenCalls, cli.Printable(s.Reason))
	}
	return table.Flush()
}

type circuitShowCommand struct {
	circuitName   `embed:""`
	operatorFlags `embed:""`
}

func (c *circuitShowCommand) Run(ctx context.Context, streams cli.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	book, err := c.circuits(ctx, streams, false)
	if err != nil {
		return err
	}
	defer book.close()
	return book.show(ctx, streams.Out, c.Name, c.JSON)
}

type circuitResetCommand struct {
	circuitName   `embed:""`
	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (circuitResetCommand) Help() string {
	return `Workers go on calling within a recovery timeout. If the model server still fails, the circuit opens again.`
}

func (c *circuitResetCommand) Run(ctx context.Context, streams cli.Streams) error {
	return c.changeKnown(ctx, streams, c.operatorFlags, "reset", (*resilience.Breaker).Reset)
}

type circuitOpenCommand struct {
	circuitName `embed:""`
	Reason      string `default:"opened by an operator" help:"Why, for those who see that it is open."`

	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (circuitOpenCommand) Help() string {
	return `Calls under way are finished. Chunks wait in the queue, and none of their attempts is used up. worker circuit reset ends it.`
}

func (c *circuitOpenCommand) Run(ctx context.Context, streams cli.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	book, err := c.circuits(ctx, streams, true)
	if err != nil {
		return err
	}
	defer book.close()
	if !book.knows(c.Name) && !book.session.works(ctx, func(w wire.WorkerState) bool { return w.Circuit == c.Name }) {
		fmt.Fprintf(streams.Err, "nothing is stored of circuit %s so far: check that workers have --circuit %[1]s\n", cli.Printable(c.Name))
	}
	reason := wire.CleanError(c.Reason)
	return book.change(ctx, streams, c.Name, c.JSON, func(ctx context.Context, b *resilience.Breaker) error { return b.Force(ctx, reason) })
}

type circuitForgetCommand struct {
	circuitName   `embed:""`
	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (circuitForgetCommand) Help() string {
	return `The circuit is no longer listed, and closed: should workers still use it, they go on calling, as after a reset.`
}

func (c *circuitForgetCommand) Run(ctx context.Context, streams cli.Streams) error {
	return c.changeKnown(ctx, streams, c.operatorFlags, "forget", (*resilience.Breaker).Forget)
}

// changeKnown does something with a circuit of which something is stored: writing
// would only make a misspelt one known.
func (c circuitName) changeKnown(ctx context.Context, streams cli.Streams, flags operatorFlags, verb string, do func(*resilience.Breaker, context.Context) error) error {
	if err := c.check(); err != nil {
		return err
	}
	book, err := flags.circuits(ctx, streams, false)
	if err != nil {
		return err
	}
	defer book.close()
	if !book.knows(c.Name) {
		fmt.Fprintf(streams.Err, "nothing is stored of circuit %s: there is nothing to %s\n", cli.Printable(c.Name), verb)
		return book.show(ctx, streams.Out, c.Name, flags.JSON)
	}
	return book.change(ctx, streams, c.Name, flags.JSON, func(ctx context.Context, b *resilience.Breaker) error { return do(b, ctx) })
}

// circuitBook is what the fleet has stored of its circuits.
type circuitBook struct {
	session *session
	cache   *natskv.Cache // nil if there is no bucket
	stored  []resilience.StoredCircuit
}

// circuits opens the bucket of the circuits; one that is missing is made only if
// it has to be written to.
func (f operatorFlags) circuits(ctx context.Context, streams cli.Streams, write bool) (*circuitBook, error) {
	s, err := f.open(ctx, streams)
	if err != nil {
		return nil, err
	}
	var book *circuitBook
	err = s.ask(ctx, func(ctx context.Context) (err error) {
		book, err = openCircuits(ctx, s, write)
		return err
	})
	if err != nil {
		s.close()
	}
	return book, err
}

// openCircuits does that with a session, which stays the caller's if it fails.
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
		fmt.Fprintf(streams.Err, "circuit %s was %s and is %s\n", cli.Printable(name), c.From, c.To)
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
