package resilience

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Delayed is implemented by every error type of this package: how long to wait
// before asking again makes sense, and whether that is known at all: look at known
// before you wait.
type Delayed interface {
	error
	RetryDelay() (delay time.Duration, known bool)
}

// RateLimitExceeded refuses a call because the tenant's allowance is used up.
// Nothing was recorded. Ask again after RetryAfter.
type RateLimitExceeded struct {
	Tenant     string
	RetryAfter time.Duration
}

func (e *RateLimitExceeded) Error() string {
	return fmt.Sprintf("rate limit of tenant %q exceeded, retry after %v", e.Tenant, e.RetryAfter)
}

// RetryDelay implements [Delayed].
func (e *RateLimitExceeded) RetryDelay() (time.Duration, bool) { return e.RetryAfter, true }

// CircuitOpen refuses a call because its server has failed too often. Ask again
// after RetryAfter.
type CircuitOpen struct {
	Circuit    string
	RetryAfter time.Duration
	Reason     string // why it was opened, may be empty
}

func (e *CircuitOpen) Error() string {
	msg := fmt.Sprintf("circuit %q is open, retry after %v", e.Circuit, e.RetryAfter)
	if e.Reason != "" {
		msg += ": " + e.Reason
	}
	return msg
}

// RetryDelay implements [Delayed].
func (e *CircuitOpen) RetryDelay() (time.Duration, bool) { return e.RetryAfter, true }

// RetryExhausted is returned when the last permitted attempt has failed too.
type RetryExhausted struct {
	Operation string
	Retries   int   // attempts after the first
	Attempts  int   // calls made, one more than Retries
	Err       error // what the last attempt returned
	// RetryAfter is how long the server asked, with the last error, to be left
	// alone, 0 if it did not.
	RetryAfter time.Duration
}

func (e *RetryExhausted) Error() string {
	return fmt.Sprintf("exhausted %d retries for %s: %v", e.Retries, e.Operation, e.Err)
}

func (e *RetryExhausted) Unwrap() error { return e.Err }

// RetryDelay implements [Delayed] with what the server asked for, or else with what
// the last attempt's error knows.
func (e *RetryExhausted) RetryDelay() (time.Duration, bool) {
	if e.RetryAfter > 0 {
		return e.RetryAfter, true
	}
	var d Delayed
	if errors.As(e.Err, &d) {
		return d.RetryDelay()
	}
	return 0, false
}

// RequestExceedsWindow refuses a call that needs more tokens than a whole
// window holds: it could not be admitted under this limit. Make the call smaller or
// the limit larger.
type RequestExceedsWindow struct {
	Tokens, Limit int64
	Window        time.Duration
}

func (e *RequestExceedsWindow) Error() string {
	return fmt.Sprintf("request of %d tokens exceeds the window's limit of %d", e.Tokens, e.Limit)
}

// RetryDelay implements [Delayed]: waiting does not help.
func (e *RequestExceedsWindow) RetryDelay() (time.Duration, bool) { return 0, false }

// ConfigError is returned by constructors. Argument is the field or parameter
// to correct.
type ConfigError struct {
	Argument, Problem string
}

func (e *ConfigError) Error() string { return "resilience: " + e.Argument + " " + e.Problem }

// RetryDelay implements [Delayed]: waiting does not help.
func (e *ConfigError) RetryDelay() (time.Duration, bool) { return 0, false }

// ErrContended is the cause of a [StoreError] when a change lost against other
// clients' changes more often than is worth trying. The change did not take
// place.
var ErrContended = errors.New("too many concurrent changes")

// StoreError says that the state shared with other processes could not be read
// or written. It says nothing about the server that the guarded calls go to.
// errors.Is reaches the cause, such as kvcache.ErrUnavailable.
type StoreError struct {
	Op  string // what was tried, such as "breaker allow"
	Err error
}

func (e *StoreError) Error() string { return "resilience state: " + e.Op + ": " + e.Err.Error() }

func (e *StoreError) Unwrap() error { return e.Err }

// RetryDelay implements [Delayed]: when the store comes back is not known.
func (e *StoreError) RetryDelay() (time.Duration, bool) { return 0, false }

// storeError tells a store that failed from a caller that has gone away. Some stores
// answer the latter with the cause of its context.
func storeError(ctx context.Context, op string, err error) error {
	if silence := silent(ctx); silence != nil {
		return &StoreError{Op: op, Err: silence}
	}
	if gone := ctx.Err(); gone != nil && (errors.Is(err, gone) || errors.Is(err, context.Cause(ctx))) {
		return gone
	}
	return &StoreError{Op: op, Err: err}
}
