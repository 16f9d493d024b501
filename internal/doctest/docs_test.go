package doctest

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/freeport"
)

const root = "../.."

// atATime is how many documents run beside each other: mostly they wait.
const atATime = 4

// TestCommandsOfTheDocumentation runs each document's commands in a shell that
// stops at the first failure, in a copy of the repository as git knows it. The
// README, which builds the commands, comes first; the others find them built, as
// their reader does, and run beside each other. They share the directory, so what one
// of them reads must have a name that no other writes.
func TestCommandsOfTheDocumentation(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole documents; left out of -short")
	}
	built := t.TempDir()
	copyTree(t, built)
	t.Run("README.md", func(t *testing.T) { run(t, built, script(read(t, "README.md")), "") })
	if _, err := os.Stat(filepath.Join(built, "bin", "practice-model")); err != nil { // who has asked for one document only
		run(t, built, "make build tools", "")
	}
	// A clone with files that git does not know gives builds whose version is +dirty.
	defer func() {
		require.Empty(t, strays(t, built), "let .gitignore know of what the documentation's commands leave behind")
	}()
	places := make(chan struct{}, atATime)
	var others sync.WaitGroup
	defer others.Wait()
	for _, doc := range documents(t) {
		commands := script(read(t, doc))
		if commands == "" || doc == "README.md" {
			continue
		}
		others.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			t.Run(doc, func(t *testing.T) { run(t, built, commands, filepath.Join(built, "bin")) })
		})
	}
}

// ports are those that the documents use. They are exchanged for free ones: a
// machine that runs the tests may have servers of its own.
var ports = []string{"4222", "4223", "4224", "6222", "6223", "6224", "8000", "9464", "9465"}

// run executes the commands with their own process group, so that servers which a
// document starts in the background end with it. The output has each command before
// what it wrote: the last one is the one that failed.
func run(t *testing.T, dir, commands, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	taken, err := freeport.Take(len(ports))
	require.NoError(t, err)
	var exchange []string
	for i, port := range ports {
		free := strconv.Itoa(taken[i])
		exchange = append(exchange, ":"+port, ":"+free, " "+port, " "+free)
	}
	natsURL := "nats://127.0.0.1" + exchange[1]
	commands = strings.NewReplacer(exchange...).Replace(commands)
	var output bytes.Buffer
	shell := exec.CommandContext(ctx, "bash", "-euxo", "pipefail", "-c", commands)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "NATS_URL="+natsURL, "PATH="+path+":"+os.Getenv("PATH"))
	shell.Stdout, shell.Stderr = &output, &output
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.WaitDelay = 5 * time.Second
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	require.NoError(t, shell.Start())
	group := shell.Process.Pid
	err = shell.Wait()
	_ = syscall.Kill(-group, syscall.SIGKILL)
	require.NoError(t, err, "commands:\n%s\noutput:\n%s", commands, output.String())
	t.Log(output.String())
}

// documents lists the Markdown files that git tracks or would track.
func documents(t *testing.T) []string {
	t.Helper()
	docs := slices.DeleteFunc(tracked(t), func(name string) bool {
		_, err := os.Stat(filepath.Join(root, name))
		return !strings.HasSuffix(name, ".md") || err != nil // deleted and not yet committed
	})
	require.Contains(t, docs, "README.md")
	require.Contains(t, docs, "deploy/README.md")
	return docs
}

// tracked lists what git tracks or would track.
func tracked(t *testing.T) []string {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	return strings.Split(strings.TrimRight(string(out), "\x00"), "\x00")
}

// strays are the files of a copy that git neither tracks nor ignores.
func strays(t *testing.T, copied string) (found []string) {
	t.Helper()
	known := map[string]bool{}
	for _, name := range tracked(t) {
		known[name] = true
	}
	require.NoError(t, filepath.WalkDir(copied, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(copied, path)
		if name = filepath.ToSlash(name); err == nil && !known[name] {
			found = append(found, name)
		}
		return err
	}))
	ignored := exec.Command("git", "check-ignore", "-z", "--no-index", "--stdin")
	ignored.Dir, ignored.Stdin = root, strings.NewReader(strings.Join(found, "\x00"))
	out, _ := ignored.Output() // that it ignores none is an exit code, too
	for name := range strings.SplitSeq(string(out), "\x00") {
		known[name] = true
	}
	return slices.DeleteFunc(found, func(name string) bool { return known[name] })
}

// copyTree copies what git tracks or would track, like a clean clone.
func copyTree(t *testing.T, to string) {
	t.Helper()
	for _, name := range tracked(t) {
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // deleted and not yet committed
		}
		require.NoError(t, err)
		info, err := os.Stat(filepath.Join(root, name))
		require.NoError(t, err)
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(to, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(to, name), data, info.Mode().Perm()))
	}
}
