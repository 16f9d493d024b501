package clitest

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// patience bounds one run: nobody listens where it goes.
const patience = 20 * time.Second

// Sweep runs the commands of few, a part of a program's grammar, with every setting that
// holds a secret, and those of all with some of them. None leads to a server, and
// everything is logged. It fails if a secret is written. more are the flags that a command
// needs to get beyond its usage and to end soon, by its name.
func Sweep(t *testing.T, program func(cli.Streams) cli.App, all, few func() any, more map[string][]string) {
	t.Helper()
	if testing.Short() {
		t.Skip("hundreds of commands, one after the other; left out of -short")
	}
	document := vault{t, t.TempDir()}.file("a.txt", "Ada met Charles.")
	commands := func(grammar any) []*kong.Node {
		model, err := kong.New(grammar, kong.Vars{"loglevel": "debug"})
		if err != nil {
			t.Fatal(err)
		}
		return model.Model.Leaves(false)
	}
	every, some := commands(all()), commands(few())
	for _, s := range settings(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, assignment := range s.env {
				name, value, _ := strings.Cut(assignment, "=")
				t.Setenv(name, value)
			}
			grammar, commands := few, some
			if s.everywhere {
				grammar, commands = all, every
			}
			for _, command := range commands {
				args := slices.Concat(arguments(command, document), more[command.Path()], s.args)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				var out, errs transcript
				program(cli.Streams{In: strings.NewReader("Ada."), Out: &out, Err: &errs}).Run(ctx, args, grammar())
				if ctx.Err() != nil {
					t.Errorf("%v does not end", args)
				}
				cancel()
				for _, secret := range append([]string{seeded}, s.secret...) {
					if written := out.String() + errs.String(); strings.Contains(written, secret) {
						t.Errorf("%v shows %q:\n%s", args, secret, written)
					}
				}
			}
		})
	}
}

// arguments are those that a command cannot do without, and all that it can log.
func arguments(command *kong.Node, document string) []string {
	args := strings.Fields(command.Path())
	var flags []*kong.Flag
	for _, group := range command.AllFlags(false) {
		flags = append(flags, group...)
	}
	if slices.ContainsFunc(flags, func(f *kong.Flag) bool { return f.Name == "log-level" }) {
		args = append(args, "--log-level", "debug")
	}
	for _, flag := range flags {
		if flag.Required {
			args = append(args, "--"+flag.Name, "x")
		}
	}
	for _, value := range command.Positional {
		word := document
		if value.Enum != "" {
			word, _, _ = strings.Cut(value.Enum, ",")
		}
		args = append(args, word)
	}
	return args
}
