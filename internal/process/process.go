package process

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Command is how a process is started.
type Command struct {
	Path  string // of the program
	Args  []string
	Home  string   // HOME and TMPDIR. "" = none
	Env   []string // beside PATH and those: the developer's settings stay out
	Dir   string   // working directory. "" = this process's
	Stdin string

	// Out and Err take what it writes. Nil: nobody does.
	Out, Err io.Writer
}

// Process is one that was started. Its methods are safe for concurrent use.
type Process struct {
	name  string
	cmd   *exec.Cmd
	ended chan struct{}
}

// Start starts a process. Stop or Kill it.
func (c Command) Start() (*Process, error) {
	cmd := exec.Command(c.Path, c.Args...)
	cmd.Dir = c.Dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	if c.Home != "" {
		cmd.Env = append(cmd.Env, "HOME="+c.Home, "TMPDIR="+c.Home)
	}
	cmd.Env = append(cmd.Env, c.Env...) // of two, the later one counts
	cmd.Stdin = strings.NewReader(c.Stdin)
	cmd.Stdout, cmd.Stderr = c.Out, c.Err
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{name: filepath.Base(c.Path), cmd: cmd, ended: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in ProcessState
		close(p.ended)
	}()
	return p, nil
}

// ID is the process id.
func (p *Process) ID() int { return p.cmd.Process.Pid }

// Ended is closed when the process has ended.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Running reports whether it has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Signal sends a signal. A process that has ended is os.ErrProcessDone.
func (p *Process) Signal(s os.Signal) error { return p.cmd.Process.Signal(s) }

// Kill is kill -9, and waits for the end. Killing twice is safe.
func (p *Process) Kill() {
	_ = p.cmd.Process.Kill()
	<-p.ended
}

// Wait waits for the end and returns the exit code, -1 if a signal ended it. If the
// process still runs after that long, it is a [*StillRunning].
func (p *Process) Wait(patience time.Duration) (int, error) {
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
		return p.cmd.ProcessState.ExitCode(), nil
	case <-timer.C:
		return 0, &StillRunning{p.name, patience}
	}
}

// Log collects what processes write. The zero value is empty and ready; it is safe
// for concurrent use.
type Log struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
