package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/export"
)

type graphCommand struct {
	Documents []string `arg:"" optional:"" name:"document" help:"Only these documents. Default: all of the tenant's."`

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
	session, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer session.close()
	reader, err := session.reader(c.Tenant)
	if err != nil {
		return err
	}
	parts, err := reader.Parts(ctx, c.Documents...)
	if err != nil {
		return err
	}
	if len(parts) == 0 {
		return nothing(c.Tenant, c.Documents)
	}
	return c.Write(streams.Out, extraction.Merge(parts...))
}

// nothing is a failure, not an empty graph: a script would take that for an
// answer.
func nothing(tenant string, documents []string) error {
	if len(documents) == 0 {
		return fmt.Errorf("tenant %s has no results", cli.Printable(tenant))
	}
	return fmt.Errorf("tenant %s has no results of %s", cli.Printable(tenant), cli.Printable(strings.Join(documents, ", ")))
}
