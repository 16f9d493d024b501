package complete

import (
	"bufio"
	_ "embed" // for the scripts
	"strings"

	"github.com/alecthomas/kong"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// Command prints the script that completes a program's command lines.
type Command struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"Which shell: bash, zsh or fish."`
}

// Help is shown below the summary of the command.
func (Command) Help() string {
	return `Put it where the shell looks for it, with the program's name instead of NAME:
  bash  NAME completion bash > ~/.local/share/bash-completion/completions/NAME
  zsh   NAME completion zsh > "${fpath[1]}/_NAME"
  fish  NAME completion fish > ~/.config/fish/completions/NAME.fish`
}

//go:embed script.bash
var bash string

//go:embed script.zsh
var zsh string

//go:embed script.fish
var fish string

// Run writes the script to standard output.
func (c Command) Run(streams cli.Streams, parsed *kong.Context) error {
	script := map[string]string{"bash": bash, "zsh": zsh, "fish": fish}[c.Shell]
	_, err := streams.Out.Write([]byte(strings.ReplaceAll(script, "PROGRAM", parsed.Model.Name)))
	return err
}

// WordsCommand is what the scripts ask; it is no part of what users are promised.
type WordsCommand struct {
	Words []string `arg:"" optional:"" passthrough:""`
}

// Run writes one candidate on each line, with its help behind a tab, and before
// them the line ":files" if names of files fit.
func (c WordsCommand) Run(streams cli.Streams, parsed *kong.Context) error {
	words := c.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	candidates, files := Words(parsed.Model, words)
	out := bufio.NewWriter(streams.Out)
	if files {
		_, _ = out.WriteString(":files\n")
	}
	for _, candidate := range candidates {
		_, _ = out.WriteString(candidate.Word + "\t" + candidate.Help + "\n")
	}
	return out.Flush()
}
