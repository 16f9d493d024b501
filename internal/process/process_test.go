package process

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start runs a program that every unix has.
func start(t *testing.T, name string, args ...string) (*Process, *Log) {
	t.Helper()
	path, err := exec.LookPath(name)
	require.NoError(t, err)
	var out Log
	p, err := Command{Path: path, Args: args, Home: t.TempDir(), Env: []string{"MINE=yes"}, Stdin: "in", Out: &out, Err: &out}.Start()
	require.NoError(t, err)
	t.Cleanup(p.Kill)
	return p, &out
}

func TestProcessSeesOnlyWhatItIsGiven(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", "the developer's")
	p, out := start(t, "sh", "-c", "cat; env; exit 7")
	code, err := p.Wait(time.Minute)
	require.NoError(t, err)
	require.Equal(t, 7, code)
	require.False(t, p.Running())
	require.Contains(t, out.String(), "in")
	require.Contains(t, out.String(), "MINE=yes")
	require.NotContains(t, out.String(), "developer")
}

func TestProcessThatDoesNotEnd(t *testing.T) {
	p, _ := start(t, "sleep", "60")
	_, err := p.Wait(time.Millisecond)
	var still *StillRunning
	require.ErrorAs(t, err, &still)
	require.True(t, p.Running())
	p.Kill()
	code, err := p.Wait(time.Minute)
	require.NoError(t, err)
	require.Equal(t, -1, code)
	p.Kill()
}

func TestPausedProcessGoesOn(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what state a process is in is read from /proc")
	}
	p, _ := start(t, "sleep", "60")
	state := func() string {
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.ID()))
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(text), ") ")
		return after[:1]
	}
	require.NoError(t, p.Pause())
	require.Eventually(t, func() bool { return state() == "T" }, time.Minute, time.Millisecond, "stopped")
	require.NoError(t, p.Resume())
	require.Eventually(t, func() bool { return state() != "T" }, time.Minute, time.Millisecond)
	p.Kill()
	_, err := p.Wait(time.Minute)
	require.NoError(t, err)
}

func TestMemory(t *testing.T) {
	held, err := parseMemory("4242 12 3 1 0 30 0\n")
	require.NoError(t, err)
	require.EqualValues(t, 12*os.Getpagesize(), held)
	for _, other := range []string{"", "4242", "4242 x", "4242 -1"} {
		_, err := parseMemory(other)
		require.ErrorIs(t, err, ErrUnsupported, other)
	}
	if runtime.GOOS == "linux" {
		p, _ := start(t, "sleep", "60")
		held, err := p.Memory()
		require.NoError(t, err)
		require.Positive(t, held)
	}
}

func TestCPU(t *testing.T) {
	spent, err := parseCPU("4242 (a) b (c)) S 1 2 3 4 5 6 7 8 9 10 120 30 0 0 20 0 9 0 1 2 3")
	require.NoError(t, err)
	require.Equal(t, 1500*time.Millisecond, spent)
	for _, other := range []string{"", "1 (a) S 1 2", "no parentheses at all", "1 (a) S 1 2 3 4 5 6 7 8 9 10 x y 0"} {
		_, err := parseCPU(other)
		require.ErrorIs(t, err, ErrUnsupported, other)
	}
	if runtime.GOOS == "linux" {
		p, _ := start(t, "sh", "-c", "while :; do :; done")
		require.Eventually(t, func() bool {
			spent, err := p.CPU()
			return err == nil && spent >= 50*time.Millisecond
		}, time.Minute, 10*time.Millisecond)
	}
}
