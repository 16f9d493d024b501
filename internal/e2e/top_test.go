package e2e_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
)

// terminal runs a command on a pseudo-terminal and reads what is on its screen.
type terminal struct {
	t    *testing.T
	file *os.File
	cmd  *exec.Cmd

	mu  sync.Mutex
	all strings.Builder // everything that was sent
}

func onTerminal(t *testing.T, url string, width, height uint16, program string, args ...string) *terminal {
	t.Helper()
	cmd := exec.Command(filepath.Join(binaries, program), args...)
	cmd.Env = []string{"NATS_URL=" + url, "TERM=xterm-256color", "HOME=" + t.TempDir()}
	file, err := pty.StartWithSize(cmd, &pty.Winsize{Cols: width, Rows: height})
	require.NoError(t, err)
	x := &terminal{t: t, file: file, cmd: cmd}
	reading := make(chan struct{})
	go func() {
		defer close(reading)
		buffer := make([]byte, 64<<10)
		for {
			n, err := file.Read(buffer)
			x.mu.Lock()
			x.all.Write(buffer[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		_ = file.Close()
		<-reading
	})
	return x
}

func (x *terminal) sent() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.all.String()
}

// frame is the last picture that was sent whole, without its colours.
func (x *terminal) frame() string {
	frames := strings.Split(x.sent(), "\x1b[H")
	for i := len(frames) - 1; i > 0; i-- {
		if frame, _, whole := strings.Cut(frames[i], "\x1b[J"); whole {
			for _, code := range []string{"\x1b[K", "\x1b[0m", "\x1b[1m", "\x1b[7m", "\x1b[31m", "\x1b[33m"} {
				frame = strings.ReplaceAll(frame, code, "")
			}
			return frame
		}
	}
	return ""
}

// shows waits for all texts to be on the screen at once, in no more and no longer lines
// than it has room for.
func (x *terminal) shows(width, height int, texts ...string) string {
	x.t.Helper()
	frame := ""
	has := func() bool {
		frame = x.frame()
		for _, text := range texts {
			if !strings.Contains(frame, text) {
				return false
			}
		}
		lines := strings.Split(frame, "\r\n")
		for _, line := range lines {
			if len([]rune(line)) > width {
				return false
			}
		}
		return len(lines) <= height
	}
	for deadline := time.Now().Add(patience / 2); !has(); time.Sleep(20 * time.Millisecond) {
		require.False(x.t, time.Now().After(deadline), "the screen does not show %q:\n%s", texts, frame)
	}
	require.NotContains(x.t, frame, "\x1b")
	return frame
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	_, err := x.file.WriteString(keys)
	require.NoError(x.t, err)
}

func (x *terminal) resize(width, height uint16) {
	x.t.Helper()
	require.NoError(x.t, pty.Setsize(x.file, &pty.Winsize{Cols: width, Rows: height}))
}

// ends waits for the command to end and to give the terminal back.
func (x *terminal) ends(code int) {
	x.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- x.cmd.Wait() }()
	select {
	case <-ended:
	case <-time.After(patience):
		require.Fail(x.t, "the command does not end")
	}
	require.Equal(x.t, code, x.cmd.ProcessState.ExitCode())
	eventually(x.t, "the terminal is given back", func() bool {
		return strings.Contains(x.sent(), "\x1b[?7h\x1b[?25h\x1b[?1049l")
	})
}

// backlog publishes a chunk for each tenant to streams that no worker looks at.
func backlog(t *testing.T, url string, tenants ...string) {
	t.Helper()
	require.Equal(t, 0, publisher(t, url, "status", "--tenant", "nobody").code) // makes the streams
	js := connect(t, url).js
	for _, tenant := range tenants {
		_, err := js.PublishAsync("weir.chunks."+tenant, []byte(`{"text":"Ada met Mary."}`), jetstream.WithStallWait(patience))
		require.NoError(t, err)
	}
	<-js.PublishAsyncComplete()
}

// hostileTenant is "\x1b[2Jevil" as a token.
const hostileTenant = "=G1sySmV2aWw"

func TestTopOnATerminal(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	tenants := []string{"acme", "acme", "globex", hostileTenant}
	for i := range 100 {
		tenants = append(tenants, fmt.Sprintf("tenant-%02d", i))
	}
	backlog(t, url, tenants...)
	paused := command{program: "worker", args: []string{"pause", "globex", "--for", "30m", "--reason", "too dear"}, env: []string{"NATS_URL=" + url}}.run(t)
	require.Equal(t, 0, paused.code, paused)

	x := onTerminal(t, url, 80, 24, "worker", "top", "--interval", "200ms")
	frame := x.shows(80, 24, "weir  ", "no workers", "waiting 104", "tenant globex is paused until", "acme", "1-19 of 103 tenants, by waiting (*)")
	require.Contains(t, frame, `"\x1b[2Jevil"`)
	require.Contains(t, x.sent(), "\x1b[?1049h")

	// Another size, also a very small one, is followed at once.
	x.resize(40, 10)
	x.shows(40, 10, "acme", "1-5 of 103 tenants")
	x.resize(200, 50)
	x.shows(200, 50, "WINDOW", "1-45 of 103 tenants")
	x.resize(12, 3)
	x.shows(12, 3, "0-0 of 103")
	x.resize(80, 24)

	x.press("n")
	x.shows(80, 24, "by name")
	x.press("G")
	x.shows(80, 24, "85-103 of 103", "tenant-99")
	x.press("g/GLO")
	x.shows(80, 24, "filter: GLO_", "paused 30m")
	x.press("\r\t")
	x.shows(80, 24, "of 0 workers")
	x.press("\t\x1b")
	x.shows(80, 24, "of 103 tenants")
	x.press("?")
	x.shows(80, 24, "any key goes back")
	x.press("?q")
	x.ends(0)
}

