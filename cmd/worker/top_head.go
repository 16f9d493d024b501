package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
	"github.com/weirkeeper/weirkeeper/resilience"
)

// head is what is said of the whole fleet, the most important first: small screens
// show its beginning.
func (v *topView) head() []screen.Line {
	f := v.fleet
	lines := []screen.Line{
		{Text: fmt.Sprintf("%s  %s  %s", v.namespace, f.At.UTC().Format(time.RFC3339), workersShown(f.Workers, f.UnreadableWorkers)), Style: screen.Strong},
		{Text: v.totals()},
	}
	for _, c := range f.Circuits {
		if c.State != string(resilience.Closed) {
			lines = append(lines, screen.Line{Text: circuitShown(c, f.At), Style: screen.Alarm})
		}
	}
	if n := len(f.Circuits); n > 0 && len(lines) == 2 {
		names := make([]string, 0, n)
		for _, c := range f.Circuits {
			names = append(names, cli.Printable(c.Name))
		}
		lines = append(lines, screen.Line{Text: "circuits closed: " + strings.Join(names, ", ")})
	}
	for _, d := range f.Disagreements {
		lines = append(lines, screen.Line{Text: d.String(), Style: screen.Alarm})
	}
	for i, p := range f.Pauses {
		if i == 3 {
			lines = append(lines, screen.Line{Text: fmt.Sprintf("and %s more", cli.Count(len(f.Pauses)-i, "pause")), Style: screen.Note})
			break
		}
		lines = append(lines, screen.Line{Text: pauseOf(p), Style: screen.Note})
	}
	if len(f.Dead) > 0 {
		lines = append(lines, screen.Line{Text: "dead letters, newest: " + kindsShown(f.Dead, f.At)})
	}
	return lines
}

func (v *topView) totals() string {
	t := v.fleet.Totals
	rate := ""
	if v.rate >= 0 {
		rate = fmt.Sprintf(" (%.1f/s)", v.rate)
	}
	return fmt.Sprintf("waiting %d, given out %d  documents %d  results %d%s  dead %d", t.Waiting, t.InFlight, t.DocumentsWaiting, t.Results, rate, t.Dead)
}

// workersShown is "3 workers (2 consuming, 1 draining), 9 of 24 slots, 1 stopped, 1 unreadable".
func workersShown(workers []overview.Worker, unreadable int) string {
	states, alive, slots, taken := map[string]int{}, 0, 0, 0
	for _, w := range workers {
		if w.State == "stopped" { // has said goodbye, and is soon forgotten
			continue
		}
		alive++
		states[w.State]++
		slots, taken = slots+w.Slots, taken+w.InFlight
	}
	others := ""
	if n := len(workers) - alive; n > 0 {
		others = fmt.Sprintf(", %d stopped", n)
	}
	if unreadable > 0 {
		others += fmt.Sprintf(", %d unreadable", unreadable)
	}
	if alive == 0 {
		return "no workers" + others
	}
	var parts []string
	for state, n := range states {
		parts = append(parts, fmt.Sprintf("%d %s", n, cli.Printable(state)))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s (%s), %d of %d slots%s", cli.Count(alive, "worker"), strings.Join(parts, ", "), taken, slots, others)
}

func workerShown(w overview.Worker, at time.Time) string {
	text := fmt.Sprintf("%s  %s  %d of %d slots  up %s  results %d  dead %d  put back %d", cli.Printable(w.Worker), w.State, w.InFlight, w.Slots,
		short(at.Sub(w.StartedAt)), w.Results, w.Dead, w.Nak)
	if w.Problem != "" {
		text += "  " + w.Problem
	}
	return text
}

func workerStyle(w overview.Worker) screen.Style {
	switch {
	case w.Problem != "":
		return screen.Alarm
	case w.State != "consuming":
		return screen.Note
	}
	return screen.Plain
}

func circuitShown(c overview.Circuit, at time.Time) string {
	text := fmt.Sprintf("circuit %s is %s", cli.Printable(c.Name), strings.ReplaceAll(c.State, "_", "-"))
	if c.OpenedAt != nil {
		text += " since " + c.OpenedAt.UTC().Format(time.RFC3339)
	}
	if ends := c.Ends(at); ends != "" {
		text += ", " + ends
	}
	if c.HalfOpenCalls > 0 {
		text += ", " + cli.Count(c.HalfOpenCalls, "probe") + " under way"
	}
	if c.Reason != "" {
		text += ": " + c.Reason
	}
	return text
}

func pauseOf(p overview.Pause) string {
	who := "the whole fleet"
	if !p.Fleet {
		who = "tenant " + cli.Printable(p.Tenant)
	}
	text := who + " is paused"
	if p.Until != nil {
		text += " until " + p.Until.UTC().Format(time.RFC3339)
	}
	if p.Reason != "" {
		text += ": " + p.Reason
	}
	return text
}

func kindsShown(kinds []overview.DeadKind, at time.Time) string {
	parts := make([]string, 0, len(kinds))
	for _, k := range kinds {
		parts = append(parts, fmt.Sprintf("%s %d (%s ago)", k.Kind, k.Count, short(at.Sub(k.LastAt))))
	}
	return strings.Join(parts, ", ")
}
