package gold

import (
	"fmt"
	"strings"
)

// readColumns reads BIO columns. Every sentence becomes a document: the files
// do not say which sentences belong together.
func readColumns(file string, data []byte) ([]Document, error) {
	var (
		out    []Document
		tokens []string
		labels []string
	)
	flush := func() {
		if len(tokens) > 0 {
			d := columnsDocument(tokens, labels)
			d.ID = fmt.Sprintf("%s-%d", file, len(out))
			out = append(out, d)
		}
		tokens, labels = nil, nil
	}
	line := 0
	for text := range strings.Lines(string(data)) {
		line++
		fields := strings.Fields(text)
		switch {
		case len(fields) == 0:
			flush()
		case len(fields) < 2:
			// A token that was only white space has lost its column.
		default:
			label := fields[len(fields)-1]
			if label != "O" && !strings.HasPrefix(label, "B-") && !strings.HasPrefix(label, "I-") {
				return nil, &FormatError{File: file, Line: line, Reason: fmt.Sprintf("%q is not a BIO label", label)}
			}
			tokens, labels = append(tokens, fields[0]), append(labels, label)
		}
	}
	flush()
	return out, nil
}

func columnsDocument(tokens, labels []string) Document {
	text, spans := joinSentences([][]string{tokens})
	d := Document{Text: text}
	byName := map[[2]string]int{}
	for i := 0; i < len(labels); i++ {
		if labels[i] == "O" {
			continue
		}
		raw, end := labels[i][2:], i+1
		for end < len(labels) && labels[end] == "I-"+raw {
			end++
		}
		m := Mention{Start: spans[0][i][0], End: spans[0][end-1][1], Raw: raw, Type: typeOf(raw)}
		name := text[m.Start:m.End]
		entity, ok := byName[[2]string{name, m.Type}]
		if !ok {
			entity = len(d.Entities)
			byName[[2]string{name, m.Type}] = entity
			d.Entities = append(d.Entities, Entity{Name: name, Type: m.Type})
		}
		m.Entity = entity
		d.Mentions = append(d.Mentions, m)
		i = end - 1
	}
	return d
}
