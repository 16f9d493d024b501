package graph

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// writeDOT writes a directed graph for Graphviz. Nodes are named by number, so
// that nothing of the text is in a name.
func writeDOT(w *bufio.Writer, g extraction.Graph) error {
	w.WriteString("digraph weirkeeper {\n  graph [charset=\"UTF-8\", rankdir=LR];\n  node [shape=box];\n")
	for i, e := range g.Entities {
		fmt.Fprintf(w, "  n%d [label=\"%s\\n%s\", tooltip=\"%s\"];\n", i,
			dotText(e.Name, shownName), dotText(e.Type, shownName), dotText(quoteOf(e.Sources), shownQuote))
	}
	for r, ends := range edges(g) {
		fmt.Fprintf(w, "  n%d -> n%d [label=\"%s\", tooltip=\"%s\"];\n", ends[0], ends[1],
			dotText(r.Type, shownName), dotText(quoteOf(r.Sources), shownQuote))
	}
	w.WriteString("}\n")
	return nil
}

// dotEscapes: a quote ends the string, a backslash begins an escape of the label,
// and an ampersand an HTML entity, also outside HTML labels.
var dotEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, `&`, `&amp;`)

func dotText(s string, limit int) string { return dotEscapes.Replace(visible(s, limit)) }
