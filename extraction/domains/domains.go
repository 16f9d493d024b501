package domains

import (
	_ "embed"
	"fmt"
	"io"
	"os"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// MaxBytes bounds a domain file.
const MaxBytes = 256 << 10

// BuiltinName is what the file of the built-in domains is called.
const BuiltinName = "builtin.yaml"

//go:embed builtin.yaml
var builtin string

// Builtin returns the domains that come with the program: news, business,
// encyclopaedia, technical, academic and fiction. text is their file, a good start
// for one of one's own.
func Builtin() (d *extraction.Domains, text string, err error) {
	d, err = Parse(BuiltinName, builtin)
	return d, builtin, err
}

// Load reads the domain file at path and returns its text too. An empty path is
// [Builtin]. What is wrong with the file is an [*Error].
func Load(path string) (d *extraction.Domains, text string, err error) {
	if path == "" {
		return Builtin()
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, "", fmt.Errorf("domain file: %w", err)
	}
	defer func() { _ = in.Close() }()
	raw, err := io.ReadAll(io.LimitReader(in, MaxBytes+1))
	if err != nil {
		return nil, "", fmt.Errorf("domain file: %w", err)
	}
	d, err = Parse(path, string(raw))
	return d, string(raw), err
}
