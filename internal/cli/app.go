package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// Streams are the three standard streams of a command. Data goes to Out,
// everything else to Err.
type Streams struct {
	In  io.Reader
	Out io.Writer
	Err io.Writer
}

// App is one command line program.
type App struct {
	Name        string
	Description string
	Groups      []Group
	LogLevel    string // default of --log-level
	Streams     Streams
	// LookupEnv reads the environment; nil means the process's own.
	LookupEnv func(string) (string, bool)
}

// Group is a heading under which help lists flags.
type Group struct{ Key, Title string }

// helpWidth keeps help readable on very wide terminals.
const helpWidth = 110

// Run parses args into grammar, a pointer to a struct with one field per
// command, runs the command that was chosen and returns the exit code. A
// command has a method Run(context.Context, Streams) error.
func (a App) Run(ctx context.Context, args []string, grammar any) (code int) {
	defer func() {
		switch cause := recover().(type) {
		case nil:
		case helpShown:
			// Help ends parsing through this panic; kong has no other way out.
			code = int(cause)
		default:
			a.printError(fmt.Sprintf("internal error: %v\n%s", cause, debug.Stack()))
			code = ExitFailed
		}
	}()
	lookup := a.LookupEnv
	if lookup == nil {
		lookup = os.LookupEnv
	}
	from := &settings{environ: lookup, origins: map[string]string{}}
	parser, err := a.parser(grammar, from)
	if err != nil {
		fmt.Fprintf(a.Streams.Err, "%s: %v\n", a.Name, err)
		return ExitFailed
	}
	if err := checkArguments(args); err != nil {
		a.printError(err.Error())
		return ExitUsage
	}
	unknown := misspelt(parser, args)
	if unknown {
		parser.Model.DefaultCmd = nil // it would take the word for an argument of its own, and no command would be suggested
	}
	parsed, err := parser.Parse(negatives(usual(args)))
	if err != nil {
		a.reportUsage(err, from, unknown)
		return ExitUsage
	}
	if len(from.exposed) > 0 {
		a.printError(fmt.Sprintf("warning: every user of this machine may read %s, which holds %s: chmod o-r %[1]s", Printable(from.file.path), strings.Join(from.exposed, ", ")))
	}
	parsed.BindTo(ctx, (*context.Context)(nil))
	err = parsed.Run(a.Streams)
	switch {
	case err == nil:
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		a.printError("interrupted")
	default:
		a.printError(err.Error())
	}
	return ExitCode(err)
}

// checkArguments refuses what kong would change without a word: its strings pass
// through JSON, which has no bytes that are not UTF-8.
func checkArguments(args []string) error {
	for i, arg := range args {
		if !utf8.ValidString(arg) {
			return fmt.Errorf("argument %d is not UTF-8", i+1)
		}
	}
	return nil
}

// usual takes "help COMMAND" and --version, which people try first, for what they
// are here.
func usual(args []string) []string {
	switch {
	case len(args) > 0 && args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// negative is a number or duration below 0. No short flag is a digit.
var negative = regexp.MustCompile(`^-[0-9.]`)

// negatives ties such a value to its flag: kong would take it for a short flag, and
// the flag itself says better what it wants.
func negatives(args []string) []string {
	tied := make([]string, 0, len(args))
	for i, arg := range args {
		last := len(tied) - 1
		switch {
		case arg == "--":
			return append(tied, args[i:]...)
		case last >= 0 && negative.MatchString(arg) && strings.HasPrefix(tied[last], "--") && !strings.Contains(tied[last], "="):
			tied[last] += "=" + arg
		default:
			tied = append(tied, arg)
		}
	}
	return tied
}

// misspelt reports whether the first argument is meant as a command and is none.
func misspelt(parser *kong.Kong, args []string) bool {
	if len(args) == 0 || strings.HasPrefix(args[0], "-") {
		return false
	}
	return !slices.ContainsFunc(parser.Model.Children, func(command *kong.Node) bool { return command.Name == args[0] })
}

type helpShown int

func (a App) parser(grammar any, from *settings) (*kong.Kong, error) {
	groups := make([]kong.Group, 0, len(a.Groups))
	for _, group := range a.Groups {
		groups = append(groups, kong.Group{Key: group.Key, Title: group.Title})
	}
	return kong.New(grammar,
		kong.Name(a.Name),
		kong.Description(a.Description),
		kong.Writers(a.Streams.Out, a.Streams.Err),
		kong.Exit(func(code int) { panic(helpShown(code)) }),
		kong.Vars{"loglevel": a.LogLevel},
		kong.Resolvers(from),
		kong.ExplicitGroups(groups),
		kong.ConfigureHelp(kong.HelpOptions{WrapUpperBound: helpWidth, Compact: true, NoAppDescFormat: true}),
		kong.ValueFormatter(helpText),
	)
}

// helpText adds the variables that set a flag to its help.
func helpText(value *kong.Value) string {
	flag := value.Flag
	if flag == nil || flag.Name == "help" {
		return value.Help
	}
	names := envNames(flag)
	for i := range names {
		names[i] = "$" + names[i]
	}
	return strings.TrimSuffix(value.Help, ".") + " (" + strings.Join(names, ", ") + ")."
}

// reportUsage explains why the command line was not understood; unknown says that its
// command is none.
func (a App) reportUsage(err error, from *settings, unknown bool) {
	text := err.Error()
	if from.failed != nil { // without the name of the flag that was looked for
		text = from.failed.Error()
	}
	if origin := from.originOf(text); origin != "" {
		text += " (from " + origin + ")"
	}
	a.printError(text)
	if unknown {
		fmt.Fprintf(a.Streams.Err, "Run \"%s --help\" for the list of commands.\n", a.Name)
		return
	}
	command := a.Name
	if parse, ok := errors.AsType[*kong.ParseError](err); ok && parse.Context != nil {
		if selected := parse.Context.Selected(); selected != nil {
			command = selected.FullPath()
		}
	}
	fmt.Fprintf(a.Streams.Err, "Run \"%s --help\" for what it takes.\n", command)
}

// userInfo is what may stand in a URL before the host.
var userInfo = regexp.MustCompile(`://[^/\s"'@]*(?:@[^/\s"'@]*)*@`)

// printError writes every line of text with the program's name before it. Texts
// that quote the command line may have URLs with passwords in them.
func (a App) printError(text string) {
	text = userInfo.ReplaceAllString(text, "://[secret]@")
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		fmt.Fprintf(a.Streams.Err, "%s: %s\n", a.Name, line)
	}
}
