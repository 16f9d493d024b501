package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/natsconn/natsflags"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

type checkCommand struct {
	engineFlags     `embed:""`
	natsflags.Flags `embed:""`
	storeFlags      `embed:""`

	JSON bool `name:"json" help:"Print JSON, once everything is checked."`

	cli.LogFlags   `embed:""`
	cli.ConfigFile `embed:""`
}

// Help is shown below the summary of the command.
func (checkCommand) Help() string {
	return `Takes the settings of worker run and proves, one line each, that what they name works: NATS and the rights to use it, one call of the model, a limit that
is kept per tenant, a circuit that opens in front of a dead server and recovers, a permanent error that is not retried. A line that failed says what to do.

It can be run beside a working fleet: it takes no work, calls the model once, outside the tenants' limits and the circuit, proves limit and circuit on names of
its own, and removes those again. Streams and buckets that are missing are reported and left to the first worker.

The exit code is 2 if a check failed that trying again will not mend, of the kind that worker run refuses to start for: a stream, bucket or consumer that does not
fit, credentials that are not accepted, a file that is not there. It is 1 if something else failed.`
}

func (c *checkCommand) Run(ctx context.Context, streams cli.Streams) error {
	if err := c.check(); err != nil {
		return cli.Usage(err)
	}
	names, err := c.Names()
	if err != nil {
		return err
	}
	provider, closeProvider, err := newProvider(c.engineFlags, c.Logger(streams.Err))
	if err != nil {
		return err
	}
	defer closeProvider()
	up := &checkup{flags: c, names: names, provider: provider, logger: c.Logger(streams.Err), probe: wire.NewProbe(), pace: pace{time.Now, sleep}}
	defer up.close()
	out := streams.Out
	if c.JSON {
		out = io.Discard
	}
	findings, err := examine(ctx, up.checks(), out)
	if err != nil {
		return err
	}
	failed := 0
	for _, f := range findings {
		if f.Status == statusFailed {
			failed++
		}
	}
	if c.JSON {
		if err := cli.WriteJSON(streams.Out, report{OK: failed == 0, Checks: findings}); err != nil {
			return err
		}
	}
	if failed > 0 {
		err := fmt.Errorf("%d of %s failed", failed, cli.Count(len(findings), "check"))
		if slices.ContainsFunc(findings, func(f finding) bool { return f.settings }) {
			return cli.Usage(err)
		}
		return err
	}
	return nil
}

// report is what check prints with --json.
type report struct {
	OK     bool      `json:"ok"`
	Checks []finding `json:"checks"`
}

// finding is what came of one check.
type finding struct {
	Check  string `json:"check"`
	Status string `json:"status"` // ok, failed or skipped
	Detail string `json:"detail"`
	Next   string `json:"next,omitempty"` // what to do about a failure
	TookMS int64  `json:"took_ms"`

	settings bool // only other settings can cure the failure
}

const (
	statusOK      = "ok"
	statusFailed  = "failed"
	statusSkipped = "skipped"
)

// check is one thing to find out.
type check struct {
	name  string
	needs string // the check without which this one says nothing; "" for none
	run   func(context.Context) (detail string, err error)
}

// advised is a failure with what to do about it.
type advised struct {
	err  error
	next string
}

func (a *advised) Error() string { return a.err.Error() }
func (a *advised) Unwrap() error { return a.err }

func advise(err error, next string) error {
	if err == nil {
		return nil
	}
	return &advised{err, next}
}

// examine makes one check after another and writes a line about each as soon as
// it is known. The error is the context's, or the output's.
func examine(ctx context.Context, checks []check, out io.Writer) ([]finding, error) {
	var findings []finding
	passed := map[string]bool{"": true}
	for _, c := range checks {
		f := finding{Check: c.name, Status: statusSkipped, Detail: "says nothing without " + c.needs}
		if passed[c.needs] {
			begun := time.Now()
			detail, err := c.run(ctx)
			if ctx.Err() != nil {
				return findings, ctx.Err()
			}
			f = judge(c.name, detail, err)
			f.TookMS = time.Since(begun).Milliseconds()
			passed[c.name] = err == nil
		}
		findings = append(findings, f)
		line := fmt.Sprintf("%-7s  %-11s  %s", f.Status, f.Check, f.Detail)
		if f.Next != "" {
			line += "; next: " + f.Next
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return findings, err
		}
	}
	return findings, nil
}

// longestDetail has room for all rights that there are.
const longestDetail = 8 << 10

func judge(name, detail string, err error) finding {
	if err == nil {
		return finding{Check: name, Status: statusOK, Detail: wire.CleanText(detail, longestDetail)}
	}
	f := finding{Check: name, Status: statusFailed, Detail: wire.CleanText(err.Error(), longestDetail)}
	f.settings = cli.ExitCode(unfit(err)) == cli.ExitUsage
	if a, ok := errors.AsType[*advised](err); ok {
		f.Next = a.next
	}
	return f
}
