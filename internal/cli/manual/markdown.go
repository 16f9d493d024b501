package manual

import (
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"
)

// WriteMarkdown writes what the page has as Markdown.
func WriteMarkdown(out io.Writer, app *kong.Application) error {
	leaves := visible(app.Node)
	common, shared := sharedFlags(leaves)
	m := &markdown{common: common}
	m.line("# %s", app.Name)
	m.line("Made by `%s man --markdown` (`make reference`); do not edit.", app.Name)
	m.line("```text\n%s\n```", strings.Trim(app.Help, "\n"))
	for _, leaf := range leaves {
		m.command(leaf)
	}
	if len(shared) > 0 {
		m.line("## Common flags")
		m.line("These mean the same in every command that lists them.")
		m.flags(shared)
	}
	m.line("## Environment")
	m.line("A flag `--some-flag` is also read from `WEIR_SOME_FLAG`. These are understood besides:")
	m.out.WriteString("| variable | as |\n|---|---|\n")
	for _, known := range knownVariables(leaves) {
		fmt.Fprintf(&m.out, "| `%s` | `--%s` |\n", known[0], known[1])
	}
	_, err := io.WriteString(out, m.out.String())
	return err
}

type markdown struct {
	out    strings.Builder
	common map[string]bool // by identity
}

func (m *markdown) line(format string, args ...any) { fmt.Fprintf(&m.out, format+"\n\n", args...) }

func (m *markdown) command(node *kong.Node) {
	m.line("## %s", node.Path())
	if usage := arguments(node); usage != "" {
		m.line("`%s`", strings.TrimSpace(node.Path()+usage))
	}
	m.line("%s", plain(node.Help))
	if node.Detail != "" {
		m.line("%s", plain(node.Detail))
	}
	if len(node.Positional) > 0 {
		m.out.WriteString("| argument | |\n|---|---|\n")
		for _, argument := range node.Positional {
			fmt.Fprintf(&m.out, "| `%s` | %s |\n", argument.Name, cell(argument.Help))
		}
		m.out.WriteString("\n")
	}
	var own []*kong.Flag
	var others []string
	for _, flag := range node.Flags {
		switch {
		case flag.Hidden:
		case m.common[identity(flag)]:
			others = append(others, "`--"+flag.Name+"`")
		default:
			own = append(own, flag)
		}
	}
	m.flags(own)
	if len(others) > 0 {
		m.line("[Common flags](#common-flags): %s.", strings.Join(others, ", "))
	}
}

func (m *markdown) flags(flags []*kong.Flag) {
	if len(flags) == 0 {
		return
	}
	m.out.WriteString("| flag | default | |\n|---|---|---|\n")
	for _, flag := range flags {
		usage := "--" + flag.Name
		if !flag.IsBool() {
			usage += " " + strings.Trim(flag.FormatPlaceHolder(), `"`)
		}
		value := ""
		if flag.Default != "" {
			value = "`" + flag.Default + "`"
		}
		fmt.Fprintf(&m.out, "| `%s` | %s | %s |\n", strings.ReplaceAll(usage, "|", `\|`), value, cell(flag.Help))
	}
	m.out.WriteString("\n")
}

// plain keeps text from being read as tags.
func plain(text string) string {
	return strings.NewReplacer("<", "&lt;", "*", `\*`).Replace(strings.Trim(text, "\n"))
}

// cell is text for one cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(plain(text)), " "), "|", `\|`)
}
