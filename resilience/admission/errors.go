package admission

import (
	"errors"
	"fmt"
)

var (
	// ErrClosed: the controller is closed or closing. The call did not run to
	// its end; a new controller is needed.
	ErrClosed = errors.New("admission closed")

	// ErrConflict: a call with this id is queued or active, or the call has
	// ended. Make a fresh call for another attempt.
	ErrConflict = errors.New("call is already owned or has ended")

	// ErrNoTokenEstimate: tokens are limited and the call has no estimate. Give
	// it one with [WithTokens].
	ErrNoTokenEstimate = errors.New("tokens are limited and the call has no token estimate")

	// ErrSkip is what a pre-hook returns to end a call as SKIPPED without any
	// provider work.
	ErrSkip = errors.New("call skipped by its hook")
)

// ConfigError names the argument that a constructor refused.
type ConfigError struct {
	Argument string
	Problem  string
}

func (e *ConfigError) Error() string {
	return fmt.Sprintf("admission: %s %s", e.Argument, e.Problem)
}

// RequestExceedsTokenWindow: the call would not fit an empty window, so waiting
// would never help. Split the request or raise the limit.
type RequestExceedsTokenWindow struct {
	Tokens, Limit int64
}

func (e *RequestExceedsTokenWindow) Error() string {
	return fmt.Sprintf("request of %d tokens exceeds the whole window of %d", e.Tokens, e.Limit)
}

// DeadlineExceeded: the caller's deadline passed while the call was in Phase.
// errors.Is(err, context.DeadlineExceeded) holds.
type DeadlineExceeded struct {
	CallID string
	Phase  Phase
	Err    error
}

func (e *DeadlineExceeded) Error() string {
	return fmt.Sprintf("deadline exceeded in phase %s of call %s", e.Phase, e.CallID)
}

func (e *DeadlineExceeded) Unwrap() error { return e.Err }

// ProviderStreamError: a stream failed after output had reached the caller, so it
// is not replayed. What was received stands.
type ProviderStreamError struct {
	Err error
}

func (e *ProviderStreamError) Error() string { return "stream failed after output: " + e.Err.Error() }

func (e *ProviderStreamError) Unwrap() error { return e.Err }

// Permanent tells retries that another attempt is out of the question.
func (e *ProviderStreamError) Permanent() bool { return true }
