package process

import (
	"errors"
	"fmt"
	"time"
)

// ErrUnsupported: this operating system cannot do that to a process.
var ErrUnsupported = errors.New("not on this operating system")

// BuildError is a package that the go command could not build.
type BuildError struct {
	Output string // what the go command wrote
	Err    error
}

func (e *BuildError) Error() string { return fmt.Sprintf("go build: %v\n%s", e.Err, e.Output) }
func (e *BuildError) Unwrap() error { return e.Err }

// StillRunning: the process did not end in the time that it was given.
type StillRunning struct {
	Name   string
	Waited time.Duration
}

func (e *StillRunning) Error() string {
	return fmt.Sprintf("%s did not end within %v", e.Name, e.Waited)
}
