package gold

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"io"
)

//go:embed sample.jsonl
var sample []byte

// Sample returns the few documents that come with the project, out of the test
// part of Re-DocRED (extraction/offline/DATA.md has the licence). Their types
// are person, organization, location, date, number and other.
func Sample() ([]Document, error) {
	return ReadJSONL("sample.jsonl", bytes.NewReader(sample))
}

// WriteJSONL writes documents in the gold format.
func WriteJSONL(w io.Writer, docs []Document) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	for _, d := range docs {
		if err := enc.Encode(d); err != nil {
			return err
		}
	}
	return nil
}
