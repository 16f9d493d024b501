package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// wall is where an instant loses its monotonic part, or never had one. Two instants
// of time.Now are compared by the monotonic clock, which nobody sets; as numbers they
// are not.
var wall = regexp.MustCompile(`\.Unix(Nano|Milli|Micro)?\(\)|\btime\.Unix(Milli|Micro)?\(`)

// wallClocks are the files that may count in wall time, and why.
var wallClocks = map[string]string{
	"consumer/delivery.go":        "the server's stamp names a message",
	"consumer/rotation.go":        "where the workers' rotation begins; after a jump it begins elsewhere, and still in turn",
	"kvcache/natskv/cell.go":      "when a value ends, by the server's stamps",
	"kvcache/natskv/headers.go":   "the server's stamp of what it has stored",
	"kvcache/natskv/read.go":      "the server's stamp of a value",
	"kvcache/natskv/client.go":    "the server's time, as it says it",
	"kvcache/natskv/survey.go":    "the server's stamp of a question",
	"kvcache/natskv/watch.go":     "the server's stamp of a change",
	"kvcache/natskv/stream.go":    "the first number of a new stream, if the server has not told its time yet",
	"resilience/breaker_ramp.go":  "since when the slow ramp lasts, as others read it; it is advice, and off by default",
	"resilience/breaker_state.go": "when a circuit was opened, for people; it decides of one that was opened by hand",
}

// A clock that somebody sets, or that jumps, must decide nothing: neither what is
// admitted nor how long anything waits. So wall time is confined to where it is the
// server's, or for people.
func TestWallTimeIsConfined(t *testing.T) {
	root := filepath.Join("..", "..")
	used := map[string]bool{}
	for _, dir := range []string{"consumer", "resilience", "kvcache", "internal/health", "internal/wire", "cmd/worker"} {
		require.NoError(t, filepath.WalkDir(filepath.Join(root, dir), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") || strings.Contains(path, "cachetest") {
				return err
			}
			source, err := os.ReadFile(path)
			if err == nil && wall.Match(source) {
				name, _ := filepath.Rel(root, path)
				used[filepath.ToSlash(name)] = true
			}
			return err
		}))
	}
	for name := range used {
		require.Contains(t, wallClocks, name, "%s counts in wall time: use time.Since and the like, or say here why a clock that jumps does no harm", name)
	}
	for name := range wallClocks {
		require.True(t, used[name], "%s no longer counts in wall time: leave it out", name)
	}
}
