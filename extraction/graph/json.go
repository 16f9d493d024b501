package graph

import (
	"bufio"
	"encoding/json"
	"fmt"
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// writeJSON writes the graph as one indented object.
func writeJSON(w *bufio.Writer, g extraction.Graph) error {
	data, err := json.MarshalIndent(g, "", "  ")
	return writeLine(w, data, err)
}

// writeJSONLines writes one line about the whole ("kind": "graph"), then one per
// "entity", "relationship", "conflict" and "excerpt".
func writeJSONLines(w *bufio.Writer, g extraction.Graph) error {
	data, err := json.Marshal(struct {
		Kind      string                   `json:"kind"`
		Documents []string                 `json:"documents"`
		Chunks    int                      `json:"chunks"`
		Models    []string                 `json:"models"`
		Domains   []extraction.GraphDomain `json:"domains"`
		Counters  extraction.Counters      `json:"counters"`
		Titles    map[string]string        `json:"titles,omitempty"`
	}{"graph", g.Documents, g.Chunks, g.Models, g.Domains, g.Counters, g.Titles})
	err = writeLine(w, data, err)
	for i := 0; err == nil && i < len(g.Entities); i++ {
		data, err = json.Marshal(struct {
			Kind string `json:"kind"`
			extraction.GraphEntity
		}{"entity", g.Entities[i]})
		err = writeLine(w, data, err)
	}
	for i := 0; err == nil && i < len(g.Relationships); i++ {
		data, err = json.Marshal(struct {
			Kind string `json:"kind"`
			extraction.GraphRelationship
		}{"relationship", g.Relationships[i]})
		err = writeLine(w, data, err)
	}
	for i := 0; err == nil && i < len(g.Conflicts); i++ {
		data, err = json.Marshal(struct {
			Kind string `json:"kind"`
			extraction.Conflict
		}{"conflict", g.Conflicts[i]})
		err = writeLine(w, data, err)
	}
	for i := 0; err == nil && i < len(g.Excerpts); i++ {
		data, err = json.Marshal(struct {
			Kind string `json:"kind"`
			extraction.GraphExcerpt
		}{"excerpt", g.Excerpts[i]})
		err = writeLine(w, data, err)
	}
	return err
}

// writeLine writes JSON and a line end. encoding/json has escaped what JSON
// demands; what would steer a terminal or turn the writing direction can only
// stand inside strings, and is escaped here.
func writeLine(w *bufio.Writer, data []byte, err error) error {
	if err != nil {
		return err
	}
	for _, r := range string(data) {
		if r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r)) {
			fmt.Fprintf(w, "\\u%04x", r)
		} else {
			w.WriteRune(r)
		}
	}
	return w.WriteByte('\n')
}
