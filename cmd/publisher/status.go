package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/publish"
)

type statusCommand struct {
	Document string `arg:"" optional:"" help:"Only this document. Default: all of the tenant's."`

	connectionFlags `embed:""`

	JSON bool `name:"json" help:"Print JSON."`
}

// Help is shown below the summary of the command.
func (statusCommand) Help() string {
	return `What is known of a document comes from its results and dead letters: as long as none of its chunks is finished it shows only in the number of chunks
that wait. Chunks in work count as waiting.`
}

func (c *statusCommand) Run(ctx context.Context, streams cli.Streams) error {
	session, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer session.close()
	reader, err := session.reader(c.Tenant)
	if err != nil {
		return err
	}
	var documents []string
	if c.Document != "" {
		documents = append(documents, c.Document)
	}
	status, err := reader.Status(ctx, documents...)
	if err != nil {
		return err
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, status)
	}
	return printStatus(streams.Out, status)
}

// documentWidth keeps a table with a very long document id readable; --json has
// the whole id. The ids that are made of texts are far shorter.
const documentWidth = 64

func printStatus(out io.Writer, status publish.Status) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "DOCUMENT\tCHUNKS\tDONE\tWAITING\tDEAD\tPROMPT TOKENS\tANSWER TOKENS")
	for _, d := range status.Documents {
		fmt.Fprintf(table, "%s\t%d\t%d\t%d\t%s\t%d\t%d\n",
			cli.Clipped(d.DocumentID, documentWidth), d.Chunks, d.Done, d.Waiting, kinds(d.Dead), d.Usage.PromptTokens, d.Usage.CompletionTokens)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\ntenant %s: %s waiting or in work, %s not split yet\n",
		cli.Printable(status.Tenant), cli.Count(int(status.WaitingChunks), "chunk"), cli.Count(int(status.WaitingDocuments), "document"))
	if len(status.Unreadable) > 0 {
		fmt.Fprintf(out, "dead letters of no document: %s\n", kinds(status.Unreadable))
	}
	return nil
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
