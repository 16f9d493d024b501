package manual

import (
	"github.com/alecthomas/kong"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// Command prints the manual page of its program.
type Command struct{}

// Run writes the page to standard output.
func (Command) Run(streams cli.Streams, parsed *kong.Context) error {
	return Write(streams.Out, parsed.Model, cli.Version())
}
