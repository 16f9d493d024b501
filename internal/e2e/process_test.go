package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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

// binaries is where TestMain builds the commands.
var binaries string

func TestMain(m *testing.M) { os.Exit(runTests(m)) }

func runTests(m *testing.M) int {
	dir, err := os.MkdirTemp("", "weirkeeper-e2e-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-o", dir+string(filepath.Separator), "./cmd/worker", "./cmd/publisher")
	build.Dir = filepath.Join("..", "..")
	if out, err := build.CombinedOutput(); err != nil {
		fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
		return 1
	}
	binaries = dir
	return m.Run()
}

// fleetTest is for tests that start several processes: they run beside each other
// and not under -short.
func fleetTest(t *testing.T) {
	t.Helper()
	skipShort(t)
	t.Parallel()
}

func skipShort(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a fleet of processes")
	}
}

// patience bounds every wait for another process: far more than it takes.
const patience = 60 * time.Second

// command is how a process is started.
type command struct {
	program string
	args    []string
	env     []string // beside PATH, HOME and TMPDIR: the developer's settings stay out
	stdin   string
	dir     string
}

// done is how a process ended.
type done struct {
	code        int
	out, errOut string
	took        time.Duration
}

func (d done) String() string {
	return fmt.Sprintf("exit %d after %s\nstdout:\n%s\nstderr:\n%s", d.code, d.took, d.out, d.errOut)
}

func (c command) prepare(ctx context.Context, t *testing.T) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(binaries, c.program), c.args...)
	cmd.Dir = c.dir
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir()}, c.env...)
	cmd.Stdin = strings.NewReader(c.stdin)
	return cmd
}

// run waits for a process to end by itself.
func (c command) run(t *testing.T) done {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := c.prepare(ctx, t)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	begun := time.Now()
	err := cmd.Run()
	require.NoError(t, ctx.Err(), "%v did not end: %s", c.args, errOut.String())
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	return done{cmd.ProcessState.ExitCode(), out.String(), errOut.String(), time.Since(begun)}
}

// process is one that runs until it is told to stop.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	output *log
	ended  chan struct{}
}

func (c command) start(t *testing.T) *process {
	t.Helper()
	p := &process{t: t, cmd: c.prepare(context.Background(), t), output: &log{}, ended: make(chan struct{})}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	require.NoError(t, p.cmd.Start())
	go func() {
		_ = p.cmd.Wait()
		close(p.ended)
	}()
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.ended
		if t.Failed() {
			t.Logf("%v wrote:\n%s", c.args, p.output.String())
		}
	})
	return p
}

// stop sends SIGTERM and returns the exit code.
func (p *process) stop() int {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	return p.wait()
}

// kill is kill -9.
func (p *process) kill() {
	p.t.Helper()
	require.NoError(p.t, p.cmd.Process.Kill())
	p.wait()
}

func (p *process) wait() int {
	p.t.Helper()
	select {
	case <-p.ended:
	case <-time.After(patience):
		require.FailNow(p.t, "the process did not end", p.output.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

// log collects what a process writes.
type log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// eventually polls an outside process until it says yes.
func eventually(t *testing.T, what string, yes func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	for !yes() {
		if time.Now().After(deadline) {
			require.FailNow(t, "did not happen: "+what)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

func writeFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}
