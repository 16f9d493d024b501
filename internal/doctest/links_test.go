package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var link = regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)

// TestLinks checks that what the documentation points to within the repository
// exists.
func TestLinks(t *testing.T) {
	seen := 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		require.NoError(t, err)
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") {
				continue
			}
			seen++
			_, err := os.Stat(filepath.Join(root, filepath.Dir(doc), m[1]))
			require.NoError(t, err, "%s links to %s", doc, m[1])
		}
	}
	require.NotZero(t, seen)
}

var namedTests = regexp.MustCompile(`\[((?:Test|Fuzz|Example)[\w, ]*)\]\(([^)\s]+_test\.go)\)`)

// TestNamedTestsExist checks that a document which names tests names real ones.
func TestNamedTestsExist(t *testing.T) {
	seen := 0
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		require.NoError(t, err)
		for _, m := range namedTests.FindAllStringSubmatch(string(text), -1) {
			source, err := os.ReadFile(filepath.Join(root, filepath.Dir(doc), m[2]))
			require.NoError(t, err, "%s names %s", doc, m[2])
			for name := range strings.SplitSeq(m[1], ", ") {
				seen++
				require.Regexp(t, `(?m)^func `+name+`\(`, string(source), "%s names %s of %s", doc, name, m[2])
			}
		}
	}
	require.NotZero(t, seen)
}
