package gold

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// FormatError says where a gold file is not what it should be.
type FormatError struct {
	File   string
	Line   int // 0 if the format has no lines
	Reason string
}

func (e *FormatError) Error() string {
	if e.Line > 0 {
		return fmt.Sprintf("gold file %s, line %d: %s", e.File, e.Line, e.Reason)
	}
	return fmt.Sprintf("gold file %s: %s", e.File, e.Reason)
}

// Read reads a gold file in any of the formats. A relative rel_info.json beside
// a Re-DocRED file names its relations.
func Read(path string) ([]Document, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	name := filepath.Base(path)
	switch first := bytes.TrimSpace(data); {
	case len(first) == 0:
		return nil, &FormatError{File: name, Reason: "it is empty"}
	case first[0] == '{':
		return ReadJSONL(name, bytes.NewReader(data))
	case first[0] == '[' && json.Valid(first):
		names := map[string]string{}
		if info, err := os.ReadFile(filepath.Join(filepath.Dir(path), "rel_info.json")); err == nil {
			if err := json.Unmarshal(info, &names); err != nil {
				return nil, &FormatError{File: "rel_info.json", Reason: err.Error()}
			}
		}
		return readDocRED(name, data, names)
	default:
		return readColumns(name, data)
	}
}

// ReadJSONL reads the gold format: one document a line.
func ReadJSONL(name string, r io.Reader) ([]Document, error) {
	var out []Document
	in := bufio.NewReader(r)
	for line := 1; ; line++ {
		data, err := in.ReadBytes('\n')
		if len(bytes.TrimSpace(data)) > 0 {
			var d Document
			if jsonErr := json.Unmarshal(data, &d); jsonErr != nil {
				return nil, &FormatError{File: name, Line: line, Reason: jsonErr.Error()}
			}
			if reason := d.problem(); reason != "" {
				return nil, &FormatError{File: name, Line: line, Reason: reason}
			}
			out = append(out, d)
		}
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// problem says what makes the document useless as gold, "" if nothing does.
func (d Document) problem() string {
	if strings.TrimSpace(d.Text) == "" {
		return "text is blank"
	}
	known := map[string]bool{}
	for _, e := range d.Entities {
		for _, n := range e.Names() {
			if n == "" || !strings.Contains(d.Text, n) {
				return fmt.Sprintf("the name %q is not in the text", n)
			}
			known[n] = true
		}
	}
	for _, r := range d.Relationships {
		for _, n := range []string{r.Source, r.Target} {
			if !known[n] {
				return fmt.Sprintf("a relationship names %q, which is no entity", n)
			}
		}
	}
	return ""
}
