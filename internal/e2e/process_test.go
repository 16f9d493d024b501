package e2e_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	proc "github.com/weirkeeper/weirkeeper/internal/process"
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
	if err := proc.Build(context.Background(), dir, "./cmd/worker", "./cmd/publisher"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	binaries = dir
	// What these tests take is mostly other processes' waiting. A -parallel of the
	// command line is read later, and has the say.
	if err := flag.Set("test.parallel", strconv.Itoa(2*runtime.GOMAXPROCS(0))); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
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
	env     []string // beside PATH, HOME and TMPDIR
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

func (c command) launch(t *testing.T, out, errOut io.Writer) *proc.Process {
	t.Helper()
	p, err := proc.Command{
		Path: filepath.Join(binaries, c.program), Args: c.args, Env: append([]string{"XDG_CACHE_HOME=" + filepath.Join(binaries, "cache")}, c.env...), Home: t.TempDir(), Dir: c.dir, Stdin: c.stdin, Out: out, Err: errOut,
	}.Start()
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return p
}

// run waits for a process to end by itself.
func (c command) run(t *testing.T) done {
	t.Helper()
	var out, errOut proc.Log
	begun := time.Now()
	code, err := c.launch(t, &out, &errOut).Wait(patience)
	require.NoError(t, err, "%v: %s", c.args, &errOut)
	return done{code, out.String(), errOut.String(), time.Since(begun)}
}

// process is one that runs until it is told to stop.
type process struct {
	*proc.Process
	t      *testing.T
	output *proc.Log
}

func (c command) start(t *testing.T) *process {
	t.Helper()
	output := &proc.Log{}
	p := &process{c.launch(t, output, output), t, output}
	t.Cleanup(func() {
		p.Kill()
		if t.Failed() {
			t.Logf("%v wrote:\n%s", c.args, output)
		}
	})
	return p
}

// stop sends SIGTERM and returns the exit code.
func (p *process) stop() int {
	p.t.Helper()
	require.NoError(p.t, p.Signal(syscall.SIGTERM))
	return p.wait()
}

func (p *process) wait() int {
	p.t.Helper()
	code, err := p.Wait(patience)
	require.NoError(p.t, err, p.output)
	return code
}

// kill is kill -9.
func (p *process) kill() {
	p.t.Helper()
	require.True(p.t, p.Running(), p.output)
	p.Kill()
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
