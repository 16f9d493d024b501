package graph

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// writeText lists the entities by type and then the relationships, each with the
// passage that shows it.
func writeText(w *bufio.Writer, g extraction.Graph) error {
	fmt.Fprintf(w, "%s and %s from %s, %s",
		count(len(g.Entities), "entity", "entities"), count(len(g.Relationships), "relationship", "relationships"),
		count(len(g.Documents), "document", "documents"), count(g.Chunks, "chunk", "chunks"))
	if len(g.Models) > 0 {
		fmt.Fprintf(w, ", read by %s", visible(strings.Join(g.Models, ", "), shownQuote))
	}
	if ids := domainIDs(g); len(ids) > 0 {
		fmt.Fprintf(w, " as %s", visible(strings.Join(ids, ", "), shownQuote))
	}
	w.WriteByte('\n')

	typ := ""
	for i, e := range g.Entities {
		if i == 0 || e.Type != typ {
			typ = e.Type
			fmt.Fprintf(w, "\n%s\n", visible(typ, shownName))
		}
		fmt.Fprintf(w, "  %s  %s\n", visible(e.Name, shownName), shown(e.Sources))
	}
	if len(g.Relationships) > 0 {
		w.WriteString("\nrelationships\n")
	}
	for r, ends := range edges(g) {
		source, target := g.Entities[ends[0]], g.Entities[ends[1]]
		fmt.Fprintf(w, "  %s --%s--> %s  %s\n",
			visible(source.Name, shownName), visible(r.Type, shownName), visible(target.Name, shownName), shown(r.Sources))
	}
	if len(g.Conflicts) > 0 {
		w.WriteString("\none name, several types\n")
	}
	for _, c := range g.Conflicts {
		fmt.Fprintf(w, "  %s: %s\n", visible(c.Name, shownName), visible(strings.Join(c.Types, ", "), shownQuote))
	}
	if lines := notes(g); len(lines) > 0 {
		fmt.Fprintf(w, "\nnotes\n  %s\n", strings.Join(lines, "\n  "))
	}
	return nil
}

// shown is the passage that shows a fact, in quotes.
func shown(sources []extraction.Source) string {
	if quote := quoteOf(sources); quote != "" {
		return `"` + visible(quote, shownQuote) + `"`
	}
	return "(not found in the text)"
}

// notes are what a reader should know of how the graph came about.
func notes(g extraction.Graph) []string {
	var lines []string
	c := g.Counters
	for _, n := range []struct {
		count     int
		one, many string
		why       string
	}{
		{c.Dropped, "row", "rows", "of the model's answers dropped: no usable name, type or shape"},
		{c.Unresolved, "relationship", "relationships", "left out: an end is not among the entities"},
		{c.SelfLoops, "relationship", "relationships", "left out: an entity with itself"},
		{c.Ungrounded, "fact", "facts", "kept whose quote is not in the text"},
		{c.Clipped, "overlong text", "overlong texts", "cut"},
		{c.Repaired, "departure", "departures", "from the form asked for put right"},
		{c.OffSchema, "fact", "facts", "of types that the domain does not name"},
	} {
		if n.count > 0 {
			lines = append(lines, count(n.count, n.one, n.many)+" "+n.why)
		}
	}
	return append(lines, fallbacks(g.Domains)...)
}

// domainIDs are the domains that the documents were read with, each once.
func domainIDs(g extraction.Graph) []string {
	ids := make([]string, 0, len(g.Domains))
	for _, d := range g.Domains {
		ids = append(ids, d.ID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// fallbacks say of which documents nobody knew the domain: one line for each domain that
// they were read with instead, with the reason for the first of them.
func fallbacks(domains []extraction.GraphDomain) []string {
	byID := map[string][]extraction.GraphDomain{} // one of each document
	for _, d := range domains {
		of := byID[d.ID]
		if d.FallbackReason != "" && (len(of) == 0 || of[len(of)-1].DocumentID != d.DocumentID) {
			byID[d.ID] = append(of, d)
		}
	}
	var lines []string
	for _, id := range slices.Sorted(maps.Keys(byID)) {
		of, such := byID[id], ""
		if len(of) > 1 {
			such = ", such as " + visible(of[0].DocumentID, shownName)
		}
		lines = append(lines, fmt.Sprintf("%s read as %s%s: %s",
			count(len(of), "document", "documents"), visible(id, shownName), such, visible(of[0].FallbackReason, shownQuote)))
	}
	return lines
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
