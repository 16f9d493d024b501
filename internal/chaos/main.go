package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are what the command line says.
type options struct {
	short    bool
	json     bool
	keep     bool
	designs  string
	names    string
	answers  string
	parallel int
	seed     uint64
}

func parse(args []string, stderr io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("chaos", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.BoolVar(&o.short, "short", false, "the short form of each scenario, as in CI")
	flags.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	flags.BoolVar(&o.keep, "keep", false, "keep the logs of all processes, not only of those that broke a promise")
	flags.StringVar(&o.designs, "design", "ours", "ours, literal or both: literal runs "+baselineNames()+" only")
	flags.StringVar(&o.names, "run", "", "comma-separated scenarios; default all: "+scenarioNames())
	flags.StringVar(&o.answers, "answers", mixed, "what the workers of the scenario catalogue ask the model for: plain, streamed or mixed")
	flags.IntVar(&o.parallel, "parallel", 0, "scenarios at a time; default 3 with -short, else 1")
	flags.Uint64Var(&o.seed, "seed", 0, "of all that is drawn at random; default a new one")
	if err := flags.Parse(args); err != nil {
		return options{}, err
	}
	if flags.NArg() > 0 {
		return options{}, fmt.Errorf("no argument is expected, but there is %q", flags.Arg(0))
	}
	if o.answers != plain && o.answers != streamed && o.answers != mixed {
		return options{}, fmt.Errorf("-answers must be plain, streamed or mixed, not %q", o.answers)
	}
	if o.parallel == 0 {
		o.parallel = 1
		if o.short {
			o.parallel = 3
		}
	}
	if o.parallel < 1 {
		return options{}, errors.New("-parallel must be positive")
	}
	for o.seed == 0 {
		o.seed = rand.Uint64N(1 << 32)
	}
	return o, nil
}

// run returns the exit code: 0 all kept, 1 a promise broken or nothing could be
// run, 2 usage.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	o, err := parse(args, stderr)
	var trials []trial
	if err == nil {
		trials, err = choose(o)
	}
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return 2
	}
	told, err := runTrials(ctx, o, trials, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return 1
	}
	write := told.writeTable
	if o.json {
		write = told.writeJSON
	}
	if err := write(stdout); err != nil {
		fmt.Fprintln(stderr, "chaos:", err)
		return 1
	}
	if told.Logs != "" {
		fmt.Fprintln(stderr, "chaos: what the processes wrote is in", told.Logs)
	}
	if !told.OK {
		return 1
	}
	return 0
}

// runTrials builds the programs and runs the trials, some at a time. What it
// returns is in the order of the trials.
func runTrials(ctx context.Context, o options, trials []trial, progress io.Writer) (report, error) {
	begun := time.Now()
	fmt.Fprintf(progress, "chaos: seed %d, building\n", o.seed)
	dir, err := os.MkdirTemp("", "weirkeeper-chaos-")
	if err != nil {
		return report{}, err
	}
	programs, err := buildPrograms(ctx, dir, trials)
	if err != nil {
		return report{}, errors.Join(err, os.RemoveAll(dir))
	}
	told := report{Seed: o.seed, Form: o.form().name(), OK: true}
	results := make([]chan []finding, len(trials))
	places := make(chan struct{}, o.parallel)
	for i, t := range trials {
		results[i] = make(chan []finding, 1)
		places <- struct{}{} // so that they begin in their order
		go func() {
			defer func() { <-places }()
			results[i] <- t.run(ctx, programs, o, progress)
		}()
	}
	for i := range trials {
		for _, f := range <-results[i] {
			told.OK = told.OK && f.Verdict != broken
			told.Findings = append(told.Findings, f)
		}
	}
	told.Took = time.Since(begun)
	if told.OK && !o.keep {
		return told, os.RemoveAll(dir)
	}
	told.Logs = dir
	return told, programs.remove() // the logs are what a reader wants
}
