package gold

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

type docRED struct {
	Title string     `json:"title"`
	Sents [][]string `json:"sents"`
	Set   [][]struct {
		Pos  []int  `json:"pos"`
		Sent int    `json:"sent_id"`
		Type string `json:"type"`
	} `json:"vertexSet"`
	Labels []struct {
		Relation string `json:"r"`
		Head     int    `json:"h"`
		Tail     int    `json:"t"`
	} `json:"labels"`
}

func readDocRED(file string, data []byte, relations map[string]string) ([]Document, error) {
	var in []docRED
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, &FormatError{File: file, Reason: err.Error()}
	}
	var out []Document
	for i, src := range in {
		d, err := src.document(relations)
		if err != nil {
			return nil, &FormatError{File: file, Reason: fmt.Sprintf("document %d: %v", i, err)}
		}
		d.ID = fmt.Sprintf("%s-%d", strings.TrimSuffix(file, ".json"), i)
		out = append(out, d)
	}
	return out, nil
}

func (src docRED) document(relations map[string]string) (Document, error) {
	text, spans := joinSentences(src.Sents)
	d := Document{Title: src.Title, License: "CC BY-SA, Wikipedia", Text: text}
	for i, set := range src.Set {
		var e Entity
		for _, m := range set {
			if m.Sent < 0 || m.Sent >= len(spans) || len(m.Pos) != 2 || m.Pos[0] < 0 || m.Pos[0] >= m.Pos[1] || m.Pos[1] > len(spans[m.Sent]) {
				return d, fmt.Errorf("entity %d: a mention lies outside its sentence", i)
			}
			start, end := spans[m.Sent][m.Pos[0]][0], spans[m.Sent][m.Pos[1]-1][1]
			d.Mentions = append(d.Mentions, Mention{Start: start, End: end, Raw: m.Type, Type: typeOf(m.Type), Entity: i})
			e.Type = typeOf(m.Type)
			switch name := text[start:end]; {
			case e.Name == "":
				e.Name = name
			case name != e.Name && !slices.Contains(e.Aliases, name):
				e.Aliases = append(e.Aliases, name)
			}
		}
		d.Entities = append(d.Entities, e)
	}
	for _, l := range src.Labels {
		if l.Head < 0 || l.Tail < 0 || l.Head >= len(d.Entities) || l.Tail >= len(d.Entities) {
			return d, fmt.Errorf("a relation names an entity that is not there")
		}
		name := relations[l.Relation]
		if name == "" {
			name = l.Relation
		}
		d.Relationships = append(d.Relationships, Relationship{Source: d.Entities[l.Head].Name, Target: d.Entities[l.Tail].Name, Type: name})
	}
	d.Mentions = withoutOverlap(d.Mentions)
	return d, nil
}

// withoutOverlap sorts mentions and keeps the longest where two overlap.
func withoutOverlap(in []Mention) []Mention {
	slices.SortStableFunc(in, func(a, b Mention) int {
		if a.Start != b.Start {
			return a.Start - b.Start
		}
		return b.End - a.End
	})
	var out []Mention
	for _, m := range in {
		switch last := len(out) - 1; {
		case last < 0 || m.Start >= out[last].End:
			out = append(out, m)
		case m.End-m.Start > out[last].End-out[last].Start:
			out[last] = m
		}
	}
	return out
}
