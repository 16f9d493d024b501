package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"text/tabwriter"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
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
	if len(circuits) == 0 {
		book.session.noteNowhere(ctx, streams.Err)
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
	book.noteUnknown(ctx, streams.Err, c.Name)
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
	book.noteUnknown(ctx, streams.Err, c.Name)
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
