package cli

import "errors"

// Exit codes of both commands.
const (
	ExitDone       = 0 // done
	ExitFailed     = 1 // failed on the way: trying again may help
	ExitUsage      = 2 // refused before anything was done: change the command, its settings or its input
	ExitDeadLetter = 3 // finished, but some chunks were dead-lettered
	ExitTimeout    = 4 // the time given with --timeout was not enough
)

// codeError is an error that decides the exit code.
type codeError struct {
	code int
	err  error
}

func (e *codeError) Error() string { return e.err.Error() }
func (e *codeError) Unwrap() error { return e.err }

// Usage marks err as one that only a changed command, setting or input can
// cure: exit code 2. Usage(nil) is nil.
func Usage(err error) error { return withCode(ExitUsage, err) }

// DeadLettered marks err as "finished, but not everything was extracted": exit
// code 3.
func DeadLettered(err error) error { return withCode(ExitDeadLetter, err) }

// TimedOut marks err as a wait that took longer than the user gave it: exit
// code 4.
func TimedOut(err error) error { return withCode(ExitTimeout, err) }

func withCode(code int, err error) error {
	if err == nil {
		return nil
	}
	return &codeError{code: code, err: err}
}

// ExitCode says which code the process should exit with after err. The
// outermost mark wins; an error without any is a failure.
func ExitCode(err error) int {
	if err == nil {
		return ExitDone
	}
	if e, ok := errors.AsType[*codeError](err); ok {
		return e.code
	}
	return ExitFailed
}
