package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxConfigBytes bounds the configuration file; a larger one is a mistake.
const maxConfigBytes = 1 << 20

// configFile is a YAML mapping of flag names to plain values.
type configFile struct {
	path    string
	entries map[string]configEntry
}

type configEntry struct {
	value string
	line  int
}

func (f *configFile) get(name string) (configEntry, bool) {
	if f == nil {
		return configEntry{}, false
	}
	entry, ok := f.entries[name]
	return entry, ok
}

// readConfig reads the file at path. A key that is not in known is an error
// that names it: a setting that is silently ignored is worse than none.
func readConfig(path string, known map[string]bool) (*configFile, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	defer in.Close()
	text, err := io.ReadAll(io.LimitReader(in, maxConfigBytes+1))
	if err != nil {
		return nil, fmt.Errorf("configuration file: %w", err)
	}
	if len(text) > maxConfigBytes {
		return nil, fmt.Errorf("configuration file %s: larger than %d bytes", path, maxConfigBytes)
	}
	return parseConfig(path, text, known)
}

func parseConfig(path string, text []byte, known map[string]bool) (*configFile, error) {
	file := &configFile{path: path, entries: map[string]configEntry{}}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		// yaml.v3 may quote the offending value, and a value may be a secret:
		// keep the line number only.
		return nil, fmt.Errorf("%s: not valid YAML%s", path, yamlLine(err))
	}
	if len(root.Content) == 0 {
		return file, nil
	}
	if root.Content[0].Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s: want a mapping of flag names to values", path)
	}
	pairs := root.Content[0].Content
	var wrong []error
	for i := 0; i+1 < len(pairs); i += 2 {
		key, value := pairs[i], pairs[i+1]
		if err := file.add(key, value, known); err != nil {
			wrong = append(wrong, fmt.Errorf("%s:%d: %w", path, key.Line, err))
		}
	}
	if len(wrong) > 0 {
		return nil, errors.Join(wrong...)
	}
	return file, nil
}

func (f *configFile) add(key, value *yaml.Node, known map[string]bool) error {
	if key.Kind != yaml.ScalarNode {
		return errors.New("a key must be the name of a flag")
	}
	if !known[key.Value] {
		if name := strings.ReplaceAll(strings.TrimLeft(key.Value, "-"), "_", "-"); known[name] {
			return fmt.Errorf("unknown key %q: write %q", key.Value, name)
		}
		return fmt.Errorf("unknown key %q: it is not the name of a flag", key.Value)
	}
	if _, twice := f.entries[key.Value]; twice {
		return fmt.Errorf("key %q is there twice", key.Value)
	}
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	if value.Kind != yaml.ScalarNode {
		return fmt.Errorf("key %q: want one plain value", key.Value)
	}
	if value.Tag == "!!null" {
		return fmt.Errorf("key %q has no value: give it one or remove it", key.Value)
	}
	f.entries[key.Value] = configEntry{value: value.Value, line: key.Line}
	return nil
}

// yamlLine extracts " at line N" from an error of the YAML package.
func yamlLine(err error) string {
	_, after, found := strings.Cut(err.Error(), "line ")
	if !found {
		return ""
	}
	end := 0
	for end < len(after) && after[end] >= '0' && after[end] <= '9' {
		end++
	}
	if end == 0 {
		return ""
	}
	return " at line " + after[:end]
}
