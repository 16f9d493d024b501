package clitest

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

// patience bounds one run: nobody listens where it goes.
const patience = 20 * time.Second

// Sweep runs one command of a program with every setting that holds a secret, and every
// command with some of them. None leads to a server, and everything is logged. It fails
// if a secret is written. more are the flags that a command needs to get beyond its
// usage and to end soon, by its name.
func Sweep(t *testing.T, program func(cli.Streams) cli.App, grammar func() any, one string, more map[string][]string) {
	t.Helper()
	model, err := kong.New(grammar(), kong.Vars{"loglevel": "debug"})
	if err != nil {
		t.Fatal(err)
	}
	document := filepath.Join(t.TempDir(), "a.txt")
	vault{t, filepath.Dir(document)}.file("a.txt", "Ada met Charles.")
	for _, s := range settings(t) {
		t.Run(s.name, func(t *testing.T) {
			for _, assignment := range s.env {
				name, value, _ := strings.Cut(assignment, "=")
				t.Setenv(name, value)
			}
			for _, command := range model.Model.Leaves(false) {
				if !s.everywhere && command.Path() != one {
					continue
				}
				args := append(arguments(command, document), more[command.Path()]...)
				args = append(args, s.args...)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				var out, errs bytes.Buffer
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
