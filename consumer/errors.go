package consumer

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// ConfigError is returned by [New]: which field is wrong and why.
type ConfigError struct {
	Field   string
	Problem string
}

func (e *ConfigError) Error() string { return "consumer: " + e.Field + " " + e.Problem }

// PausedError is what an extractor returns of a chunk that came in hand while its
// tenant was being paused. Nothing was asked of the model: the chunk goes back to
// the queue, and no attempt is counted.
type PausedError struct {
	Left time.Duration // until the pause is over
}

func (e *PausedError) Error() string {
	return "paused for another " + e.Left.Round(time.Millisecond).String()
}

// ErrLost is for a call whose chunk has gone to another worker, see [Lost]. To
// whoever judges calls it is one that was cancelled.
var ErrLost = fmt.Errorf("consumer: the chunk has gone to another worker: %w", context.Canceled)

// ErrRunning: a Worker runs once at a time.
var ErrRunning = errors.New("consumer: worker is already running")

var (
	// errStopping ends the work in hand when the drain timeout is over.
	errStopping = errors.New("worker is stopping")
	// errDeadline ends the work on one chunk.
	errDeadline = errors.New("chunk deadline exceeded")
)

// storeError: NATS could not be read or written. It says nothing about the
// message in hand, which is tried again later.
type storeError struct {
	op  string
	err error
}

func (e *storeError) Error() string { return e.op + ": " + e.err.Error() }
func (e *storeError) Unwrap() error { return e.err }

// panicError is a panic of a handler, turned into an error. Its text is free of
// whatever value the handler panicked with, unless the runtime wrote it.
type panicError struct {
	value any
	stack []byte
}

func (e *panicError) Error() string {
	if err, ok := e.value.(interface {
		error
		RuntimeError()
	}); ok {
		return "panic: " + err.Error()
	}
	return fmt.Sprintf("panic with a value of type %T", e.value)
}
