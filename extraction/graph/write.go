package graph

import (
	"bufio"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// The formats that [Write] knows.
const (
	FormatText    = "text"    // a listing for people
	FormatJSON    = "json"    // the whole graph as one object
	FormatJSONL   = "jsonl"   // one object per line, each with a "kind"
	FormatDOT     = "dot"     // Graphviz
	FormatMermaid = "mermaid" // Mermaid flowchart; its default settings draw at most 500 edges
	FormatGraphML = "graphml" // XML for Gephi, yEd, Cytoscape, NetworkX
	FormatCypher  = "cypher"  // statements for Neo4j's cypher-shell
	FormatHTML    = "html"    // one page to look at the graph, for any browser
)

// Formats returns the formats that [Write] knows, the one for people first. CSV
// is not among them, for it is two files: see [WriteCSV].
func Formats() []string {
	return []string{FormatText, FormatJSON, FormatJSONL, FormatDOT, FormatMermaid, FormatGraphML, FormatCypher, FormatHTML}
}

// UnknownFormatError is returned for a format that is not one of [Formats].
type UnknownFormatError struct{ Format string }

func (e *UnknownFormatError) Error() string {
	return fmt.Sprintf("unknown graph format %q: use one of %s", e.Format, strings.Join(Formats(), ", "))
}

// Write writes the graph in a format. A format that is not known is an
// [*UnknownFormatError], and nothing is written; other errors are the writer's.
func Write(w io.Writer, format string, g extraction.Graph) error {
	write, ok := map[string]func(*bufio.Writer, extraction.Graph) error{
		FormatText:    writeText,
		FormatJSON:    writeJSON,
		FormatJSONL:   writeJSONLines,
		FormatDOT:     writeDOT,
		FormatMermaid: writeMermaid,
		FormatGraphML: writeGraphML,
		FormatCypher:  writeCypher,
		FormatHTML:    writeHTML,
	}[format]
	if !ok {
		return &UnknownFormatError{Format: format}
	}
	b := bufio.NewWriter(w)
	if err := write(b, g); err != nil {
		return err
	}
	return b.Flush()
}

// quoteOf returns the first passage that shows a fact, "" if none does.
func quoteOf(sources []extraction.Source) string {
	for _, s := range sources {
		if s.Evidence != nil {
			return s.Evidence.Quote
		}
	}
	return ""
}

// edges yields each relationship with the places of its ends among the entities,
// and passes over those without: a graph need not come from [extraction.Merge].
func edges(g extraction.Graph) iter.Seq2[extraction.GraphRelationship, [2]int] {
	place := make(map[string]int, len(g.Entities))
	for i, e := range g.Entities {
		place[e.ID] = i
	}
	return func(yield func(extraction.GraphRelationship, [2]int) bool) {
		for _, r := range g.Relationships {
			source, ok := place[r.SourceID]
			target, also := place[r.TargetID]
			if ok && also && !yield(r, [2]int{source, target}) {
				return
			}
		}
	}
}
