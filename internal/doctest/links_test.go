package doctest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	link    = regexp.MustCompile(`\]\(([^)#\s]*)(#[^)\s]*)?\)`)
	heading = regexp.MustCompile(`(?m)^#+ (.+)$`)
)

// TestLinks checks that what the documentation points to within the repository
// exists, and so does the section of it.
func TestLinks(t *testing.T) {
	seen := 0
	for _, doc := range documents(t) {
		for _, m := range link.FindAllStringSubmatch(read(t, doc), -1) {
			if strings.Contains(m[1], "://") || strings.HasPrefix(m[1], "mailto:") || m[1]+m[2] == "" {
				continue
			}
			seen++
			target := filepath.Join(filepath.Dir(doc), m[1])
			if m[1] == "" {
				target = doc
			}
			_, err := os.Stat(filepath.Join(root, target))
			require.NoError(t, err, "%s links to %s", doc, m[1])
			if m[2] != "" && strings.HasSuffix(target, ".md") {
				require.Contains(t, sections(read(t, target)), m[2], "%s links to a section of %s", doc, target)
			}
		}
	}
	require.NotZero(t, seen)
}

// sections returns the anchors of a page's headings, as code hosts make them.
func sections(markdown string) (anchors []string) {
	for _, m := range heading.FindAllStringSubmatch(markdown, -1) {
		plain := regexp.MustCompile(`[^\pL\pN _-]`).ReplaceAllString(strings.ToLower(m[1]), "")
		anchors = append(anchors, "#"+strings.ReplaceAll(plain, " ", "-"))
	}
	return anchors
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
