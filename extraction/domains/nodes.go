package domains

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

func (r *reader) wrong(n *yaml.Node, path, format string, args ...any) error {
	return &Error{File: r.file, Line: n.Line, Field: path, Reason: fmt.Sprintf(format, args...)}
}

// mapping hands each member of a mapping to the function of its key, and refuses
// any other key.
func (r *reader) mapping(n *yaml.Node, path string, known map[string]func(key, value *yaml.Node, path string) error) error {
	return r.each(n, path, func(key, value *yaml.Node, path string) error {
		if f := known[key.Value]; f != nil {
			return f(key, value, path)
		}
		names := make([]string, 0, len(known))
		for name := range known {
			names = append(names, name)
		}
		slices.Sort(names)
		return r.wrong(key, path, "is an unknown key; known are %s", strings.Join(names, ", "))
	})
}

// each calls f with every member of a mapping.
func (r *reader) each(n *yaml.Node, path string, f func(key, value *yaml.Node, path string) error) error {
	if n.Kind != yaml.MappingNode {
		return r.wrong(n, path, "want a mapping, such as \"key: value\", not %s", kindOf(n))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if key.Kind != yaml.ScalarNode || key.Tag != "!!str" {
			return r.wrong(key, path, "has a key that is %s: want a name, in quotes if it looks like something else", kindOf(key))
		}
		below := fmt.Sprintf("%.80s", key.Value)
		if path != "" {
			below = path + "." + below
		}
		if seen[key.Value] {
			return r.wrong(key, below, "is there twice")
		}
		seen[key.Value] = true
		if err := f(key, value, below); err != nil {
			return err
		}
	}
	return nil
}

func (r *reader) text(n *yaml.Node, path string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!str" {
		return "", r.wrong(n, path, "want a text, in quotes if it looks like something else, not %s", kindOf(n))
	}
	return n.Value, nil
}

// texts reads a list of texts, and tells each of where its items stand.
func (r *reader) texts(n *yaml.Node, path string, each func(i int, n *yaml.Node, path string)) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, r.wrong(n, path, "want a list, such as [a, b], not %s", kindOf(n))
	}
	var out []string
	for i, item := range n.Content {
		below := fmt.Sprintf("%s[%d]", path, i)
		if each != nil {
			each(i, item, below)
		}
		text, err := r.text(item, below)
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func (r *reader) yes(n *yaml.Node, path string) (bool, error) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		return false, r.wrong(n, path, "want true or false, not %s", kindOf(n))
	}
	return strings.EqualFold(n.Value, "true"), nil
}

// kindOf names what a node is, without quoting it.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias, which domain files do not have"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return "a text"
	case "!!bool":
		return "true or false"
	case "!!int", "!!float":
		return "a number"
	}
	return "a value of another kind"
}
