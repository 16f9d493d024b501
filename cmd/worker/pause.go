package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/internal/wire/follow"
	"github.com/weirkeeper/weirkeeper/internal/wire/pauses"
)

// pauseTarget is what a command pauses or resumes. A name that is empty, as that
// of a shell variable which was never set, is not the whole fleet.
type pauseTarget struct {
	Tenant *string `arg:"" optional:"" help:"Only this tenant."`
	Fleet  bool    `help:"The whole fleet."`
}

func (t pauseTarget) pause() (pauses.Pause, error) {
	switch {
	case t.Fleet && t.Tenant != nil:
		return pauses.Pause{}, errors.New("give a tenant or --fleet, not both")
	case t.Tenant == nil:
		return pauses.Pause{Fleet: true}, nil
	case *t.Tenant == "":
		return pauses.Pause{}, errors.New("the tenant must have a name")
	case len(*t.Tenant) > wire.MaxIDBytes:
		return pauses.Pause{}, fmt.Errorf("the tenant's name is longer than %d bytes", wire.MaxIDBytes)
	}
	return pauses.Pause{Tenant: *t.Tenant}, nil
}

// noteFleet says what is meant where nothing was named.
func (t pauseTarget) noteFleet(out io.Writer) {
	if t.Tenant == nil && !t.Fleet {
		fmt.Fprintln(out, "no tenant given: the whole fleet")
	}
}

// moment is a time on the command line.
type moment struct{ time.Time }

// UnmarshalText says what is wanted in other words than those of Go's layouts.
func (m *moment) UnmarshalText(text []byte) (err error) {
	if m.Time, err = time.Parse(time.RFC3339, string(text)); err != nil {
		return fmt.Errorf("want a time in RFC 3339, such as 2026-01-31T12:00:00Z, but got %q", text)
	}
	return nil
}

