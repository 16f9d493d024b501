package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

type statusCommand struct {
	Document string `arg:"" optional:"" help:"Only this document. Default: all of the tenant's."`

	connectionFlags `embed:""`

	InRun   string        `name:"run" placeholder:"NAME" help:"Only what was published in this run. Default: everything."`
	JSON    bool          `name:"json" help:"Print JSON."`
	Watch   bool          `group:"wait" help:"Show progress on standard error until everything is done, then print the status. Exit with 3 if anything was dead-lettered."`
	Timeout time.Duration `group:"wait" placeholder:"DURATION" help:"Longest time to watch, such as 10m; then exit with 4. Default: for ever."`

	PriceIn  *float64 `group:"cost" placeholder:"MONEY" help:"What a million prompt tokens cost, in any currency. With --price-out the cost of the tokens is shown."`
	PriceOut *float64 `group:"cost" placeholder:"MONEY" help:"What a million answer tokens cost, in the same currency."`

	prices *publish.Prices // nil if the flags ask for no cost
}

// Help is shown below the summary of the command.
func (statusCommand) Help() string {
	return `What is known of a document comes from its results and dead letters: as long as none of its chunks is finished it shows only in the number of chunks
that wait for the tenant. Chunks in work count as waiting. The last line says what keeps them waiting: a pause, an open circuit, a used up allowance, or that no worker runs.

--watch ends when nothing of the tenant waits any more (of a document: when all of its chunks are settled). On a terminal it fills the screen, elsewhere it writes a
line when there is news.

Tokens are what the model server reported with the results, and with the last call of each chunk that is dead-lettered, if it was answered. What failed attempts
before used is not known, and so not in the cost; results whose server reported nothing are counted apart.`
}

// readPrices returns nil if the flags ask for no cost.
func (c *statusCommand) readPrices() (*publish.Prices, error) {
	switch {
	case c.PriceIn == nil && c.PriceOut == nil:
		return nil, nil
	case c.PriceIn == nil || c.PriceOut == nil:
		return nil, cli.Usage(errors.New("--price-in and --price-out go together; 0 is a price"))
	}
	prices := &publish.Prices{In: *c.PriceIn, Out: *c.PriceOut}
	if prices.Check() != nil {
		return nil, cli.Usage(errors.New("--price-in and --price-out must be 0 or more"))
	}
	return prices, nil
}

func (c *statusCommand) filter() publish.StatusFilter {
	filter := publish.StatusFilter{Run: c.InRun}
	if c.Document != "" {
		filter.Documents = []string{c.Document}
	}
	return filter
}

func (c *statusCommand) check() (err error) {
	if c.prices, err = c.readPrices(); err != nil {
		return err
	}
	if c.InRun != "" {
		if err := wire.CheckRun(c.InRun); err != nil {
			return cli.Usage(fmt.Errorf("--run: %w", err))
		}
	}
	switch {
	case c.Timeout < 0:
		return cli.Usage(errors.New("--timeout must not be negative"))
	case c.Timeout > 0 && !c.Watch:
		return cli.Usage(errors.New("--timeout goes with --watch"))
	}
	return nil
}

func (c *statusCommand) Run(ctx context.Context, streams cli.Streams) error {
	if err := c.check(); err != nil {
		return err
	}
	quiet := streams
	if c.Watch && screen.Possible(streams.Err, os.LookupEnv) {
		quiet.Err = io.Discard // what is wrong is on the screen
	}
	s, reader, err := c.openReading(ctx, quiet)
	if err != nil {
		return err
	}
	defer s.close()
	if c.Watch {
		defer func() { tellStrays(streams.Err, s.names, reader.Strays()) }()
		return c.watch(ctx, streams, s, reader)
	}
	status, err := reader.StatusOf(ctx, c.filter())
	if err != nil {
		return err
	}
	tellStrays(streams.Err, s.names, reader.Strays())
	if c.prices != nil {
		status.AddCost(*c.prices)
	}
	fleet, err := s.overview(c.Tenant)
	if err != nil {
		return err
	}
	now, err := readStanding(ctx, fleet)
	if err != nil && ctx.Err() == nil {
		fmt.Fprintf(streams.Err, "what keeps chunks waiting is not known: %s\n", cli.Printable(err.Error()))
	}
	return c.print(streams.Out, status, now)
}

