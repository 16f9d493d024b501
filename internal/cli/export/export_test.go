package export_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/graph"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/export"
)

func sample() extraction.Graph {
	return extraction.Graph{Entities: []extraction.GraphEntity{{ID: "e1", Name: "Ada Lovelace", Type: "person"}}}
}

func TestEveryFormatIsOffered(t *testing.T) {
	field, _ := reflect.TypeFor[export.Flags]().FieldByName("Format")
	offered := strings.Split(field.Tag.Get("enum"), ",")
	require.ElementsMatch(t, append(graph.Formats(), export.FormatCSV), offered)
	for _, format := range offered {
		require.Contains(t, field.Tag.Get("help"), format)
		flags := export.Flags{Format: format, Output: filepath.Join(t.TempDir(), "graph")}
		require.NoError(t, flags.Check())
		require.NoError(t, flags.Write(nil, sample()), format)
		if format != export.FormatCSV {
			var out bytes.Buffer
			require.NoError(t, export.Flags{Format: format}.Write(&out, sample()))
			written, err := os.ReadFile(flags.Output)
			require.NoError(t, err)
			require.Equal(t, out.String(), string(written), format)
		}
	}
}

func TestCSVNeedsADirectory(t *testing.T) {
	err := export.Flags{Format: "csv"}.Check()
	require.ErrorContains(t, err, "--output")
	require.Equal(t, cli.ExitUsage, cli.ExitCode(err))

	dir := filepath.Join(t.TempDir(), "tables")
	for range 2 { // the second time it exists
		require.NoError(t, export.Flags{Format: "csv", Output: dir}.Write(nil, sample()))
	}
	require.Equal(t, []string{"edges.csv", "nodes.csv"}, names(t, dir))
	nodes, err := os.ReadFile(filepath.Join(dir, "nodes.csv"))
	require.NoError(t, err)
	require.Contains(t, string(nodes), "e1,Ada Lovelace,person")
	require.ErrorContains(t, export.Flags{Format: "csv", Output: filepath.Join(dir, "a", "b")}.Write(nil, sample()), "--output: ")
	require.ErrorContains(t, export.Flags{Format: "csv", Output: filepath.Join(dir, "nodes.csv")}.Write(nil, sample()), "--output: ")
}

func TestAFileIsReplacedWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	file, link := filepath.Join(dir, "graph.json"), filepath.Join(dir, "link.json")
	require.NoError(t, os.WriteFile(file, []byte("before"), 0o600))
	require.Error(t, export.Flags{Format: "nonsense", Output: file}.Write(nil, sample()))
	kept, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "before", string(kept))
	require.Equal(t, []string{"graph.json"}, names(t, dir), "nothing unfinished is left")

	require.NoError(t, os.Symlink(file, link))
	require.NoError(t, export.Flags{Format: "json", Output: link}.Write(nil, sample()))
	written, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Contains(t, string(written), "Ada")
	info, err := os.Lstat(link)
	require.NoError(t, err)
	require.NotZero(t, info.Mode()&os.ModeSymlink, "the link is still one")

	require.NoError(t, export.Flags{Format: "json", Output: os.DevNull}.Write(nil, sample()))
	info, err = os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "a device is not replaced")
	require.ErrorContains(t, export.Flags{Format: "json", Output: filepath.Join(dir, "no", "graph")}.Write(nil, sample()), "--output: ")
	require.ErrorContains(t, export.Flags{Format: "json", Output: dir}.Write(nil, sample()), "--output: ")
}

func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	slices.Sort(out)
	return out
}
