package manual

import (
	"github.com/alecthomas/kong"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// Command prints the manual page of its program.
type Command struct {
	Markdown bool `help:"As Markdown, for the documentation."`
}

// Run writes the page to standard output.
func (c Command) Run(streams cli.Streams, parsed *kong.Context) error {
	if c.Markdown {
		return WriteMarkdown(streams.Out, parsed.Model)
	}
	return Write(streams.Out, parsed.Model, cli.Version())
}
