// Command worker turns chunks of text into a knowledge graph: it takes them
// from NATS, asks a model about each, and stores what it found, never sending
// the model more than it can take.
package main

import (
	"context"
	"os"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/complete"
	"github.com/weirkeeper/weirkeeper/internal/cli/manual"
)

const description = `worker turns text into a knowledge graph by asking a model about it, chunk by chunk.

Examples:
  worker try README.md                       no server, no model: print the graph of a file
  worker run --provider offline --embedded   a worker and a NATS server in one process
  OPENAI_BASE_URL=http://127.0.0.1:11434/v1 worker run --model qwen3 --rpm 60
                                             join the fleet on nats://127.0.0.1:4222
  worker check --provider offline            prove that all of it works, line by line
  worker top                                 watch the fleet

"worker" alone is "worker run". Every worker that uses the same NATS server and
namespace is part of one fleet and shares its limits and its circuit.

Settings are read from flags, then the environment, then --config FILE.
Exit codes: 0 done, 1 failed, 2 refused (command, settings or input),
3 finished but some chunks were dead-lettered, 4 timed out.`

type commands struct {
	Run     runCommand      `cmd:"" default:"withargs" help:"Work until told to stop (the default)."`
	Try     tryCommand      `cmd:"" set:"loglevel=warn" help:"Extract files here and now, print the graph and exit. Needs no server."`
	Check   checkCommand    `cmd:"" set:"loglevel=error" help:"Prove that NATS, the model, limits, circuit and retries work, one line each."`
	Top     topCommand      `cmd:"" set:"loglevel=error" help:"Watch the fleet: tenants, backlog, allowances, workers, circuits."`
	Setup   setupCommand    `cmd:"" set:"loglevel=error" help:"Create the streams and buckets that are missing, for workers that may not."`
	Circuit circuitCommands `cmd:"" set:"loglevel=error" help:"See the fleet's circuits, open and close them."`
	Limits  limitsCommands  `cmd:"" set:"loglevel=error" help:"See and set the limits of single tenants."`
	Pause   pauseCommand    `cmd:"" set:"loglevel=error" help:"Pause a tenant or the whole fleet for some time, or list what is paused."`
	Resume  resumeCommand   `cmd:"" set:"loglevel=error" help:"Go on before the time of a pause is over."`
	Dead    deadCommands    `cmd:"" set:"loglevel=error" help:"See what was set aside, and send it again."`
	Domains domainsCommands `cmd:"" set:"loglevel=error" help:"See what is looked for in which kind of document, and check files of your own."`
	Version versionCommand  `cmd:"" help:"Say which build this is."`

	Completion    complete.Command      `cmd:"" help:"Print the completion script of a shell."`
	Man           manual.Command        `cmd:"" help:"Print the manual page, for man -l or a packager."`
	CompleteWords complete.WordsCommand `cmd:"" hidden:""`
}

type versionCommand struct{}

func (versionCommand) Run(streams cli.Streams) error {
	cli.WriteVersion(streams.Out, "worker")
	return nil
}

func program(streams cli.Streams) cli.App {
	return cli.App{
		Name:        "worker",
		Description: description,
		LogLevel:    "info",
		Groups:      groups,
		Streams:     streams,
	}
}

func main() {
	ctx, stop := cli.Interruptible(context.Background(), func() { os.Exit(cli.ExitFailed) })
	code := program(cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}).Run(ctx, os.Args[1:], &commands{})
	stop()
	os.Exit(code)
}
