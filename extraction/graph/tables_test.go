package graph_test

import (
	"bytes"
	"encoding/csv"
	"encoding/xml"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/graph"
)

// graphML is what a reader of the format sees.
type graphML struct {
	Keys []struct {
		ID   string `xml:"id,attr"`
		Name string `xml:"attr.name,attr"`
	} `xml:"key"`
	Nodes []graphMLItem `xml:"graph>node"`
	Edges []graphMLItem `xml:"graph>edge"`
}

type graphMLItem struct {
	ID     string `xml:"id,attr"`
	Source string `xml:"source,attr"`
	Target string `xml:"target,attr"`
	Data   []struct {
		Key  string `xml:"key,attr"`
		Text string `xml:",chardata"`
	} `xml:"data"`
}

func (i graphMLItem) data() map[string]string {
	out := map[string]string{}
	for _, d := range i.Data {
		out[d.Key] = d.Text
	}
	return out
}

func readGraphML(t testing.TB, text string) graphML {
	t.Helper()
	var read graphML
	decoder := xml.NewDecoder(strings.NewReader(text))
	require.NoError(t, decoder.Decode(&read))
	_, err := decoder.Token()
	require.True(t, err == io.EOF || err == nil)
	return read
}

// xmlText is what XML can hold of a text.
func xmlText(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xfffe || r == 0xffff {
			return '\ufffd'
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

func TestGraphMLIsReadBack(t *testing.T) {
	for _, g := range []extraction.Graph{sample(), hostile(), extraction.Merge()} {
		read := readGraphML(t, write(t, "graphml", g))
		require.Len(t, read.Keys, 9)
		require.Len(t, read.Nodes, len(g.Entities))
		require.Len(t, read.Edges, len(g.Relationships))
		for i, n := range read.Nodes {
			require.Equal(t, xmlText(g.Entities[i].Name), n.data()["label"])
			require.Equal(t, xmlText(g.Entities[i].Type), n.data()["type"])
			require.Equal(t, xmlText(g.Entities[i].ID), n.data()["id"])
			require.Equal(t, `["d"]`, n.data()["documents"])
		}
		for i, e := range read.Edges {
			require.Equal(t, xmlText(g.Relationships[i].Type), e.data()["label"])
			require.Contains(t, write(t, "graphml", g), `<node id="`+e.Target+`">`)
		}
	}
	confidence := 0.25
	g := sample()
	g.Entities[0].Confidence, g.Entities[0].Aliases, g.Entities[0].Description = &confidence, []string{"A. L.", `"`}, "a <b>"
	data := readGraphML(t, write(t, "graphml", g)).Nodes[0].data()
	require.Equal(t, map[string]string{
		"label": "Ada Lovelace", "id": "e1", "type": "person", "aliases": `["A. L.","\""]`, "description": "a <b>", "confidence": "0.25",
		"mentions": "1", "documents": `["d"]`, "quote": "Ada Lovelace\r\n met him",
	}, data)
}

func writeCSV(t testing.TB, g extraction.Graph) (nodes, edges [][]string) {
	t.Helper()
	var n, e bytes.Buffer
	require.NoError(t, graph.WriteCSV(&n, &e, g))
	for _, r := range n.String() + e.String() {
		require.False(t, r != '\n' && unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp), "%U", r)
	}
	nodes, err := csv.NewReader(&n).ReadAll() // refuses rows of another length
	require.NoError(t, err)
	edges, err = csv.NewReader(&e).ReadAll()
	require.NoError(t, err)
	return nodes, edges
}

func TestCSVIsTwoTables(t *testing.T) {
	confidence := 0.5
	g := sample()
	g.Entities[1].Confidence, g.Entities[1].Aliases = &confidence, []string{"Babbage, C."}
	nodes, edges := writeCSV(t, g)
	require.Equal(t, [][]string{
		{"id", "name", "type", "aliases", "description", "confidence", "mentions", "documents", "quote"},
		{"e1", "Ada Lovelace", "person", "[]", "", "", "1", `["d"]`, "Ada Lovelace met him"},
		{"e2", "Charles Babbage", "person", `["Babbage, C."]`, "", "0.5", "1", `["d"]`, ""},
		{"e3", "Ada Lovelace", "program", "[]", "", "", "1", `["d"]`, "the Ada"},
	}, nodes)
	require.Equal(t, [][]string{
		{"id", "source_id", "source", "type", "target_id", "target", "description", "confidence", "mentions", "documents", "quote"},
		{"r1", "e1", "Ada Lovelace", "met", "e2", "Charles Babbage", "", "", "1", `["d"]`, "met him"},
	}, edges)
}

func TestCSVRunsNoFormula(t *testing.T) {
	for text, want := range map[string]string{
		`=HYPERLINK("http://x","y")`: `'=HYPERLINK("http://x","y")`, "+1": "'+1", "-1": "'-1", "@SUM(A1)": "'@SUM(A1)", "'=1": "''=1",
		"\t=1": "'=1", "\r\n=1": "'=1", "\u200f=1": `\u{200f}=1`, "＝1": "'＝1", "a=b": "a=b", "": "",
	} {
		nodes, edges := writeCSV(t, one(text, text))
		require.Equal(t, want, nodes[1][1], "%q", text)
		require.Equal(t, want, edges[1][2], "%q", text)
	}
	nodes, edges := writeCSV(t, hostile())
	require.Len(t, nodes, 1+len(hostileTexts))
	require.Len(t, edges, 1+len(hostileTexts))
	for _, row := range append(nodes, edges...) {
		for _, c := range row {
			require.NotRegexp(t, `^[=+\-@\t\r]`, c)
		}
	}
}

type tornWriter struct{ after int }

func (w *tornWriter) Write(p []byte) (int, error) {
	if w.after--; w.after < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestCSVReturnsWriteErrors(t *testing.T) {
	require.ErrorIs(t, graph.WriteCSV(&tornWriter{}, io.Discard, sample()), io.ErrClosedPipe)
	require.ErrorIs(t, graph.WriteCSV(io.Discard, &tornWriter{}, sample()), io.ErrClosedPipe)
}

// one is a graph of one entity that is related to itself.
func one(name, typ string) extraction.Graph {
	return extraction.Graph{
		Documents:     []string{name},
		Entities:      []extraction.GraphEntity{{ID: name, Name: name, Type: typ, Aliases: []string{typ}, Sources: source(typ)}},
		Relationships: []extraction.GraphRelationship{{ID: typ, SourceID: name, TargetID: name, Type: typ, Sources: source(name)}},
	}
}

func FuzzTables(f *testing.F) {
	for _, h := range hostileTexts {
		f.Add(h, "type")
		f.Add("name", h)
	}
	f.Add("\x85\x85", "0")
	f.Fuzz(func(t *testing.T, name, typ string) {
		g := one(name, typ)
		read := readGraphML(t, write(t, "graphml", g))
		require.Len(t, read.Nodes, 1)
		require.Len(t, read.Edges, 1)
		require.Equal(t, xmlText(name), read.Nodes[0].data()["label"])
		require.Equal(t, xmlText(typ), read.Edges[0].data()["label"])
		nodes, edges := writeCSV(t, g)
		require.Len(t, nodes, 2)
		require.Len(t, edges, 2)
		require.NotRegexp(t, `^[=+\-@\t\r]`, nodes[1][1])

		statements := readCypher(t, write(t, "cypher", g))
		require.Len(t, statements, 2)
		require.Equal(t, databaseText(name), statements[0].rows[0]["set"].(map[string]any)["name"])
		require.Equal(t, databaseText(typ), statements[1].rows[0]["set"].(map[string]any)["type"])
	})
}
