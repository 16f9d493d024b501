package graph

import (
	"bufio"
	"fmt"
	"strings"
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// writeMermaid writes a flowchart. Nodes are named by number, so that no word of
// the text can be a keyword.
func writeMermaid(w *bufio.Writer, g extraction.Graph) error {
	w.WriteString("flowchart LR\n")
	for i, e := range g.Entities {
		fmt.Fprintf(w, "  n%d[\"%s (%s)\"]\n", i, mermaidText(e.Name), mermaidText(e.Type))
	}
	for r, ends := range edges(g) {
		label := mermaidText(r.Type)
		if label != "" { // an empty one is a syntax error
			label = `|"` + label + `"|`
		}
		fmt.Fprintf(w, "  n%d -->%s n%d\n", ends[0], label, ends[1])
	}
	return nil
}

// mermaidText writes everything but letters, digits and a few harmless marks as
// a numeric entity: labels may otherwise hold HTML, Markdown and statements.
func mermaidText(s string) string {
	var b strings.Builder
	for _, r := range visible(s, shownName) {
		if unicode.In(r, unicode.L, unicode.N, unicode.M) || strings.ContainsRune(" -_,.", r) || r == '…' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	return b.String()
}
