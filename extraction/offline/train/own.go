package main

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/weirkeeper/weirkeeper/internal/gold"
)

//go:embed own.txt
var ownText string

// ownSentences reads the sentences written for this project: documents apart
// by blank lines, names as {Name|type}.
func ownSentences() ([]gold.Document, error) {
	var out []gold.Document
	for i, part := range strings.Split(ownText, "\n\n") {
		d := gold.Document{ID: fmt.Sprintf("own-%d", i)}
		var b strings.Builder
		for rest := strings.TrimSpace(part); rest != ""; {
			before, after, found := strings.Cut(rest, "{")
			b.WriteString(before)
			if !found {
				break
			}
			inner, tail, closed := strings.Cut(after, "}")
			name, typ, typed := strings.Cut(inner, "|")
			if _, known := taggerTypes[typ]; !closed || !typed || !known {
				return nil, fmt.Errorf("own.txt, paragraph %d: bad markup at {%.40s", i+1, after)
			}
			start := b.Len()
			b.WriteString(name)
			d.Mentions = append(d.Mentions, gold.Mention{Start: start, End: b.Len(), Type: typ})
			rest = tail
		}
		d.Text = b.String()
		out = append(out, d)
	}
	return out, nil
}
