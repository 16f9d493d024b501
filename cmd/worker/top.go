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
and with --json one JSON object on a line for each look, as /api/fleet of a worker has it. While NATS is away there are no new figures: the screen's last line and the lines say so and
of when those before are, and with --json there are lines with nothing but problem and figures_of.

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
	looking := newLooker(s.conn, reader, c.Interval)
	defer looking.close()
	if live {
		return c.live(ctx, streams, looking, view)
	}
	return c.plain(ctx, streams, looking, view)
}

// plain writes a block for each look, or that there is nothing new to be seen; why, if it
// is not that the connection is gone, is on standard error.
func (c *topCommand) plain(ctx context.Context, streams cli.Streams, looking *looker, view *topView) error {
	for {
		fleet, err := looking.look(ctx)
		switch {
		case ctx.Err() != nil:
			return nil // told to stop
		case err != nil && c.Once:
			return err
		case errors.Is(err, errDisconnected), errors.Is(err, errNoAnswer):
			if err := c.stale(streams.Out, err, view.fleet); err != nil {
				return err
			}
		case err != nil:
			fmt.Fprintf(streams.Err, "%s\n", err)
		case c.JSON:
			view.take(fleet)
			if err := writeLine(streams.Out, fleet); err != nil {
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
		if !looking.wait(ctx) {
			return nil
		}
	}
}

// stale is what is written in place of figures that nobody has.
func (c *topCommand) stale(out io.Writer, problem error, last *overview.Fleet) error {
	text := outdated(problem, last)
	if !c.JSON {
		_, err := fmt.Fprintf(out, "%s\n\n", text)
		return err
	}
	line := struct {
		Problem   string     `json:"problem"`
		FiguresOf *time.Time `json:"figures_of"` // null if there were none
	}{Problem: text}
	if last != nil {
		line.FiguresOf = &last.At
	}
	return writeLine(out, line)
}

// writeLine writes JSON on one line.
func writeLine(out io.Writer, value any) error {
	encoder := json.NewEncoder(out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(value)
}

// live shows the fleet on the whole terminal until somebody ends it. Looking goes on
// beside the keyboard: a server that does not answer does not hold up a key.
func (c *topCommand) live(ctx context.Context, streams cli.Streams, looking *looker, view *topView) error {
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
		looking.keepLooking(ctx, looks)
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
