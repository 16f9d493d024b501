package graph_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// pageJSON is what the page's script finds in it.
type pageJSON struct {
	Documents     []struct{ ID, Title string }
	Models        []string
	Chunks        int
	Entities      []pageFact
	Relationships []pageFact
	Conflicts     [][]int
	Notes         []string
	Excerpts      []string
}

type pageFact struct {
	Name, Type string
	Aliases    []string
	Sources    []struct {
		Document, Chunk, Model, Start, End int
		Excerpt                            *int
		Quote                              *string
	}
}

// readPage parses a page as a browser does, and returns its elements in order
// without their texts, the texts of script and style, and the graph.
func readPage(t testing.TB, text string) (elements []string, raw map[string]string, data pageJSON) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	require.NoError(t, err)
	raw = map[string]string{}
	for n := range root.Descendants() {
		require.NotEqual(t, html.CommentNode, n.Type)
		if n.Type != html.ElementNode {
			continue
		}
		tag := n.Data
		for _, a := range n.Attr {
			tag += " " + a.Key
			switch {
			case a.Key == "content" && strings.Contains(a.Val, "default-src"):
				raw["policy"] = a.Val
			case a.Key == "type" && n.Data == "script":
				tag += "=" + a.Val
			}
		}
		elements = append(elements, tag)
		if n.Data == "script" || n.Data == "style" {
			require.Equal(t, n.FirstChild, n.LastChild)
			raw[tag] = n.FirstChild.Data
		}
	}
	require.NoError(t, json.Unmarshal([]byte(raw["script type=application/json id"]), &data))
	return elements, raw, data
}

func TestPageHoldsTheGraph(t *testing.T) {
	_, _, data := readPage(t, write(t, "html", sample()))
	require.Len(t, data.Documents, 1)
	require.Equal(t, "Letters", data.Documents[0].Title)
	require.Equal(t, []string{"test/m"}, data.Models)
	require.Equal(t, 2, data.Chunks)
	require.Equal(t, [][]int{{0, 2}}, data.Conflicts)
	require.Len(t, data.Notes, 3)
	require.Equal(t, []string{"Ada Lovelace\r\n met him there."}, data.Excerpts)
	require.Len(t, data.Entities, 3)
	require.Len(t, data.Relationships, 1)
	grounded := data.Entities[0].Sources[0]
	require.Equal(t, 0, *grounded.Excerpt)
	require.Equal(t, []int{0, 22}, []int{grounded.Start, grounded.End})
	require.Nil(t, grounded.Quote)
	require.Nil(t, data.Entities[1].Sources[0].Excerpt)
	require.Nil(t, data.Entities[1].Sources[0].Quote, "ungrounded")
	require.Equal(t, "the Ada", *data.Entities[2].Sources[0].Quote, "no excerpt says so: the quote alone")
}

// Scripts count in UTF-16, results in bytes.
func TestPageFindsQuotesInAnyScript(t *testing.T) {
	text := "漢字 👩‍👩‍👧‍👦 e\u0301 می\u200cخواهم"
	for _, quote := range []string{"漢", "👩‍👩‍👧‍👦", "e\u0301", "می\u200cخواهم", text, ""} {
		at := strings.Index(text, quote)
		g := one("name", "type")
		s := &g.Entities[0].Sources[0]
		*s.Evidence = extraction.Evidence{Quote: quote, ByteStart: 7 + at, ByteEnd: 7 + at + len(quote)}
		g.Excerpts = []extraction.GraphExcerpt{
			{DocumentID: "d", ChunkID: "other", Excerpt: extraction.Excerpt{ByteStart: 7, Text: text}},
			{DocumentID: "d", ChunkID: "c", Excerpt: extraction.Excerpt{ByteStart: 7 + at, Text: "x"}},
			{DocumentID: "d", ChunkID: "c", Excerpt: extraction.Excerpt{ByteStart: 7, Text: text}},
		}
		_, _, data := readPage(t, write(t, "html", g))
		found := data.Entities[0].Sources[0]
		units := utf16.Encode([]rune(data.Excerpts[*found.Excerpt]))
		require.Equal(t, quote, string(utf16.Decode(units[found.Start:found.End])))
	}
}

// Whatever the graph says, the page has the elements of an empty one, and the
// policy allows its own script and style and nothing else.
func TestPageIsTheSameAroundHostileTexts(t *testing.T) {
	want, _, _ := readPage(t, write(t, "html", extraction.Merge()))
	got, raw, data := readPage(t, write(t, "html", hostile()))
	require.Equal(t, want, got)
	require.Len(t, data.Entities, len(hostileTexts))
	for i, e := range data.Entities {
		require.Equal(t, hostileTexts[i], e.Name)
	}
	hash := func(text string) string {
		sum := sha256.Sum256([]byte(text))
		return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}
	require.Equal(t, "default-src 'none'; script-src "+hash(raw["script"])+"; style-src "+hash(raw["style"])+"; base-uri 'none'; form-action 'none'", raw["policy"])
}

// The page loads nothing and never takes a text for markup or code.
func TestPageHasNoOtherSources(t *testing.T) {
	files, err := filepath.Glob("page/*")
	require.NoError(t, err)
	require.Len(t, files, 10)
	forbidden := regexp.MustCompile(`(?i)https?:|url\(|@import|src=|href=|innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function|fetch\(|XMLHttp|WebSocket|localStorage|<!--|</script|style="|setAttribute\("on`)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		if filepath.Ext(file) == ".html" {
			text = []byte(strings.ReplaceAll(string(text), "</script>", ""))
		}
		require.NotRegexp(t, forbidden, string(text), file)
		require.NotContains(t, string(text), "\r", file)
		for _, b := range text {
			require.Less(t, b, byte(0x80), file)
		}
	}
}

func FuzzPage(f *testing.F) {
	for _, h := range hostileTexts {
		f.Add(h, "type")
		f.Add("name", h)
	}
	f.Add("</script><script>alert(1)</script>", "<!--<script>")
	f.Add("@data@", "@script@")
	f.Add("\x85\x85", "0")
	want, _, _ := readPage(f, write(f, "html", extraction.Merge()))
	f.Fuzz(func(t *testing.T, name, typ string) {
		g := one(name, typ)
		g.Titles = map[string]string{name: typ}
		g.Excerpts = []extraction.GraphExcerpt{{DocumentID: "d", ChunkID: "c", Excerpt: extraction.Excerpt{Text: name + typ}}}
		elements, _, data := readPage(t, write(t, "html", g))
		require.Equal(t, want, elements)
		require.Equal(t, string([]rune(name)), data.Entities[0].Name, "each wrong byte is U+FFFD")
		require.Len(t, data.Relationships, 1)
	})
}
