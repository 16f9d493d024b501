package main

import (
	"fmt"
	"strings"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
)

// topView is what worker top shows, and what its keys have chosen. It knows no
// terminal.
type topView struct {
	namespace string
	order     topOrder
	filter    string
	typing    bool          // the filter
	read      []screen.Line // shown instead until a key is pressed, nil for nothing
	workers   bool          // are listed instead of tenants
	top       int           // first row that is shown
	rows      int           // that the table had at last

	fleet   *overview.Fleet // nil before the first look
	problem error           // of the last look
	rate    float64         // results and dead letters per second, -1 as long as it is not known
}

func newTopView(namespace string, order topOrder, filter string) *topView {
	return &topView{namespace: namespace, order: order, filter: filter, rate: -1}
}

// take is given what was seen.
func (v *topView) take(fleet overview.Fleet) {
	if before := v.fleet; before != nil {
		settled := func(t overview.Totals) uint64 { return t.Results + t.Dead }
		span := fleet.At.Sub(before.At).Seconds()
		if done := settled(fleet.Totals); span > 0 && done >= settled(before.Totals) {
			v.rate = float64(done-settled(before.Totals)) / span
		} else {
			v.rate = -1
		}
	}
	v.fleet = &fleet
}

// block is one look in plain lines, of at most so many tenants.
func (v *topView) block(most int) string {
	const width = 132
	var b strings.Builder
	for _, line := range v.head() {
		b.WriteString(cli.Printable(line.Text) + "\n")
	}
	for i, w := range v.fleet.Workers {
		if i == most {
			fmt.Fprintf(&b, "worker and %d more\n", len(v.fleet.Workers)-most)
			break
		}
		b.WriteString("worker " + workerShown(w, v.fleet.At) + "\n")
	}
	tenants := v.order.sorted(v.fleet.Tenants, v.filter, v.fleet.At)
	b.WriteString(strings.TrimRight(tableHead(width, v.order), " ") + "\n")
	for _, t := range tenants[:min(most, len(tenants))] {
		b.WriteString(strings.TrimRight(tableRow(width, t, v.fleet.At), " ") + "\n")
	}
	fmt.Fprintf(&b, "%s\n\n", v.listed(0, min(most, len(tenants)), len(tenants)))
	return b.String()
}

// lines are the screen.
func (v *topView) lines(width, height int) []screen.Line {
	if v.read != nil {
		return v.read
	}
	if v.fleet == nil {
		lines := []screen.Line{{Text: "weirkeeper " + v.namespace, Style: screen.Strong}, {Text: "looking..."}}
		if v.problem != nil {
			lines = append(lines, screen.Line{Text: v.problem.Error(), Style: screen.Alarm})
		}
		return lines
	}
	lines := v.head()
	if most := max(2, height/3); len(lines) > most { // the table is what one came for
		lines = lines[:most]
	}
	titles, row := "WORKER", func(i int) screen.Line {
		w := v.fleet.Workers[i]
		return screen.Line{Text: workerShown(w, v.fleet.At), Style: workerStyle(w)}
	}
	v.rows = len(v.fleet.Workers)
	if !v.workers {
		tenants := v.order.sorted(v.fleet.Tenants, v.filter, v.fleet.At)
		titles, v.rows = tableHead(width, v.order), len(tenants)
		row = func(i int) screen.Line {
			return screen.Line{Text: tableRow(width, tenants[i], v.fleet.At), Style: tenantStyle(tenants[i])}
		}
	}
	room := max(0, height-len(lines)-2)
	v.top = max(0, min(v.top, v.rows-room))
	end := min(v.rows, v.top+room)
	lines = append(lines, screen.Line{Text: titles, Style: screen.Heading})
	for i := v.top; i < end; i++ {
		lines = append(lines, row(i))
	}
	for len(lines) < height-1 {
		lines = append(lines, screen.Line{})
	}
	return append(lines[:max(0, min(len(lines), height-1))], v.foot(end))
}

func (v *topView) foot(end int) screen.Line {
	switch {
	case v.typing:
		return screen.Line{Text: "filter: " + cli.Printable(v.filter) + "_  (enter: done, esc: none)", Style: screen.Strong}
	case v.problem != nil:
		return screen.Line{Text: outdated(v.problem, v.fleet), Style: screen.Alarm}
	case v.workers:
		return screen.Line{Text: fmt.Sprintf("%d-%d of %s  tab tenants  ? help  q quit", min(v.top+1, end), end, cli.Count(v.rows, "worker"))}
	}
	return screen.Line{Text: v.listed(v.top, end, v.rows) + "  ? help  l columns  q quit"}
}

// listed says which of the tenants are listed.
func (v *topView) listed(from, to, of int) string {
	text := fmt.Sprintf("%d-%d of %s, by %s (*)", min(from+1, to), to, cli.Count(of, "tenant"), v.order)
	if v.filter != "" {
		text += fmt.Sprintf(", with %q", v.filter)
	}
	if v.fleet.Truncated {
		text += fmt.Sprintf("; there are %d, those with most waiting are here", v.fleet.TenantsTotal)
	}
	return text
}

func tenantStyle(t overview.Tenant) screen.Style {
	switch {
	case t.WaitReason == overview.Open || t.WaitReason == overview.Paused:
		return screen.Alarm
	case t.WaitReason != overview.NotWaiting:
		return screen.Note
	}
	return screen.Plain
}
