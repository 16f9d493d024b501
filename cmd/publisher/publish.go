package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
	"github.com/weirkeeper/weirkeeper/internal/telemetry"
	"github.com/weirkeeper/weirkeeper/internal/telemetry/send"
	"github.com/weirkeeper/weirkeeper/publish"
)

type publishCommand struct {
	Files []string `arg:"" optional:"" placeholder:"FILE" help:"Files and folders to send: .txt, .md, .html, .pdf, .docx and .epub files are one document each, .jsonl has one document per line. - is one text from standard input, and the default."`

	Document string        `placeholder:"ID" help:"Id of the document, for a single one. Default: made of its text, so that the same text is the same document."`
	InRun    string        `name:"run" placeholder:"NAME" help:"Keep the results apart from those of other runs over the same documents, such as with another model. Letters, digits, - and _. See publisher diff."`
	Wait     bool          `group:"wait" help:"Wait until every chunk has a result or a dead letter."`
	Timeout  time.Duration `group:"wait" placeholder:"DURATION" help:"Longest time to wait, such as 10m; then exit with 4. Default: for ever."`
	DryRun   bool          `help:"Check and split, print what would be sent, send nothing. Needs no server."`
	JSON     bool          `name:"json" help:"Print the report as JSON."`

	deliver.SplitFlags `embed:""`
	telemetry.Flags    `embed:""`
	connectionFlags    `embed:""`
}

// Help is shown below the summary of the command.
func (publishCommand) Help() string {
	return `Everything is checked before anything is sent. Sending is idempotent: a chunk that has a result is not sent again, a chunk that is waiting is not
stored twice. So an interrupted run is continued by the same command.

A file that is named and cannot be read is an error, and nothing is sent. In a folder such a file is left out: a line on standard error says why, the rest is
sent, and the exit code is 2. Hidden files are passed over, links are followed.

Standard output has one line per document: its id, its chunks and where it came from.`
}

// report is what publish prints with --json.
type report struct {
	Tenant    string                    `json:"tenant"`
	DryRun    bool                      `json:"dry_run"`
	Documents []publish.PlannedDocument `json:"documents"`
	Refused   []refused                 `json:"refused"`
	publish.Counts
	DeadLetters []publish.Dead `json:"dead_letters"`
}

// refused is a file of a folder that was left out.
type refused struct {
	Source string `json:"source"`
	Line   int    `json:"line,omitempty"`
	Reason string `json:"reason"`
}

func (c *publishCommand) Run(ctx context.Context, streams cli.Streams) error {
	if c.Timeout < 0 {
		return cli.Usage(errors.New("--timeout must be positive"))
	}
	if c.Timeout > 0 && !c.Wait {
		return cli.Usage(errors.New("--timeout goes with --wait"))
	}
	config, err := c.planConfig()
	if err != nil {
		return err
	}
	input, err := deliver.Open(ctx, c.Files, streams.In)
	if err != nil {
		return err
	}
	defer input.Close()
	if c.DryRun {
		plan, err := input.Plan(config, streams.Err)
		if err != nil {
			return err
		}
		if err := c.print(streams.Out, plan, deliver.Outcome{Counts: publish.Counts{Chunks: plan.Chunks}}); err != nil {
			return err
		}
		return deliver.LeftOut(plan)
	}
	session, err := c.open(ctx, streams)
	if err != nil {
		return err
	}
	defer session.close()
	config.MaxPayload = session.conn.MaxPayload()
	plan, err := input.Plan(config, streams.Err)
	if err != nil {
		return err
	}
	return c.send(ctx, streams, session, plan)
}

func (c *publishCommand) planConfig() (publish.PlanConfig, error) {
	names, err := c.Names()
	if err != nil {
		return publish.PlanConfig{}, err
	}
	splitter, err := c.Splitter()
	if err != nil {
		return publish.PlanConfig{}, err
	}
	return publish.PlanConfig{Names: names, Tenant: c.Tenant, Splitter: splitter, DocumentID: c.Document, Run: c.InRun}, nil
}

func (c *publishCommand) send(ctx context.Context, streams cli.Streams, session *session, plan *publish.Plan) error {
	publisher, err := publish.New(session.js, plan)
	if err != nil {
		return deliver.Refused(err)
	}
	traced, err := telemetry.Start(ctx, telemetry.Config{
		Service: "weirkeeper-publisher", Instance: cli.Instance("publisher"), Build: telemetry.Build(cli.ReadBuild()),
		Endpoint: c.OTLPEndpoint, Traces: true, Logger: c.Logger(streams.Err),
	})
	if err != nil {
		return cli.Usage(err)
	}
	defer traced.Stop()
	if traced.Traces() {
		publisher.Observe(send.New(traced, plan.Names(), c.Tenant))
	}
	outcome, err := deliver.Run(ctx, streams.Err, publisher, deliver.Order{Wait: c.Wait, Timeout: c.Timeout})
	if printErr := c.print(streams.Out, plan, outcome); printErr != nil {
		return printErr
	}
	if cli.ExitCode(err) == cli.ExitTimeout {
		session.noteStanding(ctx, streams.Err, c.Tenant)
	}
	return err
}

func (c *publishCommand) print(out io.Writer, plan *publish.Plan, outcome deliver.Outcome) error {
	if c.JSON {
		dead, left := append([]publish.Dead{}, outcome.Dead...), []refused{} // never null
		for _, r := range plan.Refused {
			left = append(left, refused{r.Source, r.Line, r.Reason})
		}
		return cli.WriteJSON(out, report{Tenant: c.Tenant, DryRun: c.DryRun, Documents: plan.Documents, Refused: left, Counts: outcome.Counts, DeadLetters: dead})
	}
	for _, d := range plan.Documents {
		place := d.Source
		if d.Line > 0 {
			place = fmt.Sprintf("%s:%d", d.Source, d.Line)
		}
		if _, err := fmt.Fprintf(out, "%s\t%d\t%s\n", cli.Printable(d.ID), d.Chunks, cli.Printable(place)); err != nil {
			return err
		}
	}
	return nil
}
