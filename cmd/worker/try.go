package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/consumer"
	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/deliver"
	"github.com/weirkeeper/weirkeeper/internal/cli/export"
	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	// tryTenant owns what `worker try` extracts.
	tryTenant = "try"
	// tryDrain is enough for the last pull to end; chunks that are still in hand
	// belong to a trial that was given up.
	tryDrain = 2 * time.Second
)

type tryCommand struct {
	Files []string `arg:"" optional:"" placeholder:"FILE" help:"Files and folders to extract: .txt, .md, .html, .pdf, .docx and .epub files are one document each, .jsonl has one document per line. - is one text from standard input, and the default."`

	export.Flags `embed:""`

	Timeout time.Duration `placeholder:"DURATION" help:"Longest time to wait for the results, such as 10m; then exit with 4. Default: for ever."`

	deliver.SplitFlags `embed:""`

	engineFlags    `embed:""`
	cli.LogFlags   `embed:""`
	cli.ConfigFile `embed:""`
}

// Help is shown below the summary of the command.
func (tryCommand) Help() string {
	return `Starts a NATS server, a publisher and a worker in this process, sends the files through all of them, prints the merged graph and removes everything
again. The offline provider extracts, which finds names and simple relations in English text, unless OPENAI_BASE_URL, an API key or --provider says
otherwise.`
}

func (c *tryCommand) Run(ctx context.Context, streams cli.Streams) error {
	plan, closeInput, err := c.prepare(ctx, streams)
	if err != nil {
		return err
	}
	defer closeInput()
	logger := c.Logger(streams.Err)
	provider, closeProvider, err := newProvider(c.engineFlags, logger)
	if err != nil {
		return err
	}
	defer closeProvider()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{InProcess: true, Logger: logger})
	if err != nil {
		return err
	}
	defer func() { _ = server.Close() }()
	conn, err := server.Connect(natsconn.Options{Name: "weirkeeper try", Logger: logger})
	if err != nil {
		return err
	}
	defer conn.Close()
	js, err := jetstream.New(conn)
	if err != nil {
		return err
	}
	if err := natsflags.Ensure(ctx, js, plan.Names()); err != nil {
		return err
	}
	shared := memoryStores()
	defer shared.close()
	config := consumer.Config{Namespace: plan.Names().Namespace(), DrainTimeout: tryDrain, Logger: logger}
	work, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	engine, err := newEngine(js, plan.Names(), shared, provider, c.engineFlags, config, stopWhenOpen(stop), nil)
	if err != nil {
		return err
	}
	defer engine.close()
	fmt.Fprintf(streams.Err, "extracting with %s%s\n", provider.Model(), c.limitNote())

	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if err := engine.worker.Run(work); err != nil {
			stop(err)
		}
	}()
	defer func() {
		stop(nil)
		<-stopped
	}()
	return c.extract(work, streams, js, plan)
}

// stopWhenOpen ends the trial when the circuit opens: whoever tries a file sits
// in front of it, and a wrong key or address should look like one at once.
func stopWhenOpen(stop context.CancelCauseFunc) func(resilience.Change) {
	return func(c resilience.Change) {
		if c.To == resilience.Open {
			stop(fmt.Errorf("the model server cannot be used: %s", wire.CleanError(c.Reason)))
		}
	}
}

// prepare checks flags and files before anything is started.
func (c *tryCommand) prepare(ctx context.Context, streams cli.Streams) (plan *publish.Plan, closeInput func(), err error) {
	if c.Timeout < 0 {
		return nil, nil, cli.Usage(errors.New("--timeout must be positive"))
	}
	if err := c.Flags.Check(); err != nil {
		return nil, nil, err
	}
	if c.openai() && !c.RPM.given {
		// Trying a file is not running a fleet: nobody else shares the allowance.
		if err := c.RPM.UnmarshalText([]byte("unlimited")); err != nil {
			return nil, nil, err
		}
	}
	if err := c.check(); err != nil {
		return nil, nil, cli.Usage(err)
	}
	splitter, err := c.Splitter()
	if err != nil {
		return nil, nil, err
	}
	names, err := wire.NewNames("")
	if err != nil {
		return nil, nil, err
	}
	input, err := deliver.Open(ctx, c.Files, streams.In)
	if err != nil {
		return nil, nil, err
	}
	plan, err = input.Plan(publish.PlanConfig{Names: names, Tenant: tryTenant, Splitter: splitter}, streams.Err)
	if err != nil {
		input.Close()
		return nil, nil, err
	}
	return plan, input.Close, nil
}

// limitNote says how fast the model server will be asked.
func (c *tryCommand) limitNote() string {
	limit := c.limits().Requests
	switch {
	case !c.openai():
		return ""
	case limit == resilience.Unlimited:
		return ", without a limit (set one with --rpm)"
	default:
		return fmt.Sprintf(", at most %d calls per %s", limit, c.Window)
	}
}

// extract sends the plan, waits, and prints what was found, also when some
// chunks were lost or the time is up.
func (c *tryCommand) extract(ctx context.Context, streams cli.Streams, js jetstream.JetStream, plan *publish.Plan) error {
	publisher, err := publish.New(js, plan)
	if err != nil {
		return err
	}
	_, outcome := deliver.Run(ctx, streams.Err, publisher, deliver.Order{Wait: true, Timeout: c.Timeout})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	reader, err := publish.NewReader(js, plan.Names(), tryTenant)
	if err != nil {
		return err
	}
	parts, err := reader.Parts(ctx)
	if err != nil {
		return err
	}
	if len(parts) > 0 || outcome == nil {
		if err := c.Write(streams.Out, extraction.Merge(parts...)); err != nil {
			return err
		}
	}
	return outcome
}
