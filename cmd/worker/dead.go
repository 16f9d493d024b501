package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

type deadCommands struct {
	List   deadListCommand   `cmd:"" help:"List what was set aside, with the reason."`
	Show   deadShowCommand   `cmd:"" help:"Show one dead letter, with the original's text."`
	Replay deadReplayCommand `cmd:"" help:"Send what was set aside once more."`
}

// deadKind is why a message was set aside.
type deadKind string

// Words are what can be completed.
func (deadKind) Words() []string { return wire.DeadKinds() }

// letterFlags choose dead letters.
type letterFlags struct {
	Tenant    string        `placeholder:"NAME" help:"Only this tenant's. Default: everybody's."`
	Kind      deadKind      `placeholder:"KIND" help:"Only those set aside for this reason, such as refused or attempts_exhausted."`
	OlderThan time.Duration `placeholder:"DURATION" help:"Only those set aside longer ago than this, such as 24h."`
	NewerThan time.Duration `placeholder:"DURATION" help:"Only those set aside within this time."`
}

func (f letterFlags) filter(now time.Time) (publish.LetterFilter, error) {
	filter := publish.LetterFilter{Tenant: f.Tenant, Kind: string(f.Kind)}
	switch {
	case f.Kind != "" && !wire.IsDeadKind(filter.Kind):
		return filter, cli.Usage(fmt.Errorf("--kind %s: there is no such kind of dead letter; the kinds are %s", cli.Printable(filter.Kind), strings.Join(wire.DeadKinds(), ", ")))
	case f.OlderThan < 0, f.NewerThan < 0:
		return filter, cli.Usage(errors.New("--older-than and --newer-than must not be negative"))
	case f.NewerThan > 0 && f.OlderThan >= f.NewerThan:
		return filter, cli.Usage(fmt.Errorf("--older-than %s with --newer-than %s: nothing is older than the one and newer than the other; --newer-than has to be the longer", f.OlderThan, f.NewerThan))
	}
	if f.OlderThan > 0 {
		filter.Before = now.Add(-f.OlderThan)
	}
	if f.NewerThan > 0 {
		filter.After = now.Add(-f.NewerThan)
	}
	return filter, nil
}

type deadListCommand struct {
	letterFlags   `embed:""`
	operatorFlags `embed:""`
}

func (c *deadListCommand) Run(ctx context.Context, streams cli.Streams) error {
	flags := c.letterFlags
	if flags.Kind == publish.KindUnreadable {
		flags.Kind = "" // which no dead letter has
	}
	filter, err := flags.filter(time.Now())
	if err != nil {
		return err
	}
	filter.Kind, filter.Unreadable = string(c.Kind), true
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.hasLetters(ctx); err != nil {
		return err
	}
	letters, unreadable := []publish.Letter{}, uint64(0)
	for letter, err := range publish.Letters(ctx, s.js, s.names, filter) {
		if err != nil {
			return err
		}
		if letter.Kind == publish.KindUnreadable {
			unreadable = letter.Sequence
		}
		letter.Message = nil // bodies are not listed, and there may be many
		letters = append(letters, letter)
	}
	if unreadable > 0 {
		fmt.Fprintf(streams.Err, "those of kind %s were not written by a worker and cannot be sent again; such as: worker dead show %d shows one, nats stream rmm %s %[2]d removes it\n",
			publish.KindUnreadable, unreadable, s.names.DeadStream())
	}
	if len(letters) == 0 {
		fmt.Fprintln(streams.Err, noLetters(filter))
		s.noteNowhere(ctx, streams.Err)
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, letters)
	}
	table := tabwriter.NewWriter(streams.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "LETTER\tTENANT\tKIND\tCHUNK\tFAILED\tATTEMPTS\tREPLAYED\tERROR")
	for _, l := range letters {
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\t%d\t%d\t%s\n", l.Sequence, cli.Clipped(l.Tenant, nameColumn), l.Kind, chunkClipped(l),
			l.FailedAt.UTC().Format(time.RFC3339), l.Attempts, len(l.Replayed), cli.Clipped(l.Error, errorColumn))
	}
	return table.Flush()
}

// noLetters says that a filter has found nothing, which may be misspelt.
func noLetters(filter publish.LetterFilter) string {
	if filter.Unreadable = false; filter == (publish.LetterFilter{}) {
		return "there are no dead letters"
	}
	return "no dead letter is like that; worker dead list without filters lists all"
}

// Columns are so wide at most; worker dead show and --json have everything.
const (
	nameColumn  = 32
	errorColumn = 100
)

