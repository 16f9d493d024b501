package doctest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// script returns the commands of a Markdown text: the contents of its fenced sh
// blocks, in order. A reader runs them one after another in one shell.
//
// The marker "<!-- not run: REASON -->" on the line before a block leaves it out;
// the reason is returned, so that a test can list what it did not try.
func script(markdown string) (commands string, skipped []string) {
	var b strings.Builder
	inside, fence, marker := false, "", ""
	for line := range strings.Lines(markdown) {
		text := strings.TrimRight(line, "\n")
		trimmed := strings.TrimSpace(text)
		switch {
		case inside && trimmed == fence:
			inside, fence = false, ""
		case inside:
			b.WriteString(text + "\n")
		case fence != "":
			if trimmed == fence {
				fence = ""
			}
		case strings.HasPrefix(trimmed, "```"):
			fence = "```"
			inside = trimmed == "```sh"
			if inside && marker != "" {
				skipped = append(skipped, marker)
				inside = false
			}
			marker = ""
		case strings.HasPrefix(trimmed, "<!-- not run: "):
			marker = strings.TrimSuffix(strings.TrimPrefix(trimmed, "<!-- not run: "), " -->")
		case trimmed != "":
			marker = ""
		}
	}
	return b.String(), skipped
}

func TestScript(t *testing.T) {
	commands, skipped := script("# A\n```sh\necho one\n```\ntext\n```text\nnot a command\n```\n" +
		"<!-- not run: needs a model server -->\n```sh\nrm -rf /\n```\n```sh\necho two\n```\n")
	require.Equal(t, "echo one\necho two\n", commands)
	require.Equal(t, []string{"needs a model server"}, skipped)
}
