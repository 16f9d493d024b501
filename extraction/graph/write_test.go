package graph_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/graph"
)

func write(t testing.TB, format string, g extraction.Graph) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, graph.Write(&b, format, g))
	require.True(t, utf8.Valid(b.Bytes()))
	return b.String()
}

func source(quote string) []extraction.Source {
	s := extraction.Source{DocumentID: "d", ChunkID: "c", Model: "test/m"}
	if quote != "" {
		s.Evidence = &extraction.Evidence{Quote: quote, ByteEnd: len(quote)}
	}
	return []extraction.Source{s}
}

func sample() extraction.Graph {
	return extraction.Graph{
		Documents: []string{"d"}, Chunks: 2, Models: []string{"test/m"},
		Domains: []extraction.GraphDomain{
			{DocumentID: "d", Chunks: 1, DomainChoice: extraction.DomainChoice{ID: "general", FallbackReason: "no classifier is on"}},
			{DocumentID: "d", Chunks: 1, DomainChoice: extraction.DomainChoice{ID: "news"}},
		},
		Entities: []extraction.GraphEntity{
			{ID: "e1", Name: "Ada Lovelace", Type: "person", Sources: source("Ada Lovelace\r\n met him")},
			{ID: "e2", Name: "Charles Babbage", Type: "person", Sources: source("")},
			{ID: "e3", Name: "Ada Lovelace", Type: "program", Sources: source("the Ada")},
		},
		Relationships: []extraction.GraphRelationship{
			{ID: "r1", SourceID: "e1", TargetID: "e2", Type: "met", Sources: source("met him")},
		},
		Conflicts: []extraction.Conflict{{Name: "Ada Lovelace", Types: []string{"person", "program"}, EntityIDs: []string{"e1", "e3"}}},
		Counters:  extraction.Counters{Dropped: 2, Ungrounded: 1},
		Titles:    map[string]string{"d": "Letters"},
		Excerpts:  []extraction.GraphExcerpt{{DocumentID: "d", ChunkID: "c", Excerpt: extraction.Excerpt{Text: "Ada Lovelace\r\n met him there."}}},
	}
}

func TestTextIsReadable(t *testing.T) {
	require.Equal(t, `3 entities and 1 relationship from 1 document, 2 chunks, read by test/m as general, news

person
  Ada Lovelace  "Ada Lovelace met him"
  Charles Babbage  (not found in the text)

program
  Ada Lovelace  "the Ada"

relationships
  Ada Lovelace --met--> Charles Babbage  "met him"

one name, several types
  Ada Lovelace: person, program

notes
  2 rows of the model's answers dropped: no usable name, type or shape
  1 fact kept whose quote is not in the text
  1 document read as general: no classifier is on
`, write(t, "text", sample()))
}

// A thousand documents of which nobody knew the domain take one line.
func TestTextSaysWhyADomainIsTheFallback(t *testing.T) {
	var g extraction.Graph
	for _, id := range []string{"a", "b", "b"} {
		g.Domains = append(g.Domains, extraction.GraphDomain{DocumentID: id, Chunks: 1, DomainChoice: extraction.DomainChoice{ID: "general", FallbackReason: "of " + id}})
	}
	require.Contains(t, write(t, "text", g), "\n  2 documents read as general, such as a: of a\n")
}

func TestDOTAndMermaid(t *testing.T) {
	require.Equal(t, `digraph weirkeeper {
  graph [charset="UTF-8", rankdir=LR];
  node [shape=box];
  n0 [label="Ada Lovelace\nperson", tooltip="Ada Lovelace met him"];
  n1 [label="Charles Babbage\nperson", tooltip=""];
  n2 [label="Ada Lovelace\nprogram", tooltip="the Ada"];
  n0 -> n1 [label="met", tooltip="met him"];
}
`, write(t, "dot", sample()))
	require.Equal(t, `flowchart LR
  n0["Ada Lovelace (person)"]
  n1["Charles Babbage (person)"]
  n2["Ada Lovelace (program)"]
  n0 -->|"met"| n1
`, write(t, "mermaid", sample()))
}

func TestJSONIsTheGraph(t *testing.T) {
	for _, g := range []extraction.Graph{sample(), hostile(), extraction.Merge()} {
		var back extraction.Graph
		require.NoError(t, json.Unmarshal([]byte(write(t, "json", g)), &back))
		require.Equal(t, g, back)
	}
}