type pauseCommand struct {
	pauseTarget `embed:""`

	For    *time.Duration `xor:"end,list" placeholder:"DURATION" help:"How long, such as 30m; at most 720h. Default: 1h."`
	Until  *moment        `xor:"end,list" placeholder:"TIME" help:"Until when, in RFC 3339, such as 2026-01-31T12:00:00Z."`
	Reason string         `help:"Why, for those who see that it is paused."`
	List   bool           `xor:"list" help:"Pause nothing; list what is paused."`

	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (pauseCommand) Help() string {
	return `Without a tenant it pauses the WHOLE FLEET when standard input is no terminal, as in a script, a cron job or a container, and says so on standard error. On a
terminal that takes --fleet, and scripts should give it, too.

Running workers follow within two seconds: they take no more chunks of the tenant, or of anybody, and finish what they have in hand. Chunks wait in the
queue, and none of their attempts is used up. Documents are still split into chunks, which asks no model. Workers stay ready.

When the time is over work goes on by itself. worker resume ends a pause earlier, and to pause again replaces it.`
}

func (c *pauseCommand) Run(ctx context.Context, streams cli.Streams) error {
	if c.List {
		return c.list(ctx, streams)
	}
	if c.Tenant == nil && !c.Fleet && cli.IsTerminal(streams.In) { // scripts have always meant the fleet
		return cli.Usage(errors.New("name a tenant, or give --fleet to pause the whole fleet; --list shows what is paused"))
	}
	pause, err := c.pause()
	if err == nil && c.For != nil && *c.For <= 0 {
		err = errors.New("--for must be positive; worker resume ends a pause")
	}
	if err != nil {
		return cli.Usage(err)
	}
	c.noteFleet(streams.Err)
	book, err := c.pauses(ctx, streams, true)
	if err != nil {
		return err
	}
	defer book.close()
	pause.Reason = wire.CleanError(c.Reason)
	if pause.Until, err = c.end(book.now); err != nil {
		return cli.Usage(err)
	}
	if err := book.session.ask(ctx, func(ctx context.Context) error { return book.put(ctx, pause) }); err != nil {
		return err
	}
	book.session.noteIdle(ctx, streams.Err)
	if !pause.Fleet {
		if traces, err := allowances(ctx, book.session, pause.Tenant); err == nil {
			if note := unknown(pause.Tenant, traces[pause.Tenant]); note != "" {
				fmt.Fprintln(streams.Err, note)
			}
		}
	}
	return printPauses(streams.Out, []shownPause{{Pause: pause, Key: pause.Key()}}, c.JSON)
}

// end is when the pause ends, by the server's clock.
func (c *pauseCommand) end(now time.Time) (time.Time, error) {
	until := now.Add(pauses.Default)
	switch {
	case c.For != nil:
		until = now.Add(*c.For)
	case c.Until != nil:
		until = c.Until.Time
	}
	return checkEnd(until, now)
}

// checkEnd is until as it is stored, if a pause may last so long.
func checkEnd(until, now time.Time) (time.Time, error) {
	switch {
	case !until.After(now):
		return until, fmt.Errorf("--until is over: it is %s at the NATS server", now.UTC().Format(time.RFC3339))
	case until.Sub(now) > pauses.Longest:
		return until, fmt.Errorf("a pause of more than %d days would be forgotten: pause again later", pauses.Longest/(24*time.Hour))
	}
	return until.UTC().Truncate(time.Millisecond), nil
}

func (c *pauseCommand) list(ctx context.Context, streams cli.Streams) error {
	if c.Tenant != nil || c.Fleet || c.Reason != "" {
		return cli.Usage(errors.New("--list lists all that is paused: give it no tenant, no --fleet and no --reason"))
	}
	book, err := c.pauses(ctx, streams, false)
	if err != nil {
		return err
	}
	defer book.close()
	paused := book.paused()
	if len(paused) == 0 {
		book.session.noteNowhere(ctx, streams.Err)
	} else if last := paused[len(paused)-1]; last.Problem != "" {
		fmt.Fprintf(streams.Err, "what has a problem pauses nothing; such as: nats kv del %s %s --force removes it\n", book.session.names.PauseBucket(), cli.Printable(last.Key))
	}
	return printPauses(streams.Out, paused, c.JSON)
}

type resumeCommand struct {
	pauseTarget `embed:""`

	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (resumeCommand) Help() string {
	return `Ends the pause of a tenant, or with --fleet or without either that of the whole fleet, before its time (without either, standard error says so). Either leaves the other alone. Running workers follow within two seconds.`
}

func (c *resumeCommand) Run(ctx context.Context, streams cli.Streams) error {
	target, err := c.pause()
	if err != nil {
		return cli.Usage(err)
	}
	c.noteFleet(streams.Err)
	book, err := c.pauses(ctx, streams, false)
	if err != nil {
		return err
	}
	defer book.close()
	var ended, left []shownPause
	err = book.session.ask(ctx, func(ctx context.Context) (err error) {
		ended, left, err = book.end(ctx, target)
		return err
	})
	if err != nil {
		return err
	}
	if len(ended) == 0 {
		fmt.Fprintf(streams.Err, "%s is not paused\n", targetShown(target))
	}
	switch {
	case len(left) > 0 && left[0].Fleet:
		fmt.Fprintf(streams.Err, "the whole fleet is still paused until %s: worker resume --fleet ends that\n", left[0].Until.Format(time.RFC3339))
	case target.Fleet && len(left) > 0:
		fmt.Fprintf(streams.Err, "%s still paused: see worker pause --list\n", cli.Count(len(left), "tenant"))
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, ended)
	}
	for _, p := range ended {
		fmt.Fprintf(streams.Out, "%s goes on; it was paused%s\n", targetShown(p.Pause), untilShown(p))
	}
	return nil
}

// untilShown is when a pause would have ended, of an entry that makes sense.
func untilShown(p shownPause) string {
	if p.Until.IsZero() {
		return ""
	}
	return " until " + p.Until.Format(time.RFC3339)
}

func targetShown(p pauses.Pause) string {
	if p.Fleet {
		return "the whole fleet"
	}
	return "tenant " + cli.Printable(p.Tenant)
}

// pauseBook is what the fleet has stored of its pauses.
type pauseBook struct {
	session *session
	bucket  jetstream.KeyValue // nil if there is none
	entries []follow.Entry
	now     time.Time // by the server's clock
}

// shownPause is an entry of the bucket, as it is printed.
type shownPause struct {
	pauses.Pause
	Key     string `json:"key"`               // in the bucket
	Problem string `json:"problem,omitempty"` // why workers take no notice of it
}

func (p shownPause) target() string {
	if p.Pause == (pauses.Pause{}) { // the key is none that a pause has
		return "key " + cli.Printable(p.Key)
	}
	return targetShown(p.Pause)
}

// pauses opens a session with the pauses of the fleet.
func (f operatorFlags) pauses(ctx context.Context, streams cli.Streams, write bool) (*pauseBook, error) {
	return openBook(ctx, f, streams, write, openPauses)
}

// openPauses reads their bucket; one that is missing is made only if it has to be
// written to.
func openPauses(ctx context.Context, s *session, write bool) (*pauseBook, error) {
	if write {
		if _, err := wire.EnsurePauses(ctx, s.js, s.names); err != nil {
			return nil, err
		}
	}
	book := &pauseBook{session: s}
	reading, exists, err := s.read(ctx, s.names.PauseBucket())
	if err != nil || !exists {
		return book, err
	}
	book.entries, book.now = reading.Entries, reading.Now
	if book.bucket, err = s.js.KeyValue(ctx, s.names.PauseBucket()); err != nil {
		return nil, book.failed(err)
	}
	return book, nil
}

func (b *pauseBook) close() { b.session.close() }

func (b *pauseBook) failed(err error) error {
	return fmt.Errorf("bucket %s: %w", b.session.names.PauseBucket(), err)
}

// put stores a pause.
func (b *pauseBook) put(ctx context.Context, pause pauses.Pause) error {
	value, err := pause.Value()
	if err != nil {
		return cli.Usage(err)
	}
	if _, err := b.bucket.Put(ctx, pause.Key(), value); err != nil {
		return b.failed(err)
	}
	return nil
}

// end removes the pause of target. It returns what has ended, and what is still
// paused.
func (b *pauseBook) end(ctx context.Context, target pauses.Pause) (ended, left []shownPause, err error) {
	ended, left = []shownPause{}, []shownPause{}
	for _, p := range b.paused() {
		if p.Key == target.Key() {
			ended = append(ended, p)
		} else if p.Problem == "" {
			left = append(left, p)
		}
	}
	if len(ended) > 0 {
		if err := b.bucket.Delete(ctx, target.Key()); err != nil {
			return nil, nil, b.failed(err)
		}
	}
	return ended, left, nil
}

// paused returns what is paused, that of the fleet first, and after it what nobody
// can make sense of.
func (b *pauseBook) paused() []shownPause {
	good, bad := []shownPause{}, []shownPause{}
	for _, got := range b.entries {
		p, err := pauses.Parse(got.Key, got.Value, got.Created)
		switch {
		case err != nil:
			bad = append(bad, shownPause{p, got.Key, wire.CleanError(err.Error())})
		case p.Until.After(b.now):
			good = append(good, shownPause{p, got.Key, ""})
		}
	}
	byPause := func(a, b shownPause) int { return pauses.Compare(a.Pause, b.Pause) }
	slices.SortFunc(good, byPause)
	slices.SortFunc(bad, byPause)
	return append(good, bad...)
}

func printPauses(out io.Writer, all []shownPause, asJSON bool) error {
	if asJSON {
		return cli.WriteJSON(out, all)
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "PAUSED\tUNTIL\tREASON\tPROBLEM")
	for _, p := range all {
		until := "-"
		if !p.Until.IsZero() {
			until = p.Until.Format(time.RFC3339)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", p.target(), until, cli.Printable(p.Reason), cli.Printable(p.Problem))
	}
	return table.Flush()
}
