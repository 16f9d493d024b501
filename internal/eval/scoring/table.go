package scoring

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// Write prints the report as a table.
func (r Report) Write(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "%s, %d documents, %.0f documents/s\n", r.Model, r.Documents, r.Rate())
	fmt.Fprintln(t, "\tprecision\trecall\tF1\tgiven\tgold")
	line := func(name string, c Count) {
		if c.Gold > 0 {
			fmt.Fprintf(t, "%s\t%.3f\t%.3f\t%.3f\t%d\t%d\n", name, c.Precision(), c.Recall(), c.F1(), c.Given, c.Gold)
		}
	}
	line("names", r.Names)
	line("names, typed", r.NamesTyped)
	for _, kind := range slices.Sorted(maps.Keys(r.ByType)) {
		line("  "+kind, r.ByType[kind])
	}
	line("entities", r.Entities)
	line("entities, typed", r.EntitiesTyped)
	line("relations", r.Relations)
	if err := t.Flush(); err != nil {
		return err
	}
	c := r.Counters
	_, err := fmt.Fprintf(w, "grounded %.1f %% of %d answers; dropped %d, unresolved %d, self loops %d, ungrounded %d, clipped %d%s\n",
		100*share(r.Grounded, r.Answers), r.Answers, c.Dropped, c.Unresolved, c.SelfLoops, c.Ungrounded, c.Clipped, r.failures())
	return err
}

// Rate is documents per second, 0 when no time passed.
func (r Report) Rate() float64 {
	if r.Elapsed <= 0 {
		return 0
	}
	return float64(r.Documents) / r.Elapsed.Seconds()
}

func (r Report) failures() string {
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(r.Failed)) {
		fmt.Fprintf(&b, "; %d documents failed: %s", r.Failed[kind], kind)
	}
	return b.String()
}