func TestJSONLinesNameTheirKind(t *testing.T) {
	for _, g := range []extraction.Graph{sample(), hostile(), extraction.Merge()} {
		var kinds []string
		for line := range strings.Lines(write(t, "jsonl", g)) {
			var row struct{ Kind, ID string }
			require.NoError(t, json.Unmarshal([]byte(line), &row), line)
			kinds = append(kinds, row.Kind)
		}
		want := append([]string{"graph"}, repeat("entity", len(g.Entities))...)
		want = append(want, repeat("relationship", len(g.Relationships))...)
		require.Equal(t, append(want, append(repeat("conflict", len(g.Conflicts)), repeat("excerpt", len(g.Excerpts))...)...), kinds)
	}
}

func repeat(s string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = s
	}
	return out
}

func TestUnknownFormatsAreRefusedByName(t *testing.T) {
	var b bytes.Buffer
	err := graph.Write(&b, "png", sample())
	var unknown *graph.UnknownFormatError
	require.ErrorAs(t, err, &unknown)
	require.Equal(t, "png", unknown.Format)
	for _, f := range graph.Formats() {
		require.ErrorContains(t, err, f)
	}
	require.Zero(t, b.Len())
}

type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestWriteErrorsAreReturned(t *testing.T) {
	for _, f := range graph.Formats() {
		require.ErrorIs(t, graph.Write(brokenPipe{}, f, sample()), io.ErrClosedPipe, f)
	}
}

// A graph that does not come from Merge may have relationships to nowhere.
func TestRelationshipsToNowhereAreNotDrawn(t *testing.T) {
	g := extraction.Graph{Relationships: []extraction.GraphRelationship{{ID: "r", SourceID: "a", TargetID: "b", Type: "lost"}}}
	for _, f := range []string{"text", "dot", "mermaid"} {
		require.NotContains(t, write(t, f, g), "lost", f)
	}
}

var hostileTexts = []string{
	`"`, `\`, `\"`, `a\`, `"];n9 [label="x`, "a\nb\r\nc", "\x1b[2J\x1b]0;owned\x07", "\u009b31m",
	"<script>alert(1)</script>", "</svg><img src=x onerror=alert(1)>", "&lt;b&gt;&#34;&quot;", "#quot;#35;#lt;",
	"\u202egnp.exe\u202c", "\u200fRTL\u2066x\u2069", "a\u2028b\u2029c", "\x00", "`md` **b** _i_ [l](javascript:x)",
	"end", "graph", "subgraph", "n0-->n1", "click n0 call x()", "%%{init: {}}%%", "style n0 fill:#f00;", "\\N\\G\\E\\l",
	strings.Repeat("x", 3000), strings.Repeat("e\u0301", 1500), "👩‍👩‍👧‍👦", "東京", "می\u200cخواهم", "  ", "|pipe|", "{}()[]<>", "$x^2$", "$$x$$",
	"---\ntitle: x\n---", "fa:fa-car", ";;;", "/*", "//", "--", "->",
}

// hostile is a graph whose every text is one of the hostile ones.
func hostile() extraction.Graph {
	g := extraction.Graph{Documents: hostileTexts, Models: hostileTexts, Chunks: 1, Conflicts: []extraction.Conflict{}, Titles: map[string]string{}}
	for i, h := range hostileTexts {
		g.Entities = append(g.Entities, extraction.GraphEntity{ID: h, Name: h, Type: h, Description: h, Sources: source(h)})
		other := hostileTexts[(i+1)%len(hostileTexts)]
		g.Relationships = append(g.Relationships, extraction.GraphRelationship{ID: h, SourceID: h, TargetID: other, Type: h, Sources: source(h)})
		g.Excerpts = append(g.Excerpts, extraction.GraphExcerpt{DocumentID: h, ChunkID: "c", Excerpt: extraction.Excerpt{Text: h + h}})
		g.Titles[h] = h
		g.Domains = append(g.Domains, extraction.GraphDomain{DocumentID: h, Chunks: 1, DomainChoice: extraction.DomainChoice{ID: h, FallbackReason: h}})
		g.Conflicts = append(g.Conflicts, extraction.Conflict{Name: h, Types: []string{h}, EntityIDs: []string{h}})
	}
	return g
}

// Nothing that is written can steer a terminal, turn the writing direction or
// leave its line.
// Hundreds of marks on a letter would cover what is around it.
func TestMarksOnALetterAreBounded(t *testing.T) {
	g := extraction.Graph{Entities: []extraction.GraphEntity{{ID: "e", Name: "e" + strings.Repeat("\u0301", 200) + "f\u0301", Type: "x"}}}
	var out strings.Builder
	require.NoError(t, graph.Write(&out, graph.FormatText, g))
	require.Contains(t, out.String(), "e"+strings.Repeat("\u0301", 8)+"f\u0301")
}

