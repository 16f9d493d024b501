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
	errorType  = regexp.MustCompile(`(?m)^type ([A-Z]\w*Error|Error) `)
	errorValue = regexp.MustCompile(`(?m)^(?:var |\t)(Err[A-Z]\w*) += `)
)

// TestEveryErrorIsInTheReference: what the packages that others may import return, the
// page explains, and it explains nothing that is gone.
func TestEveryErrorIsInTheReference(t *testing.T) {
	_, page, found := strings.Cut(read(t, "docs/reference/errors.md"), "\n## Errors of the libraries\n")
	require.True(t, found)
	exported := map[string]bool{}
	for _, name := range tracked(t) {
		library := regexp.MustCompile(`^(resilience|extraction|kvcache|consumer|publish)/`).MatchString(name) && strings.HasSuffix(name, ".go")
		if !library || strings.HasSuffix(name, "_test.go") || strings.Contains(name, "/internal/") || strings.Contains(name, "cachetest/") {
			continue
		}
		source, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) || strings.Contains(string(source), "\npackage main\n") {
			continue
		}
		require.NoError(t, err)
		for _, pattern := range []*regexp.Regexp{errorType, errorValue} {
			for _, m := range pattern.FindAllStringSubmatch(string(source), -1) {
				exported[m[1]] = true
				require.Regexp(t, "`\\*?(extraction\\.)?"+m[1]+"`|extraction\\."+m[1]+"\\)", page, "%s: docs/reference/errors.md does not explain %s", name, m[1])
			}
		}
	}
	require.NotEmpty(t, exported)
	for _, m := range regexp.MustCompile("`\\*?((?:Err[A-Z]\\w*)|(?:[A-Z]\\w*Error))`").FindAllStringSubmatch(page, -1) {
		require.Contains(t, exported, m[1], "the page explains an error that is gone")
	}
}