// chunkClipped keeps the index of a chunk whose document has a long id.
func chunkClipped(l publish.Letter) string {
	if l.DocumentID == "" || l.ChunkID == "" {
		return cli.Clipped(chunkShown(l), nameColumn)
	}
	return fmt.Sprintf("%s/%d", cli.Clipped(l.DocumentID, nameColumn), l.Index)
}

// chunkShown is "document/index", or - if the message was no chunk.
func chunkShown(l publish.Letter) string {
	switch {
	case l.DocumentID == "":
		return "-"
	case l.ChunkID == "":
		return cli.Printable(l.DocumentID)
	}
	return fmt.Sprintf("%s/%d", cli.Printable(l.DocumentID), l.Index)
}

type deadShowCommand struct {
	Letter uint64 `arg:"" help:"Number of the dead letter, as worker dead list has it."`

	operatorFlags `embed:""`
}

// shownLetter is what show prints with --json.
type shownLetter struct {
	publish.Letter
	Header map[string][]string `json:"header"`
	Body   string              `json:"body"` // of the original; bytes that are not UTF-8 are replaced
	Cut    bool                `json:"cut,omitempty"`
}

func (c *deadShowCommand) Run(ctx context.Context, streams cli.Streams) error {
	if c.Letter == 0 {
		return cli.Usage(errNoSuchNumber)
	}
	s, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	if err := s.hasLetters(ctx); err != nil {
		return err
	}
	letter, err := publish.ReadLetter(ctx, s.js, s.names, c.Letter)
	unreadable := letter.Kind == publish.KindUnreadable
	if err != nil && !unreadable {
		return err
	}
	body, cut, err := wire.DeadLetterBody(letter.Message, wire.MaxUnpackedBytes)
	if unreadable { // the message as it is
		body, cut, err = letter.Message.Data, false, nil
	}
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, shownLetter{letter, letter.Message.Header, strings.ToValidUTF8(string(body), "\uFFFD"), cut})
	}
	return printLetter(streams.Out, letter, body, cut)
}

// errNoSuchNumber: streams count from 1.
var errNoSuchNumber = errors.New("numbers of dead letters begin with 1; worker dead list has them")

// hasLetters tells in plain words why dead letters cannot be read at all.
func (s *session) hasLetters(ctx context.Context) error {
	return s.ask(ctx, func(ctx context.Context) error {
		_, err := wire.StreamExists(ctx, s.js, s.names.DeadStream())
		return err
	})
}

func printLetter(out io.Writer, l publish.Letter, body []byte, cut bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "letter\t%d\ntenant\t%s\nkind\t%s\nerror\t%s\n", l.Sequence, cli.Printable(l.Tenant), l.Kind, cli.Printable(l.Error))
	if l.Kind == publish.KindUnreadable {
		fmt.Fprintf(table, "stored\t%s\n", l.FailedAt.UTC().Format(time.RFC3339))
		if err := table.Flush(); err != nil {
			return err
		}
		_, err := fmt.Fprintf(out, "\n%s\n", harmless(string(body)))
		return err
	}
	fmt.Fprintf(table, "failed\t%s, after %s and %s\n", l.FailedAt.UTC().Format(time.RFC3339), attempts(l.Attempts), deliveries(l.Deliveries))
	fmt.Fprintf(table, "came from\t%s, number %d\nchunk\t%s\n", cli.Printable(l.OriginSubject), l.OriginSequence, chunkShown(l))
	if l.Usage != nil {
		fmt.Fprintf(table, "used\t%d prompt tokens, %d answer tokens", l.Usage.PromptTokens, l.Usage.CompletionTokens)
		if !l.Usage.Complete() {
			fmt.Fprint(table, ", and what the model server did not report")
		}
		fmt.Fprintln(table)
	}
	for _, trail := range l.Replayed {
		fmt.Fprintf(table, "replayed\t%s\n", trailShown(trail))
	}
	if cut {
		fmt.Fprintf(table, "cut\tthe end of the body was lost\n")
	}
	if err := table.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(out, "\n%s\n", harmless(string(body)))
	return err
}

// trailShown is one value of [wire.HeaderReplayed], with its time as all others are shown.
func trailShown(trail string) string {
	last := strings.LastIndexByte(trail, ' ') + 1
	if at, err := time.Parse(time.RFC3339Nano, trail[last:]); err == nil {
		trail = trail[:last] + at.UTC().Format(time.RFC3339)
	}
	return cli.Printable(trail)
}

func attempts(n int) string { return cli.Count(n, "attempt") }

func deliveries(n int) string {
	if n == 1 {
		return "1 delivery"
	}
	return fmt.Sprintf("%d deliveries", n)
}

// harmless is text without what a terminal would take for a command.
func harmless(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}