func (c *statusCommand) print(out io.Writer, status publish.Status, now *standing) error {
	if c.JSON {
		return cli.WriteJSON(out, struct {
			publish.Status
			Standing *standing `json:"standing,omitempty"` // what the fleet lets the tenant do now
		}{status, now})
	}
	if unknown := c.unknown(status); unknown != "" {
		fmt.Fprintln(out, unknown)
	}
	if err := printStatus(out, status); err != nil || now == nil {
		return err
	}
	if why := now.words(status.WaitingChunks > 0); why != "" {
		_, err := fmt.Fprintln(out, why)
		return err
	}
	return nil
}

// unknown says so if nothing is known of what was asked for, else "".
func (c *statusCommand) unknown(s publish.Status) string {
	wait := cli.Count(int(s.WaitingChunks), "chunk")
	switch queued := s.WaitingChunks+s.WaitingDocuments > 0; {
	case len(s.Documents) > 0:
		return ""
	case c.Document != "" && s.WaitingChunks > 0:
		return fmt.Sprintf("%s: nothing done yet, %s wait for the tenant", cli.Printable(c.Document), wait)
	case c.Document != "" && !queued:
		return cli.Printable(c.Document) + ": nothing is known of this document, and nothing waits for the tenant"
	case c.InRun == "" && !queued && len(s.Unreadable) == 0:
		return "nothing is known of tenant " + cli.Printable(s.Tenant) + ": it has no results and no dead letters, and nothing waits"
	}
	return ""
}

// documentWidth keeps a table with a very long document id readable; --json has
// the whole id. The ids that are made of texts are far shorter.
const documentWidth = 64

func printStatus(out io.Writer, status publish.Status) error {
	if len(status.Documents) > 0 {
		if err := printDocuments(out, status); err != nil {
			return err
		}
	}
	if n := status.Total.UsageIncomplete; n > 0 {
		fmt.Fprintf(out, "\n+ more was used: of %s the model server did not report all tokens\n", cli.Count(n, "result"))
	}
	fmt.Fprintf(out, "\ntenant %s: %s waiting or in work, %s not split yet\n",
		cli.Printable(status.Tenant), cli.Count(int(status.WaitingChunks), "chunk"), cli.Count(int(status.WaitingDocuments), "document"))
	if len(status.Unreadable) > 0 {
		fmt.Fprintf(out, "dead letters of no document: %s\n", kinds(status.Unreadable))
	}
	return nil
}

func printDocuments(out io.Writer, status publish.Status) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	header := "DOCUMENT\tCHUNKS\tDONE\tWAITING\tDEAD\tPROMPT TOKENS\tANSWER TOKENS"
	if status.Total.Cost != nil {
		header += "\tCOST"
	}
	fmt.Fprintln(table, header)
	for _, d := range status.Documents {
		printProgress(table, cli.Clipped(d.DocumentID, documentWidth), d.Progress)
	}
	if len(status.Documents) > 1 {
		printProgress(table, "total", status.Total)
	}
	return table.Flush()
}

// printProgress writes one line. A + is beside what is only known in part, and a
// question mark where nothing is known.
func printProgress(out io.Writer, name string, p publish.Progress) {
	more := ""
	if p.UsageIncomplete > 0 {
		more = "+"
	}
	number := func(known bool, format string, value any) string {
		if !known && more != "" {
			return "?"
		}
		return fmt.Sprintf(format, value) + more
	}
	in, answer := p.Usage.PromptTokens, p.Usage.CompletionTokens
	line := fmt.Sprintf("%s\t%d\t%d\t%d\t%s\t%s\t%s", name, p.Chunks, p.Done, p.Waiting, kinds(p.Dead),
		number(in > 0, "%d", in), number(answer > 0, "%d", answer))
	if p.Cost != nil {
		line += "\t" + number(in > 0 || answer > 0, "%.4f", *p.Cost)
	}
	fmt.Fprintln(out, line)
}

// kinds writes a count per kind of dead letter: "3 (malformed 2, refused 1)".
func kinds(byKind map[string]int) string {
	if len(byKind) == 0 {
		return "0"
	}
	total := 0
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(byKind)) {
		total += byKind[kind]
		parts = append(parts, fmt.Sprintf("%s %d", kind, byKind[kind]))
	}
	return fmt.Sprintf("%d (%s)", total, strings.Join(parts, ", "))
}
