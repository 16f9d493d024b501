package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/weirkeeper/weirkeeper/internal/cli/screen"
	"github.com/weirkeeper/weirkeeper/internal/overview"
)

// column is one of the table of tenants.
type column struct {
	title string
	order topOrder // that sorts by it
	width int
	left  bool
	of    func(t overview.Tenant, at time.Time) string
	means string
}

// nameWidth is how much of a name is shown at least, and at most, if there is room.
const (
	leastName = 10
	mostName  = 40
)

// columns beside the name, the most important first: as many are shown as there is
// room for.
var columns = []column{
	{"CHUNKS", byWaiting, 7, false, func(t overview.Tenant, _ time.Time) string { return amount(t.Waiting) }, "chunks that wait, in work included"},
	{"WAIT", byWait, 11, true, func(t overview.Tenant, at time.Time) string { return waitShown(t, at) }, "for how much longer no call is admitted, and why"},
	{"USED", byUsed, 9, false, func(t overview.Tenant, _ time.Time) string { return usedShown(t.Used, t.RPM) }, "calls in the present window, of those allowed"},
	{"FLIGHT", byFlight, 6, false, func(t overview.Tenant, _ time.Time) string { return amount(uint64(max(0, t.InFlight))) }, "chunks given to a worker: in work, or put back for later"},
	{"DEAD", byDead, 6, false, func(t overview.Tenant, _ time.Time) string { return amount(t.Dead) }, "dead letters: what was set aside"},
	{"RESULTS", byResults, 9, false, func(t overview.Tenant, _ time.Time) string {
		if t.Results == nil {
			return "-"
		}
		return amount(*t.Results)
	}, "results that are stored"},
	{"DOCUMENTS", "", 9, false, func(t overview.Tenant, _ time.Time) string { return amount(t.DocumentsWaiting) }, "raw documents that are not split yet"},
	{"WINDOW", "", 7, false, func(t overview.Tenant, _ time.Time) string {
		if t.WindowMS == 0 {
			return "-"
		}
		return short(time.Duration(t.WindowMS) * time.Millisecond)
	}, "the time that calls and tokens are counted in"},
	{"TOKENS", "", 13, false, func(t overview.Tenant, _ time.Time) string { return usedShown(t.UsedTokens, t.TPM) }, "tokens in the present window, of those allowed"},
}

// legend says what the columns are, one line each.
func legend() []string {
	lines := make([]string, 0, len(columns))
	for _, c := range columns {
		lines = append(lines, fmt.Sprintf("%-10s %s", c.title, c.means))
	}
	return lines
}

// layout is how wide the name is and how many columns there is room for.
func layout(width int) (name, shown int) {
	left := width - leastName
	for _, c := range columns {
		if left < c.width+1 {
			break
		}
		left -= c.width + 1
		shown++
	}
	return max(1, min(mostName, leastName+max(0, left), width)), shown
}

// tableHead is the line above the tenants; what they are sorted by has a mark.
func tableHead(width int, order topOrder) string {
	name, shown := layout(width)
	mark := func(title string, of topOrder) string {
		if of == order {
			return title + "*"
		}
		return title
	}
	var b strings.Builder
	b.WriteString(screen.Fit(mark("TENANT", byName), name))
	for _, c := range columns[:shown] {
		b.WriteByte(' ')
		if c.left {
			b.WriteString(screen.Fit(mark(c.title, c.order), c.width))
		} else {
			b.WriteString(screen.FitRight(mark(c.title, c.order), c.width))
		}
	}
	return b.String()
}

func tableRow(width int, t overview.Tenant, at time.Time) string {
	name, shown := layout(width)
	var b strings.Builder
	b.WriteString(screen.Fit(t.Tenant, name))
	for _, c := range columns[:shown] {
		b.WriteByte(' ')
		if c.left {
			b.WriteString(screen.Fit(c.of(t, at), c.width))
		} else {
			b.WriteString(screen.FitRight(c.of(t, at), c.width))
		}
	}
	return b.String()
}

// usedShown is "12/60", or "-" if nobody knows or nothing is limited.
func usedShown(used *int64, limit int64) string {
	switch {
	case limit == 0:
		return "-"
	case used == nil:
		return "?/" + amount(uint64(limit))
	}
	return amount(uint64(max(0, *used))) + "/" + amount(uint64(limit))
}

// waitShown is why a tenant has to wait and for how much longer.
func waitShown(t overview.Tenant, at time.Time) string {
	switch {
	case t.WaitReason == overview.NotWaiting:
		return ""
	case t.WaitUntil == nil:
		return string(t.WaitReason)
	}
	return string(t.WaitReason) + " " + short(t.WaitUntil.Sub(at))
}

// amount is a count in a few characters: 9999, 12k, 1.2M.
func amount(n uint64) string {
	if n < 10_000 {
		return strconv.FormatUint(n, 10)
	}
	value, unit := float64(n), ""
	for _, next := range []string{"k", "M", "G", "T", "P", "E"} {
		if value < 1000 {
			break
		}
		value, unit = value/1000, next
	}
	if value < 9.95 {
		return strconv.FormatFloat(value, 'f', 1, 64) + unit
	}
	return strconv.FormatFloat(value, 'f', 0, 64) + unit
}

// short is a duration in a few characters, rounded up: 1s, 59s, 12m, 5h, 3d.
func short(d time.Duration) string {
	switch d = max(d, 0); {
	case d == 0:
		return "0s"
	case d < time.Second:
		return strconv.FormatInt(int64((d+time.Millisecond-1)/time.Millisecond), 10) + "ms"
	case d <= 2*time.Minute-time.Second:
		return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10) + "s"
	case d <= 2*time.Hour-time.Minute:
		return strconv.FormatInt(int64((d+time.Minute-1)/time.Minute), 10) + "m"
	case d <= 48*time.Hour:
		return strconv.FormatInt(int64((d+time.Hour-1)/time.Hour), 10) + "h"
	}
	return strconv.FormatInt(int64((d+24*time.Hour-1)/(24*time.Hour)), 10) + "d"
}
