package complete_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/cli/complete"
)

// grammar is a small program with what a command line may have.
type grammar struct {
	Run     runCommand            `cmd:"" default:"withargs" help:"Work. And more."`
	Circuit circuits              `cmd:"" help:"Circuits."`
	Script  complete.Command      `cmd:"" name:"completion"`
	Words   complete.WordsCommand `cmd:"" name:"complete-words" hidden:""`
}

type runCommand struct {
	Level string   `enum:"debug,info" default:"info" help:"Level."`
	Out   string   `placeholder:"FILE" help:"Out."`
	Rpm   int      `help:"Calls."`
	Size  size     `help:"Size."`
	Dry   bool     `help:"Dry."`
	Secre string   `hidden:""`
	Files []string `arg:"" optional:"" placeholder:"FILE"`
}

func (runCommand) Run() error { return nil }

// size is a flag that knows words.
type size string

func (size) Words() []string { return []string{"large", "little"} }

type circuits struct {
	List runCommand `cmd:"" help:"List."`
	Show struct {
		Name string `arg:"" enum:"one,other"`
	} `cmd:"" help:"Show."`
}

// TestMain is the program, too, for shells that complete its command lines.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "prog" {
		os.Exit(prog(os.Stdout, os.Args[1:]))
	}
	os.Exit(m.Run())
}

func prog(out interface{ Write([]byte) (int, error) }, args []string) int {
	app := cli.App{Name: "prog", LogLevel: "info", Streams: cli.Streams{In: os.Stdin, Out: out, Err: os.Stderr}}
	return app.Run(context.Background(), args, &grammar{})
}

func TestCompletesWhatFits(t *testing.T) {
	for line, want := range map[string]string{
		"":                        ":files run circuit completion",
		"ci":                      ":files circuit",
		"circuit ":                "list show",
		"circuit show ":           "one other",
		"circuit show o":          "one other",
		"circuit show one ":       "",
		"circuit list --o":        "--out",
		"circuit --level ":        "list show", // no flag of it, so no value follows
		"--l":                     "--level",
		"--level ":                "debug info",
		"--level=d":               "debug",
		"--none=":                 "",
		"run --level d":           "debug",
		"run --dry --level=info ": ":files",
		"run --rpm 5 --d":         "--dry",
		"run --rpm ":              "",
		"run --out ":              ":files",
		"run --size ":             "large little",
		"run --size=li":           "little",
		"run a b ":                ":files",
		"run -- --l":              ":files",
		"run -h --l":              "--level",
		"run --sec":               "",
		"completion ":             "bash zsh fish",
	} {
		require.Equal(t, want, strings.Join(words(t, strings.Split(line, " ")...), " "), "prog %s", line)
	}
	require.Equal(t, ":files run circuit completion", strings.Join(words(t), " "), "nothing at all")
}

// words asks as a script does and leaves out the help.
func words(t *testing.T, args ...string) (found []string) {
	t.Helper()
	var out bytes.Buffer
	require.Zero(t, prog(&out, append([]string{"complete-words", "--"}, args...)))
	for line := range strings.Lines(out.String()) {
		word, _, _ := strings.Cut(strings.TrimSpace(line), "\t")
		found = append(found, word)
	}
	return found
}

func TestHelpIsOneSentence(t *testing.T) {
	var out bytes.Buffer
	require.Zero(t, prog(&out, []string{"complete-words", "--", "r"}))
	require.Equal(t, ":files\nrun\tWork.\n", out.String())
}

// inShell runs a script in a folder with one file.
func inShell(t *testing.T, shell, script string) string {
	t.Helper()
	path, err := exec.LookPath(shell)
	if err != nil {
		t.Skipf("there is no %s here", shell)
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	bin := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(bin, 0o755))
	require.NoError(t, os.Symlink(self, filepath.Join(bin, "prog")))
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(work, "a file.txt"), nil, 0o600))
	run := exec.Command(path, append(map[string][]string{"zsh": {"-f"}, "fish": {"--no-config"}}[shell], "-c", script)...)
	run.Dir = work
	run.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	output, err := run.CombinedOutput()
	require.NoError(t, err, "%s", output)
	return string(output)
}

func TestBash(t *testing.T) {
	t.Parallel()
	out := inShell(t, "bash", `
		source <(prog completion bash)
		try() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _prog_complete prog "${!#}" x; (IFS='|'; echo "$*: ${COMPREPLY[*]}"); }
		try prog circ
		try prog circuit ""
		try prog run --level ""
		try prog run --level = d
		try prog run --dry ""
		try prog run --out "a f"
		complete -p prog`)
	require.Equal(t, `prog|circ: circuit
prog|circuit|: list|show
prog|run|--level|: debug|info
prog|run|--level|=|d: debug
prog|run|--dry|: a file.txt
prog|run|--out|a f: a file.txt
complete -F _prog_complete prog
`, out)
}

func TestZsh(t *testing.T) {
	t.Parallel()
	// Outside of the line editor, what it would be told is printed.
	out := inShell(t, "zsh", `
		compdef() { echo "compdef $*" }
		_describe() { print -l -- "${(@P)3}" }
		_files() { echo files }
		compset() { echo "compset $*" }
		source <(prog completion zsh)
		try() { words=("$@"); CURRENT=$#; PREFIX=${@[-1]}; _prog }
		try prog circ
		try prog run --level=d
		try prog run --out ""`)
	require.Equal(t, "compdef _prog prog\ncircuit:Circuits.\nfiles\ncompset -P *=\ndebug:\nfiles\n", out)
}

func TestFish(t *testing.T) {
	t.Parallel()
	out := inShell(t, "fish", `
		prog completion fish | source
		complete -C 'prog circ'
		complete -C 'prog run --level '
		complete -C 'prog run --level=d'
		complete -C 'prog run --out '`)
	require.Equal(t, "circuit\tCircuits.\ndebug\ninfo\n--level=debug\na file.txt\n", out)
}
