package graph_test

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/browser"
)

// dumpDOM lets a real browser show an address and returns the document that its
// scripts have made of it, and what they complained of.
func dumpDOM(t *testing.T, address string) (dom, console string) {
	t.Helper()
	cmd := browser.Command(t, "--window-size=1200,800", "--enable-logging=stderr", "--virtual-time-budget=20000", "--dump-dom", address)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	require.NoError(t, cmd.Run(), "%s", &stderr)
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			console += line
		}
	}
	return stdout.String(), console
}

func TestPageWorksFromAFile(t *testing.T) {
	for name, g := range map[string]extraction.Graph{"hostile": hostile(), "empty": extraction.Merge()} {
		path := filepath.Join(t.TempDir(), "graph.html")
		require.NoError(t, os.WriteFile(path, []byte(write(t, "html", g)), 0o600))
		dom, console := dumpDOM(t, "file://"+path)
		require.Empty(t, console, name)
		require.Contains(t, dom, `data-layout="done"`, name)
		require.Regexp(t, fmt.Sprintf(`<p id="summary">%d entit`, len(g.Entities)), dom, name)
		require.Equal(t, 2, strings.Count(dom, "<script"), name)
		require.NotContains(t, dom, "<img", name)
	}
}

//go:embed testdata/drive.js
var drive string

// TestPageInABrowser uses the page as a person would: a page around it in the
// same browser types, clicks and reads.
func TestPageInABrowser(t *testing.T) {
	text := "Years went by. " + strings.Join(letters(), " ") + " And so on."
	var parts []extraction.Part
	for i, document := range []string{"letters", "diary"} {
		draft := extraction.Draft{
			Entities: []extraction.DraftEntity{
				{Name: "Ada Lovelace", Type: "person", Quote: letters()[0]}, {Name: "Charles Babbage", Type: "person"}, {Name: "London", Type: "city"},
			},
			Relationships: []extraction.DraftRelationship{{Source: "Ada Lovelace", Target: "Charles Babbage", Type: "met", Quote: letters()[0]}},
		}
		if i == 1 {
			draft = extraction.Draft{Entities: []extraction.DraftEntity{{Name: "Mary Somerville", Type: "person"}}}
		}
		p := extraction.Part{DocumentID: document, ChunkID: document, Index: i}
		p.Extraction.Entities, p.Extraction.Relationships, p.Extraction.Counters = extraction.Ground("acme", text, draft)
		p.Extraction.Excerpts = extraction.Excerpts(text, p.Extraction.Entities, p.Extraction.Relationships)
		parts = append(parts, p)
	}
	page := write(t, "html", extraction.Merge(parts...))
	var mu sync.Mutex
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked = append(asked, r.URL.Path)
		mu.Unlock()
		switch r.URL.Path {
		case "/graph.html":
			fmt.Fprint(w, page)
		case "/":
			fmt.Fprint(w, `<!DOCTYPE html><iframe src="graph.html" width="1180" height="760"></iframe><pre id="result"></pre><script>`+drive+`</script>`)
		default:
			http.NotFound(w, r)
		}
	}))
	defer server.Close()
	dom, console := dumpDOM(t, server.URL+"/")
	result := regexp.MustCompile(`(?s)<pre id="result">(.*?)</pre>`).FindStringSubmatch(dom)
	require.NotNil(t, result, dom)
	var saw map[string]any
	require.NoError(t, json.Unmarshal([]byte(html.UnescapeString(result[1])), &saw), "%s\n%s", result[1], console)
	require.Equal(t, map[string]any{
		"summary": "4 entities · 1 relationship · 2 documents · 2 chunks",
		"search":  []any{"Charles Babbage"}, "searchStatus": "1 entity found",
		"withoutPersons": []any{"London"}, "onlyDiary": []any{"Mary Somerville"},
		"everything":   []any{"Ada Lovelace", "Charles Babbage", "London", "Mary Somerville"},
		"edgeHeading":  "met",
		"edgeQuote":    letters()[0],
		"edgeContext":  "…Years went by. " + letters()[0] + " " + letters()[1] + " And so on.…",
		"edgeSource":   "letters, chunk 1",
		"listHeading":  "Ada Lovelace",
		"focusOnPanel": true,
		"slash":        "search", "escape": "Overview", "zoomed": true,
	}, saw, console)
	for _, path := range asked {
		require.Contains(t, []string{"/", "/graph.html", "/favicon.ico"}, path, "the page asked for something")
	}
}

func letters() []string {
	return []string{"Ada Lovelace met Charles Babbage.", "They lived in London, and so did Mary Somerville."}
}

func TestPageOfAVeryLargeGraphSaysWhatItDraws(t *testing.T) {
	g := extraction.Graph{Documents: []string{"d"}}
	for i := range 5001 {
		g.Entities = append(g.Entities, extraction.GraphEntity{ID: fmt.Sprint(i), Name: fmt.Sprint("Entity ", i), Type: "thing"})
	}
	path := filepath.Join(t.TempDir(), "graph.html")
	require.NoError(t, os.WriteFile(path, []byte(write(t, "html", g)), 0o600))
	dom, console := dumpDOM(t, "file://"+path)
	require.Empty(t, console)
	require.Contains(t, dom, `<p id="notice">The drawing shows the 5,000 most related of 5,001 entities.`)
	require.Contains(t, dom, "Show 100 more of 5,001")
}
