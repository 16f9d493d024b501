package graph

import (
	"encoding/csv"
	"encoding/json"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// WriteCSV writes the graph as two tables with a header each, in UTF-8 without a
// byte order mark. Lists are JSON arrays. Texts are on one line, and characters
// that cannot be seen are spelt out.
//
// Spreadsheets take a cell for a formula that begins with =, +, - or @, whatever
// its quotes: a text that does, or that begins with an apostrophe, has one more
// apostrophe before it. A program that reads the tables takes one off.
func WriteCSV(nodes, edges io.Writer, g extraction.Graph) error {
	if err := writeNodes(csv.NewWriter(nodes), g); err != nil {
		return err
	}
	return writeEdges(csv.NewWriter(edges), g)
}

func writeNodes(w *csv.Writer, g extraction.Graph) error {
	rows := [][]string{{"id", "name", "type", "aliases", "description", "confidence", "mentions", "documents", "quote"}}
	for _, e := range g.Entities {
		rows = append(rows, append([]string{cell(e.ID), cell(e.Name), cell(e.Type), cell(jsonList(e.Aliases))},
			factCells(e.Description, e.Confidence, e.Sources)...))
	}
	return w.WriteAll(rows)
}

func writeEdges(w *csv.Writer, g extraction.Graph) error {
	rows := [][]string{{"id", "source_id", "source", "type", "target_id", "target", "description", "confidence", "mentions", "documents", "quote"}}
	for r, ends := range edges(g) {
		source, target := g.Entities[ends[0]], g.Entities[ends[1]]
		rows = append(rows, append([]string{cell(r.ID), cell(source.ID), cell(source.Name), cell(r.Type), cell(target.ID), cell(target.Name)},
			factCells(r.Description, r.Confidence, r.Sources)...))
	}
	return w.WriteAll(rows)
}

func factCells(description string, confidence *float64, sources []extraction.Source) []string {
	number := ""
	if c := finite(confidence); c != nil {
		number = strconv.FormatFloat(*c, 'g', -1, 64)
	}
	b := backingOf(sources)
	return []string{cell(description), number, strconv.Itoa(b.mentions), cell(jsonList(b.documents)), cell(b.quote)}
}

// cell is a text that no spreadsheet takes for a formula. Some of them also
// know the full-width forms of the signs.
func cell(s string) string {
	s = visible(clean(s), math.MaxInt)
	if first, n := utf8.DecodeRuneInString(s); n > 0 && strings.ContainsRune("=+-@'＝＋－＠", first) {
		return "'" + s
	}
	return s
}

// jsonList is a list as one text, [] for none.
func jsonList(texts []string) string {
	if len(texts) == 0 {
		return "[]"
	}
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(texts) // strings always encode, and a builder takes everything
	return strings.TrimSuffix(b.String(), "\n")
}
