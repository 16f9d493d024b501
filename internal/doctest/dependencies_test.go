package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every module of go.mod has been looked at, and none is listed that is gone.
func TestEveryModuleIsReviewed(t *testing.T) {
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join("..", "..", name))
		require.NoError(t, err)
		return string(text)
	}
	find := func(pattern, text string) map[string]bool {
		found := map[string]bool{}
		for _, match := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
			found[match[1]] = true
		}
		return found
	}
	required := find(`(?m)^\t(\S+) v\S+`, read("go.mod"))
	reviewed := find("(?m)^\\| `([^`]+)` \\|", read("docs/adr/dependencies.md"))
	require.NotEmpty(t, required)
	for module := range required {
		require.True(t, reviewed[module], "%s is in go.mod and not under Every module of docs/adr/dependencies.md: look at its licence and at who keeps it, and give it a line", module)
	}
	for module := range reviewed {
		require.True(t, required[module], "%s is in docs/adr/dependencies.md and not in go.mod any more", module)
	}
}
