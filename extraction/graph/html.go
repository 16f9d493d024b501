package graph

import (
	"bufio"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

//go:embed page
var pageFiles embed.FS

// pageScripts are the parts of the page's script, in the order in which they
// are joined.
var pageScripts = [...]string{"text.js", "layout.js", "select.js", "canvas.js", "labels.js", "pointer.js", "details.js", "page.js"}

// writeHTML writes one page that shows the graph, works from a file, and loads
// nothing. Texts are JSON in a block that no browser runs, and the script sets
// them as text only. The policy lets no other script or style in, and no
// request out.
func writeHTML(w *bufio.Writer, g extraction.Graph) error {
	data, err := pageData(g)
	if err != nil {
		return err
	}
	page, style := pageFile("page.html"), pageFile("page.css")
	var script strings.Builder
	for _, name := range pageScripts {
		script.WriteString(pageFile(name))
	}
	policy := "default-src 'none'; script-src '" + sourceHash(script.String()) + "'; style-src '" + sourceHash(style) +
		"'; base-uri 'none'; form-action 'none'"
	// One pass: what is put in is not looked at again.
	_, err = strings.NewReplacer("@policy@", policy, "@style@", style, "@script@", script.String(), "@data@", data).WriteString(w, page)
	return err
}

// pageFile is an embedded file. It is there, or the program would not have been
// built.
func pageFile(name string) string {
	text, _ := pageFiles.ReadFile("page/" + name)
	return string(text)
}

func sourceHash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// The page's own form of a graph: things name each other by their place.
type (
	page struct {
		Documents     []pageDocument `json:"documents"`
		Models        []string       `json:"models"`
		Chunks        int            `json:"chunks"`
		Entities      []pageEntity   `json:"entities"`
		Relationships []pageRelation `json:"relationships"`
		Conflicts     [][]int        `json:"conflicts"`
		Notes         []string       `json:"notes"`
		Excerpts      []string       `json:"excerpts"`
	}
	pageDocument struct {
		ID    string `json:"id"`
		Title string `json:"title,omitempty"`
	}
	pageFact struct {
		Type        string       `json:"type"`
		Description string       `json:"description,omitempty"`
		Confidence  *float64     `json:"confidence"`
		Sources     []pageSource `json:"sources"`
	}
	pageEntity struct {
		Name    string   `json:"name"`
		Aliases []string `json:"aliases,omitempty"`
		pageFact
	}
	pageRelation struct {
		Source int `json:"source"`
		Target int `json:"target"`
		pageFact
	}
	// pageSource has a place in an excerpt, or else the quote alone, or neither if
	// the fact is ungrounded.
	pageSource struct {
		Document int     `json:"document"`
		Chunk    int     `json:"chunk"`
		Model    int     `json:"model"`
		Excerpt  *int    `json:"excerpt,omitempty"`
		Start    int     `json:"start,omitempty"` // in UTF-16, as scripts count
		End      int     `json:"end,omitempty"`
		Quote    *string `json:"quote,omitempty"`
	}
)

// pageData is the graph as JSON that can stand in a page: encoding/json has
// escaped <, > and &, writeLine what cannot be seen.
func pageData(g extraction.Graph) (string, error) {
	b := pageBuilder{documents: map[string]int{}, models: map[string]int{}, excerpts: excerptsOf(g), used: map[int]int{}}
	p := page{
		Models: []string{}, Chunks: g.Chunks, Conflicts: [][]int{}, Notes: append([]string{}, notes(g)...),
		Entities: []pageEntity{}, Relationships: []pageRelation{},
	}
	for _, id := range g.Documents {
		b.document(id)
	}
	place := map[string]int{}
	for i, e := range g.Entities {
		place[e.ID] = i
		p.Entities = append(p.Entities, pageEntity{e.Name, e.Aliases, b.fact(e.Type, e.Description, e.Confidence, e.Sources)})
	}
	for r, ends := range edges(g) {
		p.Relationships = append(p.Relationships, pageRelation{ends[0], ends[1], b.fact(r.Type, r.Description, r.Confidence, r.Sources)})
	}
	for _, c := range g.Conflicts {
		var places []int
		for _, id := range c.EntityIDs {
			if i, ok := place[id]; ok {
				places = append(places, i)
			}
		}
		if len(places) > 0 {
			p.Conflicts = append(p.Conflicts, places)
		}
	}
	p.Documents, p.Models, p.Excerpts = make([]pageDocument, len(b.documents)), make([]string, len(b.models)), make([]string, len(b.used))
	for id, i := range b.documents {
		p.Documents[i] = pageDocument{id, g.Titles[id]}
	}
	for name, i := range b.models {
		p.Models[i] = name
	}
	for from, i := range b.used {
		p.Excerpts[i] = g.Excerpts[from].Text
	}
	data, err := json.Marshal(p)
	var out strings.Builder
	w := bufio.NewWriter(&out)
	if err := writeLine(w, data, err); err != nil {
		return "", err
	}
	if err := w.Flush(); err != nil {
		return "", err
	}
	return out.String(), nil
}
