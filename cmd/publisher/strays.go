package main

import (
	"fmt"
	"io"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/wire"
	"github.com/weirkeeper/weirkeeper/publish"
)

// tellStrays notes that some messages were left out, and how to be rid of them.
func tellStrays(out io.Writer, names wire.Names, found publish.Strays) {
	if found.Count == 0 {
		return
	}
	verb := "are"
	if found.Count == 1 {
		verb = "is"
	}
	fmt.Fprintf(out, "note: %s in %s %s no result and left out; the first is %d on %s (%s): find out who wrote it, and remove it with: nats stream rmm %s %d\n",
		cli.Count(found.Count, "message"), names.ResultStream(), verb, found.Sequence, cli.Printable(found.Subject), cli.Printable(found.Reason), names.ResultStream(), found.Sequence)
}
