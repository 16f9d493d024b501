package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
)

type topCommand struct {
	Interval time.Duration `default:"2s" placeholder:"DURATION" help:"How often to look; at least 200ms."`
	Once     bool          `help:"Look once, print it as plain lines, and end."`
	Sort     topOrder      `default:"waiting" enum:"waiting,used,wait,flight,results,dead,name" help:"What tenants are sorted by at first: waiting, used, wait, flight, results, dead or name."`
	Filter   string        `placeholder:"TEXT" help:"Only tenants that have this in their name, in either case."`
	Tenants  int           `default:"20" placeholder:"N" help:"How many tenants plain lines list at most. The screen and --json have up to 1000."`

	operatorFlags `embed:""`
}

// Help is shown below the summary of the command.
func (topCommand) Help() string {
	return `On a terminal the whole screen is used; q ends it, ? tells of the other keys, and l of the columns. Elsewhere, and with --once, plain lines are written, a block for each look,
and with --json one JSON object on a line for each look, as /api/fleet of a worker has it.

What is not known is -, or null. Of a tenant's wait the reason is limit (its allowance is used up), cooling (the model server has asked for less), paused, or
circuit (that of every worker is open). The columns, as far as there is room for them:

    ` + strings.Join(legend(), "\n    ")
}

const leastInterval = 200 * time.Millisecond

func (c *topCommand) Run(ctx context.Context, streams cli.Streams) error {
	switch {
	case c.Interval < leastInterval:
		return cli.Usage(fmt.Errorf("--interval must be at least %s", leastInterval))
	case c.Tenants < 0:
		return cli.Usage(errors.New("--tenants must not be negative"))
	}
	live := !c.JSON && !c.Once && screen.Possible(streams.Out, os.LookupEnv)
	quiet := streams
	if live {
		quiet.Err = io.Discard // what is wrong is on the screen
	}
	s, err := c.open(ctx, quiet)
	if err != nil {
		return err
	}
	defer s.close()
	reader, err := overview.NewReader(overview.Config{JetStream: s.js, Names: s.names})
	if err != nil {
		return err
	}
	view := newTopView(s.names.Namespace(), c.Sort, c.Filter)
	if live {
		return c.live(ctx, streams, reader, view)
	}
	return c.plain(ctx, streams, reader, view)
}

// plain writes a block for each look. One that fails costs a line on standard error.
func (c *topCommand) plain(ctx context.Context, streams cli.Streams, reader *overview.Reader, view *topView) error {
	for {
		fleet, err := look(ctx, reader)
		switch {
		case ctx.Err() != nil:
			return nil // told to stop
		case err != nil && c.Once:
			return err
		case err != nil:
			fmt.Fprintf(streams.Err, "%s\n", err)
		case c.JSON:
			encoder := json.NewEncoder(streams.Out)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(fleet); err != nil {
				return err
			}
		default:
			view.take(fleet)
			if _, err := io.WriteString(streams.Out, view.block(c.Tenants)); err != nil {
				return err
			}
		}
		if c.Once {
			return nil
		}
		select {
		case <-time.After(c.Interval):
		case <-ctx.Done():
			return nil
		}
	}
}

// lookTimeout is how long one look may take before it has failed.
const lookTimeout = 15 * time.Second

func look(ctx context.Context, reader *overview.Reader) (overview.Fleet, error) {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	fleet, err := reader.Read(ctx)
	return fleet, plainRead(err)
}

// live shows the fleet on the whole terminal until somebody ends it. Looking goes on
// beside the keyboard: a server that does not answer does not hold up a key.
func (c *topCommand) live(ctx context.Context, streams cli.Streams, reader *overview.Reader, view *topView) error {
	shown, err := screen.Open(streams.In, streams.Out, os.LookupEnv)
	if err != nil {
		return err
	}
	defer shown.Close()
	ctx, cancel := context.WithCancel(ctx)
	looks := make(chan lookResult)
	ended := make(chan struct{})
	defer func() { cancel(); <-ended }()
	go func() {
		defer close(ended)
		keepLooking(ctx, reader, c.Interval, looks)
	}()
	for {
		width, height := shown.Size()
		if err := shown.Draw(view.lines(width, height)); err != nil {
			return fmt.Errorf("the terminal is gone: %w", err)
		}
		select {
		case l := <-looks:
			if view.problem = l.err; l.err == nil {
				view.take(l.fleet)
			}
		case key := <-shown.Keys():
			if view.press(key, height) {
				return nil
			}
		case <-shown.Resized():
		case <-ctx.Done():
			return nil
		}
	}
}

type lookResult struct {
	fleet overview.Fleet
	err   error
}

func keepLooking(ctx context.Context, reader *overview.Reader, interval time.Duration, to chan<- lookResult) {
	for {
		fleet, err := look(ctx, reader)
		select {
		case to <- lookResult{fleet, err}:
		case <-ctx.Done():
			return
		}
		select {
		case <-time.After(interval):
		case <-ctx.Done():
			return
		}
	}
}
