package publish

import (
	"fmt"
	"strings"
	"time"
)

// InputError is a file or document that was refused. Nothing has been sent.
type InputError struct {
	Source string // file as the caller named it, "-" for standard input
	Line   int    // 1-based, 0 if it does not matter
	Offset int64  // byte position in the source, 0-based; -1 if it does not matter
	Reason string // what is wrong and, where there is one, what to do
	Err    error  // cause, may be nil
}

func (e *InputError) Error() string {
	var at strings.Builder
	at.WriteString(e.Source)
	if e.Line > 0 {
		fmt.Fprintf(&at, ":%d", e.Line)
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&at, ": byte %d", e.Offset)
	}
	return at.String() + ": " + e.Reason
}

func (e *InputError) Unwrap() error { return e.Err }

// ConfigError is an argument that a constructor cannot work with.
type ConfigError struct {
	Argument string
	Problem  string
}

func (e *ConfigError) Error() string { return "publish: " + e.Argument + ": " + e.Problem }

// SendError is a stream that did not take a chunk. What was sent before stays
// sent; publishing the same input again goes on where this ended.
type SendError struct {
	DocumentID string
	Index      int
	Err        error
}

func (e *SendError) Error() string {
	return fmt.Sprintf("chunk %d of document %q was not sent: %v; run the same command again to go on", e.Index, e.DocumentID, e.Err)
}

func (e *SendError) Unwrap() error { return e.Err }

// WaitError is a wait that ended before every chunk had a result or a dead
// letter.
type WaitError struct {
	Open  int           // chunks without either
	After time.Duration // how long it waited
	Err   error         // why it ended
}

func (e *WaitError) Error() string {
	open := fmt.Sprintf("%d chunks have", e.Open)
	if e.Open == 1 {
		open = "1 chunk has"
	}
	return fmt.Sprintf("%s neither a result nor a dead letter after %s", open, e.After.Round(time.Millisecond))
}

func (e *WaitError) Unwrap() error { return e.Err }

// NoLetterError: there is no dead letter with that sequence, any more or yet.
type NoLetterError struct {
	Sequence uint64
}

func (e *NoLetterError) Error() string { return fmt.Sprintf("there is no dead letter %d", e.Sequence) }

// SupersededError: the chunk of a dead letter has a result of a later version of
// its document, which a replay would replace by the earlier one. Remove the
// letter, or publish the version that is wanted.
type SupersededError struct {
	DocumentID string
	Index      int
}

func (e *SupersededError) Error() string {
	return fmt.Sprintf("chunk %d of document %q has a result of a later version", e.Index, e.DocumentID)
}
