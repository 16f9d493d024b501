// Package export is how the commands that print a graph take its format and
// place: `publisher graph` and `worker try`.
package export

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/graph"
	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// FormatCSV is the format that is two files, see [graph.WriteCSV].
const FormatCSV = "csv"

// The files of [FormatCSV].
const (
	NodesFile = "nodes.csv"
	EdgesFile = "edges.csv"
)

// Flags are a command's flags for the graph that it prints.
type Flags struct {
	Format string `default:"text" enum:"text,json,jsonl,dot,mermaid,graphml,cypher,csv,html" help:"What to print: text (for people), json, jsonl, dot (Graphviz), mermaid, graphml (Gephi, yEd, NetworkX), cypher (Neo4j), csv (nodes.csv and edges.csv) or html (one page for a browser)."`
	Output string `placeholder:"PATH" help:"Write to this file instead of standard output, and with --format csv into this directory. Files are replaced when they are complete."`
}

// Check refuses flags that do not go together, before there is any work.
func (f Flags) Check() error {
	if f.Format == FormatCSV && f.Output == "" {
		return cli.Usage(errors.New("--format csv is two files: name a directory for them with --output"))
	}
	return nil
}

// Write writes the graph to where the flags say, or else to out.
func (f Flags) Write(out io.Writer, g extraction.Graph) error {
	switch {
	case f.Format == FormatCSV:
		return f.writeCSV(g)
	case f.Output == "":
		return graph.Write(out, f.Format, g)
	}
	return replace(f.Output, func(w io.Writer) error { return graph.Write(w, f.Format, g) })
}

// writeCSV makes the directory if it is missing; its parent must be there.
func (f Flags) writeCSV(g extraction.Graph) error {
	if err := os.Mkdir(f.Output, 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("--output: %w", err)
	}
	return replace(filepath.Join(f.Output, NodesFile), func(nodes io.Writer) error {
		return replace(filepath.Join(f.Output, EdgesFile), func(edges io.Writer) error {
			return graph.WriteCSV(nodes, edges, g)
		})
	})
}

// replace writes a file that appears, or replaces the one of its name, only when
// it is complete. What is there and is no file, such as a pipe, is written into.
func replace(path string, write func(io.Writer) error) (err error) {
	defer func() {
		var failed *os.PathError
		if errors.As(err, &failed) {
			err = fmt.Errorf("--output: %w", err)
		}
	}()
	target, partial := path, ""
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		if followed, err := filepath.EvalSymlinks(path); err == nil {
			path = followed // the link stays
		}
		partial = fmt.Sprintf("%s.%d.part", path, os.Getpid())
		target = partial
	}
	file, err := os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	err = errors.Join(write(file), file.Close())
	switch {
	case partial == "":
	case err != nil:
		_ = os.Remove(partial)
	default:
		err = os.Rename(partial, path)
	}
	return err
}
