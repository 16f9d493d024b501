package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

type deadReplayCommand struct {
	Letters []uint64 `arg:"" optional:"" name:"letter" help:"Numbers of dead letters, as worker dead list has them. Else filters choose."`
	All     bool     `help:"All dead letters of all tenants: also what a script gets that gives no number and no filter."`
	DryRun  bool     `help:"Say what would be sent, and send nothing."`

	letterFlags   `embed:""`
	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (deadReplayCommand) Help() string {
	return `Without a number, a filter and --all it sends ALL dead letters of all tenants when standard input is no terminal, as in a script, a cron job or a container;
standard error says so and how many there are. On a terminal it asks for one of them. Scripts should say --all if they mean it.

Sends the original message to where it came from, with fresh attempts, and removes the dead letter once the stream has the message. The header
Weir-Replayed keeps the trail: if the message is set aside again, worker dead show tells how often and why before.

A letter stays if there is no way back (its end was cut off), or if a later version of its document has a result already. What is set aside while this
runs is not sent.`
}

// replayReport is what replay prints with --json.
type replayReport struct {
	DryRun     bool     `json:"dry_run"`
	Replayed   []replay `json:"replayed"`
	Left       []replay `json:"left"`
	Unreadable int      `json:"unreadable"` // met on the way, and left: nobody asked for them
}

// replay is what became of one dead letter.
type replay struct {
	Letter uint64 `json:"letter"`
	Tenant string `json:"tenant"`
	Kind   string `json:"kind"`
	To     string `json:"to"`
	Reason string `json:"reason,omitempty"` // why it was left
}

func (c *deadReplayCommand) Run(ctx context.Context, streams cli.Streams) error {
	filter, err := c.filter(time.Now())
	if err != nil {
		return err
	}
	filtered := filter != (publish.LetterFilter{})
	switch {
	case len(c.Letters) > 0 && (filtered || c.All), filtered && c.All:
		return cli.Usage(errors.New("give either numbers of letters or filters or --all"))
	case len(c.Letters) == 0 && !filtered && !c.All && !c.DryRun && cli.IsTerminal(streams.In): // scripts have always meant all
		return cli.Usage(errors.New("give numbers of letters, filters such as --tenant or --kind, or --all; --dry-run alone shows what --all would send"))
	}
	if slices.Contains(c.Letters, 0) {
		return cli.Usage(errNoSuchNumber)
	}
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	report := replayReport{DryRun: c.DryRun, Replayed: []replay{}, Left: []replay{}}
	failed := s.ask(ctx, func(ctx context.Context) error {
		if _, err := wire.StreamExists(ctx, s.js, s.names.DeadStream()); err != nil {
			return err
		}
		if len(c.Letters) == 0 && !filtered && !c.All {
			fmt.Fprintln(streams.Err, "no tenant or filter given: all letters that can be read")
		}
		all := filter
		all.Unreadable = true
		letters := publish.Letters(ctx, s.js, s.names, all)
		if len(c.Letters) > 0 {
			letters = c.chosen(ctx, s)
		}
		return c.replayAll(ctx, s, letters, streams, &report)
	})
	if report.Unreadable > 0 {
		fmt.Fprintf(streams.Err, "left what cannot be read, %s: worker dead list --kind %s says why\n", cli.Count(report.Unreadable, "message"), publish.KindUnreadable)
	}
	if failed == nil && len(report.Replayed)+len(report.Left)+report.Unreadable == 0 {
		fmt.Fprintln(streams.Err, noLetters(filter))
		s.noteNowhere(ctx, streams.Err)
	}
	if c.JSON {
		if err := cli.WriteJSON(streams.Out, report); err != nil {
			return err
		}
	}
	switch {
	case failed != nil:
		return failed
	case len(report.Left) > 0:
		return fmt.Errorf("%s could not be sent again", cli.Count(len(report.Left), "dead letter"))
	}
	return nil
}

// chosen are the letters that the command line names.
func (c *deadReplayCommand) chosen(ctx context.Context, s *session) iter.Seq2[publish.Letter, error] {
	return func(yield func(publish.Letter, error) bool) {
		for _, sequence := range c.Letters {
			letter, err := publish.ReadLetter(ctx, s.js, s.names, sequence)
			letter.Sequence = sequence // also of one that is not there
			if !yield(letter, err) {
				return
			}
		}
	}
}

// replayAll goes on after a letter that has to be left, and ends with an error of
// NATS.
func (c *deadReplayCommand) replayAll(ctx context.Context, s *session, letters iter.Seq2[publish.Letter, error], streams cli.Streams, report *replayReport) error {
	for letter, err := range letters {
		r := replay{Letter: letter.Sequence, Tenant: letter.Tenant, Kind: letter.Kind}
		if err == nil && letter.Kind == publish.KindUnreadable {
			report.Unreadable++
			continue
		}
		switch {
		case err == nil:
			r, err = replayLetter(ctx, s, letter, c.DryRun)
		case stays(err):
			r.Reason, err = wire.CleanError(err.Error()), nil
		}
		if err != nil {
			return err
		}
		word := "sent"
		switch {
		case r.Reason != "":
			word = "left"
			report.Left = append(report.Left, r)
		case c.DryRun:
			word = "would send"
			fallthrough
		default:
			report.Replayed = append(report.Replayed, r)
		}
		if c.JSON {
			continue
		}
		line := fmt.Sprintf("%s\t%d\t%s\t%s\t%s", word, r.Letter, cli.Printable(r.Tenant), r.Kind, cli.Printable(r.To))
		if r.Reason != "" {
			line += "\t" + r.Reason
		}
		if _, err := fmt.Fprintln(streams.Out, line); err != nil {
			return err
		}
	}
	return nil
}

// replayLetter sends a letter again, or only looks whether it could. One that has to
// be left says why; an error is NATS's.
func replayLetter(ctx context.Context, s *session, letter publish.Letter, dryRun bool) (replay, error) {
	r := replay{Letter: letter.Sequence, Tenant: letter.Tenant, Kind: letter.Kind, To: letter.OriginSubject}
	send := publish.Replay
	if dryRun {
		send = publish.CheckReplay
	}
	switch err := send(ctx, s.js, s.names, letter); {
	case err == nil:
	case stays(err):
		r.Reason = wire.CleanError(err.Error())
	default:
		return r, fmt.Errorf("dead letter %d: %w", letter.Sequence, err)
	}
	return r, nil
}

// stays reports errors that are about one letter.
func stays(err error) bool {
	_, noWay := errors.AsType[*wire.InvalidMessageError](err)
	_, superseded := errors.AsType[*publish.SupersededError](err)
	_, gone := errors.AsType[*publish.NoLetterError](err)
	return noWay || superseded || gone
}
