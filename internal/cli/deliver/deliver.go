// Package deliver is what `publisher publish` and `worker try` have in common:
// from the files on the command line to the line that says how it went.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/publish"
)

// Sources looks at every file, so that one run reports all that is wrong. "-",
// and no file at all, is standard input.
func Sources(files []string, stdin io.Reader) ([]publish.Source, error) {
	if len(files) == 0 {
		if cli.IsTerminal(stdin) {
			return nil, cli.Usage(errors.New("name the files, or pipe a text into standard input"))
		}
		files = []string{publish.StdinName}
	}
	var sources []publish.Source
	var refusals []error
	piped := false
	for _, file := range files {
		if file == publish.StdinName && piped {
			refusals = append(refusals, errors.New("-: standard input can be read once"))
			continue
		}
		source, err := open(file, stdin)
		if err != nil {
			refusals = append(refusals, err)
		}
		piped = piped || file == publish.StdinName
		sources = append(sources, source)
	}
	return sources, cli.Usage(errors.Join(refusals...))
}

func open(file string, stdin io.Reader) (publish.Source, error) {
	if file == publish.StdinName {
		return publish.ReadStdin(stdin)
	}
	return publish.OpenFile(file)
}

// Plan checks the sources. What is wrong with them is the user's to change.
func Plan(config publish.PlanConfig, sources []publish.Source) (*publish.Plan, error) {
	plan, err := publish.NewPlan(config, sources)
	return plan, Refused(err)
}

// Refused marks what package publish will not do however often it is asked.
func Refused(err error) error {
	_, input := errors.AsType[*publish.InputError](err)
	_, config := errors.AsType[*publish.ConfigError](err)
	if input || config {
		return cli.Usage(err)
	}
	return err
}

// Order says what to do with a plan.
type Order struct {
	Wait    bool          // until every chunk has a result or a dead letter
	Timeout time.Duration // for the wait; 0 is none
}

// Outcome is what became of a plan.
type Outcome struct {
	Counts publish.Counts
	Dead   []publish.Dead
}

// Run sends the publisher's plan, waits if that was asked for, shows progress meanwhile and
// says at the end, on standard error, how it went and which chunks were
// dead-lettered and why. The error has the exit code in it. The outcome is
// valid with an error, too.
func Run(ctx context.Context, errOut io.Writer, publisher *publish.Publisher, order Order) (Outcome, error) {
	plan := publisher.Plan()
	label := "sent"
	if order.Wait {
		label = "finished"
	}
	shown := cli.NewProgress(errOut, label, plan.Chunks, nil)
	publisher.OnChange(func(n publish.Counts) {
		if order.Wait {
			shown.Set(n.Done+n.Dead, n.Dead)
		} else {
			shown.Set(n.Sent+n.Existing, 0)
		}
	})
	err := publisher.Send(ctx)
	var dead []publish.Dead
	if err == nil && order.Wait {
		dead, err = follow(ctx, publisher, order.Timeout)
	}
	shown.End()
	outcome := Outcome{Counts: publisher.Counts(), Dead: dead}
	fmt.Fprintln(errOut, summary(len(plan.Documents), outcome.Counts, order.Wait))
	for _, d := range dead {
		fmt.Fprintf(errOut, "dead-lettered: document %s chunk %d: %s: %s\n", cli.Printable(d.DocumentID), d.Index, d.Kind, cli.Printable(d.Error))
	}
	switch {
	case err != nil:
		return outcome, Refused(err)
	case len(dead) > 0:
		return outcome, cli.DeadLettered(fmt.Errorf("%d of %s dead-lettered", len(dead), cli.Count(plan.Chunks, "chunk")))
	}
	return outcome, nil
}

func follow(ctx context.Context, publisher *publish.Publisher, timeout time.Duration) ([]publish.Dead, error) {
	wait := ctx
	if timeout > 0 {
		var cancel context.CancelFunc
		wait, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	dead, err := publisher.Follow(wait, publish.DefaultPoll)
	if err != nil && ctx.Err() == nil {
		err = cli.TimedOut(err)
	}
	return dead, err
}

// summary is one line for people.
func summary(documents int, n publish.Counts, waited bool) string {
	text := fmt.Sprintf("%s, %s: %d sent", cli.Count(documents, "document"), cli.Count(n.Chunks, "chunk"), n.Sent-n.Duplicate)
	if n.Existing > 0 {
		text += fmt.Sprintf(", %d had a result already", n.Existing)
	}
	if n.Duplicate > 0 {
		text += fmt.Sprintf(", %d were sent before", n.Duplicate)
	}
	if waited {
		text += fmt.Sprintf("; %d extracted, %d dead-lettered", n.Done, n.Dead)
	}
	return text
}
