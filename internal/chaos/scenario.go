package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Designs.
const (
	ours         = "ours"
	literalPlain = "literal"       // with the limit that the obvious design has: get, count, put
	literalExact = "literal+exact" // with ours, so that what the consumer does is seen alone
	literalID    = "literal+id"    // with a message ID, so that the server drops a second result for two minutes
)

func literals() []string { return []string{literalPlain, literalExact, literalID} }

// form is how long and how deep a scenario is.
type form struct{ short bool }

func (f form) name() string { return pick(f, "short", "long") }

func (o options) form() form { return form{o.short} }

// pick chooses by the form.
func pick[T any](f form, short, long T) T {
	if f.short {
		return short
	}
	return long
}

// scenario is one kind of trouble. It returns what it found; an error means that
// it could not be carried out.
type scenario struct {
	name     string
	compared []string // designs that it is carried out with beside ours
	run      func(ctx context.Context, w *world) ([]finding, error)
}

func scenarios() []scenario {
	limits, results := []string{literalPlain, literalExact}, []string{literalPlain, literalID}
	return []scenario{
		{"window", limits, window},
		{"isolation", limits, isolation},
		{"outage", []string{literalPlain}, outage},
		{"prober", nil, prober},
		{"kills", results, kills},
		{"brokers", results, brokers},
		{"stopped", nil, stopped},
		{"drains", nil, drains},
		{"model", nil, faulty},
		{"catalogue", nil, everything},
		{"away", nil, away},
	}
}

func scenarioNames() string { return names(func(scenario) bool { return true }) }
func baselineNames() string { return names(func(s scenario) bool { return len(s.compared) > 0 }) }

func names(which func(scenario) bool) string {
	var all []string
	for _, s := range scenarios() {
		if which(s) {
			all = append(all, s.name)
		}
	}
	return strings.Join(all, ", ")
}

// trial is a scenario with a design.
type trial struct {
	scenario
	design string
}

// choose returns the trials that the options ask for.
func choose(o options) ([]trial, error) {
	var designs []string
	switch o.designs {
	case ours:
		designs = []string{ours}
	case literalPlain:
		designs = literals()
	case "both":
		designs = append([]string{ours}, literals()...)
	default:
		return nil, fmt.Errorf("-design must be ours, literal or both, not %q", o.designs)
	}
	wanted := map[string]bool{}
	for name := range strings.SplitSeq(o.names, ",") {
		if name = strings.TrimSpace(name); name != "" {
			wanted[name] = true
		}
	}
	everything := len(wanted) == 0
	var trials []trial
	for _, s := range scenarios() {
		if everything || wanted[s.name] {
			delete(wanted, s.name)
			for _, design := range designs {
				if design == ours || slices.Contains(s.compared, design) {
					trials = append(trials, trial{s, design})
				}
			}
		}
	}
	for name := range wanted {
		return nil, fmt.Errorf("-run: no scenario is called %q; there are %s", name, scenarioNames())
	}
	if len(trials) == 0 {
		return nil, errors.New("nothing to run: the literal design has " + baselineNames() + " only")
	}
	return trials, nil
}

// needs reports whether a trial of one of the designs is among them.
func needs(trials []trial, designs ...string) bool {
	return slices.ContainsFunc(trials, func(t trial) bool { return slices.Contains(designs, t.design) })
}

// run carries out the trial in a world of its own and takes that down again.
func (t trial) run(ctx context.Context, p programs, o options, progress io.Writer) []finding {
	begun := time.Now()
	hash := fnv.New64a()
	_, _ = io.WriteString(hash, t.name)
	w := &world{
		programs: p, design: t.design, form: o.form(), answers: o.answers, dir: filepath.Join(p.dir, t.name+"-"+t.design),
		rnd: rand.New(rand.NewPCG(o.seed, hash.Sum64())),
	}
	found, err := t.attempt(ctx, w)
	if err != nil {
		found = append(found, finding{Promise: "the scenario can be carried out", Measured: err.Error(), Bar: "no error", Verdict: broken})
	}
	good := true
	for i := range found {
		found[i].Scenario, found[i].Design = t.name, t.design
		if t.design != ours && err == nil {
			found[i].Verdict = baseline
		}
		good = good && found[i].Verdict != broken
	}
	if good && !o.keep {
		_ = os.RemoveAll(w.dir) // else it stays for a reader, or with the whole folder
	}
	state := "done"
	if !good {
		state = "BROKEN"
	}
	fmt.Fprintf(progress, "chaos: %s (%s) %s after %v\n", t.name, t.design, state, time.Since(begun).Round(100*time.Millisecond))
	return found
}

func (t trial) attempt(ctx context.Context, w *world) ([]finding, error) {
	ctx, cancel := context.WithTimeout(ctx, pick(w.form, 2*time.Minute, 15*time.Minute))
	defer cancel()
	defer w.close()
	if err := w.open(ctx); err != nil {
		return nil, err
	}
	return t.scenario.run(ctx, w)
}
