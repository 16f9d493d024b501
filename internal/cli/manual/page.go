package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// often is how many commands have to take a flag for it to be explained once, for
// all of them.
const often = 3

// Write writes the page of app, in the language of man(7). version stands in its
// footer.
func Write(out io.Writer, app *kong.Application, version string) error {
	leaves := visible(app.Node)
	common, shared := sharedFlags(leaves)
	p := &page{common: common}
	p.macro("TH", strings.ToUpper(app.Name), "1", "", app.Name+" "+version, "User Commands")
	summary, description, _ := strings.Cut(app.Help, "\n")
	p.section("NAME")
	p.text(app.Name + ` \- ` + escape(strings.TrimSuffix(strings.TrimPrefix(summary, app.Name+" "), ".")))
	p.section("SYNOPSIS")
	p.macro("B", app.Name)
	p.text(`[\fIcommand\fR] [\fIflags\fR] [\fIarguments\fR]`)
	p.section("DESCRIPTION")
	p.paragraphs(summary + "\n" + description)

	p.section("COMMANDS")
	for _, leaf := range leaves {
		p.command(leaf)
	}
	if len(shared) > 0 {
		p.section("COMMON FLAGS")
		p.text("These mean the same in every command that lists them.")
		for _, flag := range shared {
			p.flag(flag)
		}
	}
	p.section("ENVIRONMENT")
	p.text(escape("A flag --some-flag is also read from WEIR_SOME_FLAG. These are understood besides:"))
	for _, known := range knownVariables(leaves) {
		p.macro("TP")
		p.text(`\fB` + escape(known[0]) + `\fR`)
		p.text("As " + `\fB` + escape("--"+known[1]) + `\fR` + ".")
	}
	_, err := io.WriteString(out, p.out.String())
	return err
}

// sharedFlags returns the flags that many commands have, and which they are by
// identity.
func sharedFlags(leaves []*kong.Node) (common map[string]bool, shared []*kong.Flag) {
	common, count := map[string]bool{}, map[string]int{}
	for _, leaf := range leaves {
		for _, flag := range leaf.Flags {
			if count[identity(flag)]++; count[identity(flag)] == often {
				common[identity(flag)] = true
				shared = append(shared, flag)
			}
		}
	}
	return common, shared
}

type page struct {
	out    strings.Builder
	common map[string]bool // by identity
}

func (p *page) command(node *kong.Node) {
	p.macro("SS", strings.TrimSpace(node.Path()+arguments(node)))
	p.paragraphs(node.Help)
	if node.Detail != "" {
		p.macro("PP")
		p.paragraphs(node.Detail)
	}
	for _, argument := range node.Positional {
		p.macro("TP")
		p.text(`\fI` + escape(argument.Name) + `\fR`)
		p.paragraphs(argument.Help)
	}
	var others []string
	for _, flag := range node.Flags {
		switch {
		case flag.Hidden:
		case p.common[identity(flag)]:
			others = append(others, `\fB`+escape("--"+flag.Name)+`\fR`)
		default:
			p.flag(flag)
		}
	}
	if len(others) > 0 {
		p.macro("PP")
		p.text("Common flags: " + strings.Join(others, ", ") + ".")
	}
}

func (p *page) flag(flag *kong.Flag) {
	p.macro("TP")
	usage := `\fB` + escape("--"+flag.Name) + `\fR`
	if !flag.IsBool() {
		usage += ` \fI` + escape(strings.Trim(flag.FormatPlaceHolder(), `"`)) + `\fR`
	}
	p.text(usage)
	p.paragraphs(flag.Help)
}

// identity tells whether two commands have the same flag.
func identity(flag *kong.Flag) string { return flag.Name + "\x00" + flag.Help + "\x00" + flag.Default }

func arguments(node *kong.Node) (usage string) {
	for _, argument := range node.Positional {
		usage += " " + argument.Summary()
	}
	return usage
}

// knownVariables returns the variables with names of their own, each with its
// flag.
func knownVariables(leaves []*kong.Node) (known [][2]string) {
	for _, leaf := range leaves {
		for _, flag := range leaf.Flags {
			pair := [2]string{flag.Tag.Get("known"), flag.Name}
			if pair[0] != "" && !slices.Contains(known, pair) {
				known = append(known, pair)
			}
		}
	}
	return known
}

// visible returns the commands that can be run.
func visible(node *kong.Node) (leaves []*kong.Node) {
	for _, child := range node.Children {
		switch {
		case child.Hidden:
		case child.Leaf():
			leaves = append(leaves, child)
		default:
			leaves = append(leaves, visible(child)...)
		}
	}
	return leaves
}

func (p *page) section(title string) { p.macro("SH", title) }

func (p *page) macro(name string, arguments ...string) {
	p.out.WriteString("." + name)
	for _, argument := range arguments {
		fmt.Fprintf(&p.out, ` "%s"`, strings.ReplaceAll(escape(argument), `"`, `\(dq`))
	}
	p.out.WriteString("\n")
}

// text writes one line of text that is escaped already.
func (p *page) text(line string) {
	if strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'") {
		line = `\&` + line
	}
	p.out.WriteString(line + "\n")
}

// paragraphs writes text as help has it: an empty line between paragraphs, and
// indented lines as they are.
func (p *page) paragraphs(text string) {
	indented, broken := false, false
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if now := strings.HasPrefix(line, "  "); now != indented {
			indented = now
			if indented {
				p.macro("PP")
				p.macro("nf")
				broken = false
			} else {
				p.macro("fi")
				broken = true
			}
		}
		if strings.TrimSpace(line) == "" {
			broken = true
			continue
		}
		if broken {
			p.macro("PP")
			broken = false
		}
		p.text(escape(strings.TrimRight(line, " ")))
	}
	if indented {
		p.macro("fi")
	}
}

// escape makes text of what troff would read. Hyphens stay what can be copied.
func escape(text string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
}
