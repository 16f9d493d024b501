package graph

import (
	"bufio"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// cypherBatch is how many rows one statement merges: enough that a statement
// costs little, few enough for one transaction.
const cypherBatch = 500

const cypherHead = `// A graph for Neo4j 5: cypher-shell --file FILE. Running it again changes nothing.
CREATE CONSTRAINT weirkeeper_entity_id IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE;
`

// writeCypher writes statements that merge nodes and relationships by their ids.
// What comes from the text is only in the parameter, as literals on one line; a
// statement holds nothing of it but the type, as a normalised label.
func writeCypher(w *bufio.Writer, g extraction.Graph) error {
	w.WriteString(cypherHead)
	nodes := map[string][]string{}
	for _, e := range g.Entities {
		label := labelOf(e.Type)
		nodes[label] = append(nodes[label], fmt.Sprintf("{id: %s, set: {name: %s, type: %s, aliases: %s, %s}}",
			cypherText(e.ID), cypherText(e.Name), cypherText(e.Type), cypherList(e.Aliases), cypherFact(e.Description, e.Confidence, e.Sources)))
	}
	cypherStatements(w, nodes, "UNWIND $rows AS row MERGE (n:Entity {id: row.id}) SET n:`%s`, n += row.set;\n")
	links := map[string][]string{}
	for r := range edges(g) {
		label := labelOf(r.Type)
		links[label] = append(links[label], fmt.Sprintf("{id: %s, source: %s, target: %s, set: {type: %s, %s}}",
			cypherText(r.ID), cypherText(r.SourceID), cypherText(r.TargetID), cypherText(r.Type), cypherFact(r.Description, r.Confidence, r.Sources)))
	}
	cypherStatements(w, links, "UNWIND $rows AS row MATCH (a:Entity {id: row.source}) MATCH (b:Entity {id: row.target}) "+
		"MERGE (a)-[r:`%s` {id: row.id}]->(b) SET r += row.set;\n")
	return nil
}

// cypherStatements writes the rows of each label in batches. The parameter is
// one line: cypher-shell reads a :param up to the line's end, and leaves the
// semicolon away that other readers of such files need.
func cypherStatements(w *bufio.Writer, rows map[string][]string, statement string) {
	for _, label := range slices.Sorted(maps.Keys(rows)) {
		for batch := range slices.Chunk(rows[label], cypherBatch) {
			fmt.Fprintf(w, ":param rows => [%s];\n", strings.Join(batch, ", "))
			fmt.Fprintf(w, statement, label)
		}
	}
}

func cypherFact(description string, confidence *float64, sources []extraction.Source) string {
	number := "null"
	if c := finite(confidence); c != nil {
		if number = strconv.FormatFloat(*c, 'f', -1, 64); !strings.Contains(number, ".") {
			number += ".0" // 1 would be an integer
		}
	}
	b := backingOf(sources)
	return fmt.Sprintf("description: %s, confidence: %s, mentions: %d, documents: %s, quote: %s",
		cypherText(description), number, b.mentions, cypherList(b.documents), cypherText(b.quote))
}

func cypherList(texts []string) string {
	literals := make([]string, len(texts))
	for i, t := range texts {
		literals[i] = cypherText(t)
	}
	return "[" + strings.Join(literals, ", ") + "]"
}

// cypherText is a text as a literal. A quote must never be written as \u0027:
// Neo4j replaces such escapes before it looks for the end of the literal.
func cypherText(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range clean(s) {
		switch {
		case r == '\'' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case unseen(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('\'')
	return b.String()
}
