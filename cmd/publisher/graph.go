package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/export"
)

type graphCommand struct {
	Documents []string `arg:"" optional:"" name:"document" help:"Only these documents. Default: all of the tenant's."`

	InRun string `name:"run" placeholder:"NAME" help:"The results of this run. Default: those of what was published without one."`

	connectionFlags `embed:""`
	export.Flags    `embed:""`
}

// Help is shown below the summary of the command.
func (graphCommand) Help() string {
	return `Entities of the same name and type are one, with every place in the documents that speaks of them. What is still waiting or was dead-lettered is not in
the graph: see publisher status.`
}

func (c *graphCommand) Run(ctx context.Context, streams cli.Streams) error {
	if err := c.Check(); err != nil {
		return err
	}
	s, reader, err := c.openReading(ctx, streams)
	if err != nil {
		return err
	}
	defer s.close()
	parts, err := reader.RunParts(ctx, c.InRun, c.Documents...)
	if err != nil {
		return err
	}
	tellStrays(streams.Err, s.names, reader.Strays())
	if len(parts) == 0 {
		return nothing(c.Tenant, c.InRun, c.Documents)
	}
	return c.Write(streams.Out, extraction.Merge(parts...))
}

// nothing is a failure, not an empty graph: a script would take that for an
// answer.
func nothing(tenant, run string, documents []string) error {
	message := fmt.Sprintf("tenant %s has no results", cli.Printable(tenant))
	if run != "" {
		message += " in run " + cli.Printable(run)
	}
	if len(documents) > 0 {
		message += " of " + cli.Printable(strings.Join(documents, ", "))
	}
	return errors.New(message)
}