func TestHostileTextsShowNothingInvisible(t *testing.T) {
	for _, f := range graph.Formats() {
		for _, r := range write(t, f, hostile()) {
			require.False(t, r != '\n' && unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || unicode.In(r, unicode.Zl, unicode.Zp),
				"%s writes %U", f, r)
		}
	}
	text := write(t, "text", hostile())
	n := len(hostileTexts)
	require.LessOrEqual(t, strings.Count(text, "\n"), 1+3*n+2+n+2+n+2+n, "no text takes more than its line")
	for line := range strings.Lines(text) {
		require.Less(t, utf8.RuneCountInString(line), 1000)
	}
	require.Contains(t, text, `\u{202e}gnp.exe`)
	require.Contains(t, text, "👩‍👩‍👧‍👦")
	require.Contains(t, text, "می\u200cخواهم")
}

// The grammar of what we write, strictly: a string ends only where we end it.
var (
	dotString    = `"(?:[^"\\\n]|\\["\\n])*"`
	dotStatement = regexp.MustCompile(`^  n\d+(?: -> n\d+)? \[label=` + dotString + `, tooltip=` + dotString + `\];$`)
	mermaidLabel = `"(?:[\p{L}\p{N}\p{M} _,.…()-]|#\d+;)*"`
	mermaidLine  = regexp.MustCompile(`^  n\d+(?:\[` + mermaidLabel + `\]| -->(?:\|` + mermaidLabel + `\|)? n\d+)$`)
	mermaidEmpty = `|""|` // which Mermaid refuses
)

func TestHostileTextsStayInTheirStrings(t *testing.T) {
	n := len(hostileTexts)
	for format, c := range map[string]struct {
		statement  *regexp.Regexp
		head, tail int
	}{"dot": {dotStatement, 3, 1}, "mermaid": {mermaidLine, 1, 0}} {
		out := strings.TrimSuffix(write(t, format, hostile()), "\n")
		lines := strings.Split(out, "\n")
		require.Len(t, lines, c.head+2*n+c.tail, format)
		for _, line := range lines[c.head : len(lines)-c.tail] {
			require.Regexp(t, c.statement, line)
		}
	}
	require.NotContains(t, write(t, "mermaid", hostile()), mermaidEmpty)
	require.NotRegexp(t, regexp.MustCompile(`&(?:[^a]|a[^m])`), write(t, "dot", hostile()), "an entity of the text would be decoded")
}

// Graphviz itself takes the output, and shows the names it was given.
func TestGraphvizReadsDOT(t *testing.T) {
	tool, err := exec.LookPath("dot")
	if err != nil {
		t.Skip("graphviz is not installed: only our own rules were checked")
	}
	for name, g := range map[string]extraction.Graph{"sample": sample(), "hostile": hostile(), "empty": extraction.Merge()} {
		cmd := exec.Command(tool, "-Tjson0")
		cmd.Stdin = strings.NewReader(write(t, "dot", g))
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		require.NoError(t, cmd.Run(), "%s: %s", name, stderr.String())
		require.Empty(t, stderr.String(), name)
		var read struct {
			Objects []struct{ Name, Label string }
			Edges   []struct{ Tail, Head int }
		}
		require.NoError(t, json.Unmarshal(stdout.Bytes(), &read), name)
		require.Len(t, read.Objects, len(g.Entities), name)
		require.Len(t, read.Edges, len(g.Relationships), name)
		for i, o := range read.Objects {
			require.Equal(t, fmt.Sprint("n", i), o.Name)
		}
	}
}

func FuzzWrite(f *testing.F) {
	for _, h := range hostileTexts {
		f.Add(h, "type")
	}
	f.Fuzz(func(t *testing.T, name, typ string) {
		g := extraction.Graph{
			Entities:      []extraction.GraphEntity{{ID: "a", Name: name, Type: typ, Sources: source(typ)}},
			Relationships: []extraction.GraphRelationship{{ID: "r", SourceID: "a", TargetID: "a", Type: typ, Sources: source(name)}},
		}
		dot := strings.Split(write(t, "dot", g), "\n")
		require.Len(t, dot, 7)
		require.Regexp(t, dotStatement, dot[3])
		require.Regexp(t, dotStatement, dot[4])
		mermaid := strings.Split(write(t, "mermaid", g), "\n")
		require.Len(t, mermaid, 4)
		require.Regexp(t, mermaidLine, mermaid[1])
		require.Regexp(t, mermaidLine, mermaid[2])
		require.True(t, json.Valid([]byte(write(t, "json", g))))
		require.NotContains(t, write(t, "text", g), "\x1b")
	})
}
