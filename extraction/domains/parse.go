package domains

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// Parse reads the text of a domain file. file is what errors, which are all
// [*Error], call it.
func Parse(file, text string) (*extraction.Domains, error) {
	if len(text) > MaxBytes {
		return nil, &Error{File: file, Reason: fmt.Sprintf("is larger than %d bytes", MaxBytes)}
	}
	r := reader{file: file, places: map[place]position{}}
	root, err := r.document(text)
	if err != nil {
		return nil, err
	}
	if err := r.read(root); err != nil {
		return nil, err
	}
	d, err := extraction.NewDomains(r.fallback, r.domains...)
	if err != nil {
		return nil, r.located(err)
	}
	return d, nil
}

// reader turns the nodes of one file into domains. Every function that takes a
// node takes the path to it, for errors.
type reader struct {
	file     string
	fallback string
	domains  []extraction.Domain
	places   map[place]position // where the fields of the domains stand
}

// place names a field as [extraction.DomainError] does.
type place struct {
	domain int
	field  string
}

type position struct {
	line int
	path string
}

// document returns the top node of the one document in a text.
func (r *reader) document(text string) (*yaml.Node, error) {
	in := yaml.NewDecoder(strings.NewReader(text))
	var root, more yaml.Node
	if err := in.Decode(&root); err != nil && !errors.Is(err, io.EOF) {
		return nil, r.syntax(err)
	}
	if len(root.Content) == 0 || root.Content[0].Tag == "!!null" {
		return nil, &Error{File: r.file, Reason: "is empty: it needs the key domains"}
	}
	switch err := in.Decode(&more); {
	case err == nil:
		return nil, &Error{File: r.file, Line: more.Line, Reason: "a second document: want one"}
	case !errors.Is(err, io.EOF):
		return nil, r.syntax(err)
	}
	return root.Content[0], nil
}

// syntax is an error of the YAML package, with its line apart.
func (r *reader) syntax(err error) error {
	reason := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if after, ok := strings.CutPrefix(reason, "line "); ok {
		if number, rest, ok := strings.Cut(after, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, reason = n, rest
			}
		}
	}
	return &Error{File: r.file, Line: line, Reason: "is not YAML: " + reason}
}

// located finds the line of what [extraction.NewDomains] does not like.
func (r *reader) located(err error) error {
	var field *extraction.DomainError
	if errors.As(err, &field) {
		at := r.places[place{field.Index, field.Field}]
		return &Error{File: r.file, Line: at.line, Field: at.path, Reason: field.Reason}
	}
	var argument *extraction.ArgumentError
	if errors.As(err, &argument) {
		at := r.places[place{-1, argument.Argument}]
		return &Error{File: r.file, Line: at.line, Field: at.path, Reason: argument.Reason}
	}
	return &Error{File: r.file, Reason: err.Error()}
}

// put records where a field of the domain that is being read stands.
func (r *reader) put(field string, n *yaml.Node, path string) {
	r.places[place{len(r.domains), field}] = position{n.Line, path}
}

func (r *reader) read(root *yaml.Node) error {
	found := false
	err := r.mapping(root, "", map[string]func(key, value *yaml.Node, path string) error{
		"fallback": func(_, value *yaml.Node, path string) (err error) {
			r.places[place{-1, "fallback"}] = position{value.Line, path}
			r.fallback, err = r.text(value, path)
			return err
		},
		"domains": func(_, value *yaml.Node, path string) error {
			found = true
			r.places[place{-1, "domains"}] = position{value.Line, path}
			return r.each(value, path, r.domain)
		},
	})
	if err == nil && !found {
		return r.wrong(root, "", "the key domains is missing")
	}
	return err
}

func (r *reader) domain(key, value *yaml.Node, path string) error {
	d := extraction.Domain{ID: key.Value}
	r.put("id", key, path)
	text := func(field string, to *string) func(key, value *yaml.Node, path string) error {
		return func(_, value *yaml.Node, path string) (err error) {
			r.put(field, value, path)
			*to, err = r.text(value, path)
			return err
		}
	}
	err := r.mapping(value, path, map[string]func(key, value *yaml.Node, path string) error{
		"title":       text("title", &d.Title),
		"description": text("description", &d.Description),
		"guidance":    text("guidance", &d.Guidance),
		"strict": func(_, value *yaml.Node, path string) (err error) {
			d.Strict, err = r.yes(value, path)
			return err
		},
		"keywords": func(_, value *yaml.Node, path string) (err error) {
			r.put("keywords", value, path)
			d.Keywords, err = r.texts(value, path, func(i int, n *yaml.Node, path string) { r.put(fmt.Sprintf("keywords[%d]", i), n, path) })
			return err
		},
		"entities": func(_, value *yaml.Node, path string) error {
			r.put("entities", value, path)
			return r.each(value, path, func(key, value *yaml.Node, path string) error {
				field := fmt.Sprintf("entities[%d].", len(d.Entities))
				r.put(field+"type", key, path)
				r.put(field+"description", value, path)
				description, err := r.text(value, path)
				d.Entities = append(d.Entities, extraction.EntityType{Type: key.Value, Description: description})
				return err
			})
		},
		"relationships": func(_, value *yaml.Node, path string) error {
			r.put("relationships", value, path)
			return r.each(value, path, func(key, value *yaml.Node, path string) error {
				t, err := r.relationship(len(d.Relationships), key, value, path)
				d.Relationships = append(d.Relationships, t)
				return err
			})
		},
	})
	r.domains = append(r.domains, d)
	return err
}

// relationship reads a description, or a mapping with what it may link.
func (r *reader) relationship(i int, key, value *yaml.Node, path string) (t extraction.RelationshipType, err error) {
	t.Type = key.Value
	field := fmt.Sprintf("relationships[%d].", i)
	r.put(field+"type", key, path)
	r.put(field+"description", value, path)
	if value.Kind == yaml.ScalarNode {
		t.Description, err = r.text(value, path)
		return t, err
	}
	types := func(name string, to *[]string) func(key, value *yaml.Node, path string) error {
		return func(_, value *yaml.Node, path string) (err error) {
			r.put(field+name, value, path)
			*to, err = r.texts(value, path, nil)
			return err
		}
	}
	err = r.mapping(value, path, map[string]func(key, value *yaml.Node, path string) error{
		"description": func(_, value *yaml.Node, path string) (err error) {
			r.put(field+"description", value, path)
			t.Description, err = r.text(value, path)
			return err
		},
		"from": types("from", &t.From),
		"to":   types("to", &t.To),
	})
	return t, err
}