func TestTopEndsWhenItIsToldTo(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	for name, end := range map[string]func(x *terminal){
		"ctrl-c":  func(x *terminal) { x.press("\x03") },
		"SIGTERM": func(x *terminal) { require.NoError(t, x.cmd.Process.Signal(syscall.SIGTERM)) },
	} {
		t.Run(name, func(t *testing.T) {
			x := onTerminal(t, url, 80, 24, "worker", "top")
			x.shows(80, 24, "no workers", "waiting 0")
			end(x)
			x.ends(0)
		})
	}
}

// Off a terminal there are plain lines, or an object on each.
func TestTopOffATerminal(t *testing.T) {
	fleetTest(t)
	url := natsServer(t)
	backlog(t, url, "acme", "acme", "globex", hostileTenant)
	top := func(args ...string) done {
		return command{program: "worker", args: append([]string{"top"}, args...), env: []string{"NATS_URL=" + url, "TERM=xterm-256color"}}.run(t)
	}
	once := top("--once", "--tenants", "2")
	require.Equal(t, 0, once.code, once)
	require.Empty(t, once.errOut)
	require.NotContains(t, once.out, "\x1b")
	require.Regexp(t, `(?m)^acme\s+2\s`, once.out)
	require.Contains(t, once.out, "1-2 of 3 tenants, by waiting (*)\n\n")
	require.NotContains(t, once.out, "globex")

	var fleet struct {
		Tenants []struct {
			Tenant  string
			Waiting int
		}
		Totals struct{ Waiting int }
	}
	once = top("--once", "--json")
	require.Equal(t, 0, once.code, once)
	require.Equal(t, 1, strings.Count(once.out, "\n"), "one object on one line")
	require.NoError(t, json.Unmarshal([]byte(once.out), &fleet))
	require.Equal(t, 4, fleet.Totals.Waiting)
	require.Equal(t, "acme", fleet.Tenants[0].Tenant)

	p := command{program: "worker", args: []string{"top", "--interval", "200ms", "--filter", "glo"}, env: []string{"NATS_URL=" + url}}.start(t)
	eventually(t, "a block for each look", func() bool { return strings.Count(p.output.String(), "of 1 tenant, by waiting (*)") >= 3 })
	require.Equal(t, 0, p.stop())
	require.NotContains(t, p.output.String(), "\x1b")

	require.Equal(t, 2, top("--interval", "1ms").code)
	require.Equal(t, 2, top("--sort", "luck").code)
	nobody := command{program: "worker", args: []string{"top", "--once"}, env: []string{"NATS_URL=nats://" + freeAddress(t)}}.run(t)
	require.NotEqual(t, 0, nobody.code)
}

// Figures that are old are not shown as if they were new, from the moment on that the
// connection is lost, however rarely one looks.
func TestTopSaysThatNATSIsAway(t *testing.T) {
	fleetTest(t)
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	url := server.URL()
	backlog(t, url, "acme")
	start := func(args ...string) *process {
		return command{program: "worker", args: append([]string{"top", "--interval", "1h"}, args...), env: []string{"NATS_URL=" + url}}.start(t)
	}
	x := onTerminal(t, url, 80, 24, "worker", "top", "--interval", "1h")
	lines, objects := start(), start("--json")
	x.shows(80, 24, "acme", "of 1 tenant")
	eventually(t, "figures", func() bool {
		return strings.Contains(lines.output.String(), "of 1 tenant") && strings.Contains(objects.output.String(), `"totals"`)
	})
	gone := time.Now()
	require.NoError(t, server.Close())
	x.shows(80, 24, "acme", "not connected to NATS, figures of ")
	eventually(t, "a word of it", func() bool {
		return strings.Contains(lines.output.String(), "not connected to NATS, figures of ") && strings.Contains(objects.output.String(), `"figures_of"`)
	})
	require.Less(t, time.Since(gone), 5*time.Second, "not after a look has been given up")
	for line := range strings.Lines(objects.output.String()) {
		if strings.Contains(line, `"figures_of"`) {
			var told struct {
				Problem   string
				FiguresOf time.Time `json:"figures_of"`
			}
			require.NoError(t, json.Unmarshal([]byte(line), &told), line)
			require.Equal(t, "not connected to NATS, figures of "+told.FiguresOf.UTC().Format(time.TimeOnly), told.Problem)
		}
	}
	require.NotContains(t, lines.output.String()+objects.output.String()+x.sent(), "deadline exceeded")
	x.press("q")
	x.ends(0)
	require.Equal(t, 0, lines.stop())
	require.Equal(t, 0, objects.stop())
}
