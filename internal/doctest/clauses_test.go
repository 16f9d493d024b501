package doctest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var (
	promise  = regexp.MustCompile(`(?m)^- \*\*([RABX]\d+)\*\* (.*)$`)
	testLink = regexp.MustCompile(`\[(\w+)\]\(\.\./([^)]+_test\.go)\)`)
)

// TestPromisesHaveTests keeps docs/clauses.md complete and true: every number is
// there, and every test that a promise names exists in the file it is said to be
// in, which mentions the number. The mistakes of others (B and X) are numbered for the
// page alone.
func TestPromisesHaveTests(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(root, "docs/clauses.md"))
	require.NoError(t, err)
	listed := map[string]string{}
	for _, m := range promise.FindAllStringSubmatch(string(page), -1) {
		require.NotContains(t, listed, m[1])
		listed[m[1]] = m[2]
	}
	for series, last := range map[string]int{"R": 37, "A": 25, "B": 15, "X": 13} {
		for n := 1; n <= last; n++ {
			number := fmt.Sprintf("%s%d", series, n)
			text, ok := listed[number]
			require.True(t, ok, "%s is not on the page", number)
			delete(listed, number)
			tests := testLink.FindAllStringSubmatch(text, -1)
			require.NotEmpty(t, tests, "%s names no test", number)
			require.Len(t, tests, strings.Count(text, "_test.go)"), "%s links to something that is no test", number)
			for _, link := range tests {
				source, err := os.ReadFile(filepath.Join(root, link[2]))
				require.NoError(t, err, number)
				require.Regexp(t, `func `+link[1]+`\(`, string(source), "%s names %s", number, link[1])
				if series == "R" || series == "A" {
					require.Regexp(t, number+`\b|`+number+`[A-Z_]`, string(source), "%s does not mention %s", link[2], number)
				}
			}
		}
	}
	require.Empty(t, listed, "numbers that nobody knows")
}
