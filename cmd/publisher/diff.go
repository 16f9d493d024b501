package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/publish"
)

type diffCommand struct {
	Documents []string `arg:"" optional:"" name:"document" help:"Only these documents. Default: all that are in both runs."`

	From string `placeholder:"RUN" help:"The run to compare with. Default: what was published without a run."`
	To   string `placeholder:"RUN" help:"The run that is looked at. Default: what was published without a run."`
	JSON bool   `name:"json" help:"Print JSON."`

	connectionFlags `embed:""`
}

// Help is shown below the summary of the command.
func (diffCommand) Help() string {
	return `A line with + is an entity or a relationship that only the second run found, a line with - one that only the first found. The same name with another type is
both. Only chunks that have a result in both runs are compared: what is still waiting or was dead-lettered has not disappeared. A document that
was split differently for the second run, since with other sizes, is named and not compared.

  publisher publish --tenant acme --wait report.md              (with one model)
  publisher publish --tenant acme --wait --run other report.md  (when the workers ask another one)
  publisher diff --tenant acme --to other`
}

func (c *diffCommand) Run(ctx context.Context, streams cli.Streams) error {
	if c.From == c.To {
		return cli.Usage(errors.New("--from and --to are the same run: name another one"))
	}
	s, reader, err := c.openReading(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	compared, err := reader.Compare(ctx, c.From, c.To, c.Documents...)
	if err != nil {
		return err
	}
	tellStrays(streams.Err, s.names, reader.Strays())
	if compared.Chunks == 0 && len(compared.SplitDifferently) > 0 {
		return fmt.Errorf("nothing to compare: split differently: %s", documentList(compared.SplitDifferently))
	}
	if compared.Chunks == 0 {
		return fmt.Errorf("nothing to compare: no chunk has a result both in %s and in %s", runName(c.From), runName(c.To))
	}
	if c.JSON {
		return cli.WriteJSON(streams.Out, struct {
			Tenant string `json:"tenant"`
			publish.Comparison
		}{c.Tenant, compared})
	}
	return printDifference(streams.Out, compared)
}

func runName(run string) string {
	if run == "" {
		return "what was published without a run"
	}
	return "run " + cli.Printable(run)
}

func printDifference(out io.Writer, c publish.Comparison) error {
	var b strings.Builder
	fmt.Fprintf(&b, "- %s: %s\n+ %s: %s\n", runName(c.From.Run), strings.Join(c.From.Models, ", "), runName(c.To.Run), strings.Join(c.To.Models, ", "))
	fmt.Fprintf(&b, "%s of %s in both", cli.Count(c.Chunks, "chunk"), cli.Count(c.Documents, "document"))
	if c.From.ChunksOnlyHere+c.To.ChunksOnlyHere > 0 {
		fmt.Fprintf(&b, "; not compared: %d only in the first, %d only in the second", c.From.ChunksOnlyHere, c.To.ChunksOnlyHere)
	}
	if len(c.SplitDifferently) > 0 {
		fmt.Fprintf(&b, "\nnot compared, since split differently: %s", documentList(c.SplitDifferently))
	}
	b.WriteString("\n\n")
	writeEntities(&b, "-", c.Entities.Disappeared)
	writeEntities(&b, "+", c.Entities.Appeared)
	writeRelationships(&b, "-", c.Relationships.Disappeared, c.Before)
	writeRelationships(&b, "+", c.Relationships.Appeared, c.After)
	fmt.Fprintf(&b, "entities: %d kept, %d disappeared, %d appeared\n", c.Entities.Kept, len(c.Entities.Disappeared), len(c.Entities.Appeared))
	fmt.Fprintf(&b, "relationships: %d kept, %d disappeared, %d appeared\n", c.Relationships.Kept, len(c.Relationships.Disappeared), len(c.Relationships.Appeared))
	_, err := io.WriteString(out, b.String())
	return err
}

func documentList(ids []string) string {
	const most = 10
	printed := make([]string, 0, most)
	for _, id := range ids[:min(len(ids), most)] {
		printed = append(printed, cli.Printable(id))
	}
	if more := len(ids) - most; more > 0 {
		printed = append(printed, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(printed, ", ")
}

func writeEntities(b *strings.Builder, sign string, entities []extraction.GraphEntity) {
	for _, e := range entities {
		fmt.Fprintf(b, "%s %s (%s)\n", sign, cli.Printable(e.Name), e.Type)
	}
}

// writeRelationships names the ends as the graph of their run does.
func writeRelationships(b *strings.Builder, sign string, relationships []extraction.GraphRelationship, g extraction.Graph) {
	names := make(map[string]string, len(g.Entities))
	for _, e := range g.Entities {
		names[e.ID] = e.Name
	}
	for _, r := range relationships {
		fmt.Fprintf(b, "%s %s --%s--> %s\n", sign, cli.Printable(names[r.SourceID]), r.Type, cli.Printable(names[r.TargetID]))
	}
}
