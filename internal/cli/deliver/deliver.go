// Package deliver is what `publisher publish` and `worker try` have in common:
// from the files on the command line to the line that says how it went.
package deliver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/publish"
)

// Input is what a command line names: files, folders and standard input.
type Input struct {
	files   *publish.Files
	sources []publish.Source
	left    []*publish.InputError // out of folders: these files are refused
}

// Open looks at every file, and at every file in each folder, so that one run reports all that is wrong. "-",
// and no file at all, is standard input.
func Open(ctx context.Context, names []string, stdin io.Reader) (*Input, error) {
	if len(names) == 0 {
		if cli.IsTerminal(stdin) {
			return nil, cli.Usage(errors.New("name the files, or pipe a text into standard input"))
		}
		names = []string{publish.StdinName}
	}
	in := &Input{files: publish.NewFiles(ctx)}
	var refusals []error
	piped := false
	for _, name := range names {
		if name == publish.StdinName && piped {
			refusals = append(refusals, errors.New("-: standard input can be read once"))
			continue
		}
		piped = piped || name == publish.StdinName
		if err := in.add(name, stdin); err != nil {
			refusals = append(refusals, err)
		}
	}
	if err := errors.Join(refusals...); err != nil {
		in.Close()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, cli.Usage(err)
	}
	return in, nil
}

// Close gives back what reading took. Nothing can be read or sent after it.
func (in *Input) Close() { _ = in.files.Close() }

func (in *Input) add(name string, stdin io.Reader) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return in.addFolder(name)
	}
	source, err := open(in.files, name, stdin)
	if err == nil {
		in.sources = append(in.sources, source)
	}
	return err
}

func open(files *publish.Files, name string, stdin io.Reader) (publish.Source, error) {
	if name == publish.StdinName {
		return publish.ReadStdin(stdin)
	}
	return files.Open(name)
}

// addFolder adds what can be opened in a folder. What cannot is told later, but
// is no reason to refuse the rest.
func (in *Input) addFolder(name string) error {
	seen := len(in.sources) + len(in.left)
	for source, err := range in.files.Walk(name) {
		refused, ok := errors.AsType[*publish.InputError](err)
		switch {
		case err == nil:
			in.sources = append(in.sources, source)
		case ok:
			in.left = append(in.left, refused)
		default:
			return err
		}
	}
	if len(in.sources)+len(in.left) == seen {
		return fmt.Errorf("%s: there are no files in it", name)
	}
	return nil
}

// Plan reads and checks everything, and writes a line for each file that it leaves out of
// a folder, with the reason. What is wrong with named files is an error, and the
// user's to change.
func (in *Input) Plan(config publish.PlanConfig, errOut io.Writer) (*publish.Plan, error) {
	shown := cli.NewProgress(errOut, "read", len(in.sources), nil)
	config.OnRead = func(n int) { shown.Set(n, 0) }
	plan, err := publish.NewPlan(config, in.sources)
	shown.End()
	if err != nil {
		return nil, Refused(err)
	}
	plan.Refused = append(in.left, plan.Refused...)
	slices.SortStableFunc(plan.Refused, func(a, b *publish.InputError) int { return strings.Compare(a.Source, b.Source) })
	for _, refused := range plan.Refused {
		tellRefused(errOut, refused)
	}
	for _, note := range plan.Notes {
		fmt.Fprintf(errOut, "note: %s\n", cli.Printable(note))
	}
	if plan.Same > 0 {
		fmt.Fprintf(errOut, "note: %s with the same text as another, sent once\n", cli.Count(plan.Same, "document"))
	}
	if len(plan.Documents) == 0 {
		return nil, cli.Usage(errors.New("there is no document to send"))
	}
	return plan, nil
}

// Documents reads all documents without sending them. Files of folders that are
// refused are a line on errOut, as with Plan.
func (in *Input) Documents(errOut io.Writer) iter.Seq2[publish.Item, error] {
	return func(yield func(publish.Item, error) bool) {
		for _, refused := range in.left {
			tellRefused(errOut, refused)
		}
		for _, source := range in.sources {
			for item, err := range source.Documents() {
				if refused, ok := errors.AsType[*publish.InputError](err); ok && source.Found() {
					tellRefused(errOut, refused)
					break
				}
				if !yield(item, Refused(err)) || err != nil {
					return
				}
			}
		}
	}
}

func tellRefused(errOut io.Writer, refused *publish.InputError) {
	fmt.Fprintf(errOut, "refused: %s\n", cli.Printable(refused.Error()))
}

// LeftOut is the error, for the end of a run that went well, of files that were
// left out; nil if there are none.
func LeftOut(plan *publish.Plan) error {
	if n := len(plan.Refused); n > 0 {
		return cli.Usage(fmt.Errorf("%s refused", cli.Count(n, "file")))
	}
	return nil
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
	return outcome, LeftOut(plan)
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
