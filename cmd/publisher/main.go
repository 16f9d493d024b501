// Command publisher sends documents to the fleet, says how far they are, and
// fetches the knowledge graph that came of them.
package main

import (
	"context"
	"os"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/complete"
	"github.com/weirkeeper/weirkeeper/internal/cli/manual"
)

const description = `publisher sends documents to a fleet of workers and fetches what they found.

Examples:
  publisher publish --tenant acme --wait report.md notes.txt
  cat report.txt | publisher publish --tenant acme --document report -
  publisher status --tenant acme
  publisher diff --tenant acme --to second
  publisher graph --tenant acme --format dot | dot -Tsvg > graph.svg

Settings are read from flags, then the environment, then --config FILE.
Exit codes: 0 done, 1 failed, 2 refused (command, settings or input),
3 finished but some chunks were dead-lettered, 4 timed out.`

type commands struct {
	Publish publishCommand `cmd:"" help:"Send documents."`
	Status  statusCommand  `cmd:"" help:"Say how far documents are."`
	Graph   graphCommand   `cmd:"" help:"Merge the results into one graph and print it."`
	Diff    diffCommand    `cmd:"" help:"Say what a run over the same documents found that another did not."`
	Version versionCommand `cmd:"" help:"Say which build this is."`

	Completion    complete.Command      `cmd:"" help:"Print the completion script of a shell."`
	Man           manual.Command        `cmd:"" help:"Print the manual page, for man -l or a packager."`
	CompleteWords complete.WordsCommand `cmd:"" hidden:""`
}

type versionCommand struct{}

func (versionCommand) Run(streams cli.Streams) error {
	cli.WriteVersion(streams.Out, "publisher")
	return nil
}

func program(streams cli.Streams) cli.App {
	return cli.App{
		Name:        "publisher",
		Description: description,
		LogLevel:    "warn",
		Groups: []cli.Group{
			{Key: "split", Title: "Splitting:"},
			{Key: "wait", Title: "Waiting:"},
			{Key: "cost", Title: "Cost:"},
			{Key: "nats", Title: "NATS:"},
			{Key: "log", Title: "Operation:"},
		},
		Streams: streams,
	}
}

func main() {
	ctx, stop := cli.Interruptible(context.Background(), func() { os.Exit(cli.ExitFailed) })
	code := program(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}).Run(ctx, os.Args[1:], &commands{})
	stop()
	os.Exit(code)
}
