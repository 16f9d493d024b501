//go:build unix

package process

import "syscall"

// Pause stops the process in the middle of whatever it does (SIGSTOP), until
// Resume.
func (p *Process) Pause() error { return p.Signal(syscall.SIGSTOP) }

// Resume lets a paused process go on (SIGCONT).
func (p *Process) Resume() error { return p.Signal(syscall.SIGCONT) }
