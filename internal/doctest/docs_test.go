package doctest

import (
	"bytes"
	"context"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

const root = "../.."

// TestCommandsOfTheDocumentation runs each document's commands in a shell that
// stops at the first failure, in a copy of the repository as git knows it. Those
// that build the commands come first; the others find them built, as their reader
// does, and run beside each other.
func TestCommandsOfTheDocumentation(t *testing.T) {
	if testing.Short() {
		t.Skip("runs whole documents; left out of -short")
	}
	built := t.TempDir()
	copyTree(t, built)
	type document struct{ name, commands string }
	var building, others []document
	for _, doc := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, doc))
		require.NoError(t, err)
		commands, skipped := script(string(text))
		for _, why := range skipped {
			t.Logf("%s: not run: %s", doc, why)
		}
		switch {
		case commands == "":
		case strings.Contains(commands, "make build"):
			building = append(building, document{doc, commands})
		default:
			others = append(others, document{doc, commands})
		}
	}
	for _, doc := range building {
		t.Run(doc.name, func(t *testing.T) { run(t, built, doc.commands, "") })
	}
	build := sync.OnceFunc(func() { // for who has asked for one document only
		if _, err := os.Stat(filepath.Join(built, "bin", "practice-model")); err != nil {
			run(t, built, "make build tools", "")
		}
	})
	for _, doc := range others {
		t.Run(doc.name, func(t *testing.T) {
			t.Parallel()
			build()
			run(t, built, doc.commands, filepath.Join(built, "bin"))
		})
	}
}

// ports are those that the documents use. They are exchanged for free ones: a
// machine that runs the tests may have servers of its own.
var ports = []string{"4222", "4223", "4224", "6222", "6223", "6224", "8000", "9464", "9465"}

// run executes the commands with their own process group, so that servers which a
// document starts in the background end with it.
func run(t *testing.T, dir, commands, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 9*time.Minute)
	defer cancel()
	var exchange []string
	for _, port := range ports {
		free := freePort(t)
		exchange = append(exchange, ":"+port, ":"+free, " "+port, " "+free)
	}
	natsURL := "nats://127.0.0.1" + exchange[1]
	commands = strings.NewReplacer(exchange...).Replace(commands)
	var output bytes.Buffer
	shell := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", commands)
	shell.Dir = dir
	shell.Env = append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir(), "NATS_URL="+natsURL, "PATH="+path+":"+os.Getenv("PATH"))
	shell.Stdout, shell.Stderr = &output, &output
	shell.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	shell.WaitDelay = 5 * time.Second
	shell.Cancel = func() error { return syscall.Kill(-shell.Process.Pid, syscall.SIGKILL) }
	require.NoError(t, shell.Start())
	group := shell.Process.Pid
	err := shell.Wait()
	_ = syscall.Kill(-group, syscall.SIGKILL)
	require.NoError(t, err, "commands:\n%s\noutput:\n%s", commands, output.String())
	t.Log(output.String())
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { require.NoError(t, l.Close()) }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	require.NoError(t, err)
	return port
}

// documents lists the Markdown files with commands for a reader.
func documents(t *testing.T) []string {
	t.Helper()
	var docs []string
	for _, pattern := range []string{"*.md", "docs"} {
		matches, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, m := range matches {
			require.NoError(t, filepath.WalkDir(m, func(path string, d fs.DirEntry, err error) error {
				if err == nil && !d.IsDir() && strings.HasSuffix(path, ".md") {
					rel, _ := filepath.Rel(root, path)
					docs = append(docs, rel)
				}
				return err
			}))
		}
	}
	require.Contains(t, docs, "README.md")
	return docs
}

// copyTree copies what git tracks or would track, like a clean clone.
func copyTree(t *testing.T, to string) {
	t.Helper()
	list := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	out, err := list.Output()
	require.NoError(t, err)
	for name := range strings.SplitSeq(strings.TrimRight(string(out), "\x00"), "\x00") {
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
