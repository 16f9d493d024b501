package graph

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

const graphMLHead = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="label" for="all" attr.name="label" attr.type="string"/>
  <key id="id" for="all" attr.name="weirkeeper_id" attr.type="string"/>
  <key id="type" for="node" attr.name="type" attr.type="string"/>
  <key id="aliases" for="node" attr.name="aliases" attr.type="string"/>
  <key id="description" for="all" attr.name="description" attr.type="string"/>
  <key id="confidence" for="all" attr.name="confidence" attr.type="double"/>
  <key id="mentions" for="all" attr.name="mentions" attr.type="int"/>
  <key id="documents" for="all" attr.name="documents" attr.type="string"/>
  <key id="quote" for="all" attr.name="quote" attr.type="string"/>
  <graph id="weirkeeper" edgedefault="directed">
`

// writeGraphML writes GraphML for Gephi, yEd, Cytoscape, NetworkX and others.
// Nodes are named by number; lists are JSON arrays, as the format has none.
func writeGraphML(w *bufio.Writer, g extraction.Graph) error {
	w.WriteString(graphMLHead)
	for i, e := range g.Entities {
		fmt.Fprintf(w, `    <node id="n%d">`, i)
		graphMLData(w, "label", e.Name)
		graphMLData(w, "id", e.ID)
		graphMLData(w, "type", e.Type)
		if len(e.Aliases) > 0 {
			graphMLData(w, "aliases", jsonList(e.Aliases))
		}
		graphMLFact(w, e.Description, e.Confidence, e.Sources)
		w.WriteString("</node>\n")
	}
	n := 0
	for r, ends := range edges(g) {
		fmt.Fprintf(w, `    <edge id="e%d" source="n%d" target="n%d">`, n, ends[0], ends[1])
		graphMLData(w, "label", r.Type)
		graphMLData(w, "id", r.ID)
		graphMLFact(w, r.Description, r.Confidence, r.Sources)
		w.WriteString("</edge>\n")
		n++
	}
	w.WriteString("  </graph>\n</graphml>\n")
	return nil
}

func graphMLFact(w *bufio.Writer, description string, confidence *float64, sources []extraction.Source) {
	if description != "" {
		graphMLData(w, "description", description)
	}
	if c := finite(confidence); c != nil {
		graphMLData(w, "confidence", strconv.FormatFloat(*c, 'g', -1, 64))
	}
	b := backingOf(sources)
	graphMLData(w, "mentions", strconv.Itoa(b.mentions))
	graphMLData(w, "documents", jsonList(b.documents))
	if b.quote != "" {
		graphMLData(w, "quote", b.quote)
	}
}

func graphMLData(w *bufio.Writer, key, text string) {
	fmt.Fprintf(w, `<data key="%s">%s</data>`, key, xmlText(text))
}

// xmlText escapes a text for an element. Characters that XML 1.0 does not have,
// also not as references, become U+FFFD; those that cannot be seen, line ends
// among them, become references, which a parser gives back as they were.
func xmlText(s string) string {
	var b strings.Builder
	for _, r := range clean(s) {
		switch {
		case r < ' ' && r != '\t' && r != '\n' && r != '\r', r == 0xfffe, r == 0xffff:
			b.WriteRune('\ufffd')
		case unseen(r), strings.ContainsRune(`<>&"'`, r):
			fmt.Fprintf(&b, "&#x%x;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
