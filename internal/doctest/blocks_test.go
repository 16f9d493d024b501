package doctest

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// block is one fenced block of a Markdown text.
type block struct {
	line   int    // of the fence
	label  string // the language: sh is run
	reason string // why it is not, after "not-run: " in the fence
	text   string
}

// span is what stands between back quotes outside of blocks.
type span struct {
	line int
	text string
}

var (
	fence  = regexp.MustCompile("^\\s*(```+|~~~+)(.*)$")
	notRun = regexp.MustCompile(`^(\S*)(?: not-run: (.+))?$`)
	quoted = regexp.MustCompile("(?s)(`+)([^`]+)`+")
)

// blocks takes a Markdown text apart. Blocks that are only indented are returned as
// such, without a label; a line that goes on in a list is none.
func blocks(markdown string) (found []block, spans []span) {
	var prose strings.Builder
	lines := strings.Split(markdown, "\n")
	inList := false
	for i := 0; i < len(lines); i++ {
		opened := fence.FindStringSubmatch(lines[i])
		indented := strings.HasPrefix(lines[i], "    ") || strings.HasPrefix(lines[i], "\t")
		switch {
		case opened != nil:
			label := notRun.FindStringSubmatch(strings.TrimSpace(opened[2]))
			b := block{line: i + 1}
			if label == nil {
				b.label = opened[2] // of which a test complains
			} else {
				b.label, b.reason = label[1], label[2]
			}
			for i++; i < len(lines) && strings.TrimSpace(lines[i]) != opened[1]; i++ {
				b.text += lines[i] + "\n"
				prose.WriteString("\n")
			}
			found = append(found, b)
			prose.WriteString("\n\n")
			continue
		case indented && !inList && (i == 0 || strings.TrimSpace(lines[i-1]) == ""):
			found = append(found, block{line: i + 1, text: lines[i]})
		case strings.TrimSpace(lines[i]) != "" && !indented:
			inList = regexp.MustCompile(`^\s*([-*]|\d+\.) |^  `).MatchString(lines[i])
		}
		prose.WriteString(lines[i] + "\n")
	}
	text := prose.String()
	for _, at := range quoted.FindAllStringSubmatchIndex(text, -1) {
		spans = append(spans, span{strings.Count(text[:at[0]], "\n") + 1, strings.Join(strings.Fields(text[at[4]:at[5]]), " ")})
	}
	return found, spans
}

// script returns the commands of a Markdown text: the contents of its sh blocks, in
// order. A reader runs them one after another in one shell.
func script(markdown string) string {
	var b strings.Builder
	found, _ := blocks(markdown)
	for _, block := range found {
		if block.label == "sh" && block.reason == "" {
			b.WriteString(block.text)
		}
	}
	return b.String()
}

func TestScript(t *testing.T) {
	text := "# A\n```sh\necho one\n```\ntext `a\nb`\n```text\nnot a command\n```\n" +
		"```sh not-run: needs a cluster\nrm -rf /\n```\n- `c`\n\n    of the list\n\nprose\n\n    indented\n```\nunlabelled\n```\n```sh\necho two\n```\n"
	require.Equal(t, "echo one\necho two\n", script(text))
	found, spans := blocks(text)
	require.Equal(t, []block{
		{2, "sh", "", "echo one\n"}, {7, "text", "", "not a command\n"}, {10, "sh", "needs a cluster", "rm -rf /\n"},
		{19, "", "", "    indented"}, {20, "", "", "unlabelled\n"}, {23, "sh", "", "echo two\n"},
	}, found)
	require.Equal(t, []span{{5, "a b"}, {13, "c"}}, spans)
}
