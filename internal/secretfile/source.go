package secretfile

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"unicode/utf8"
)

// maxBytes bounds the file: no key or token is as long.
const maxBytes = 64 << 10

// Source is a file with one secret. It is safe for concurrent use.
type Source struct {
	path string
	once bool // a pipe, which can be read once

	mu   sync.Mutex
	last string
}

// Open reads the file, which has to have one line. The line break at its end is
// not part of the secret. Errors are an [*Error].
func Open(path string) (*Source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	s := &Source{path: path, once: !info.Mode().IsRegular()}
	if s.last, err = read(path); err != nil {
		return nil, err
	}
	return s, nil
}

// Current is what the file holds now. If it cannot be read, because somebody is
// just replacing it, the secret is what was read last, beside the error.
func (s *Source) Current() (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.once {
		return s.last, nil
	}
	now, err := read(s.path)
	if err == nil {
		s.last = now
	}
	return s.last, err
}

func read(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", unreadable(path, err)
	}
	defer func() { _ = f.Close() }() // nothing was written
	text, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return "", unreadable(path, err)
	}
	text = bytes.TrimSuffix(text, []byte("\n"))
	text = bytes.TrimSuffix(text, []byte("\r"))
	problem := ""
	switch {
	case len(text) > maxBytes:
		problem = "is too large for a secret"
	case len(bytes.TrimSpace(text)) == 0:
		problem = "is empty"
	case bytes.ContainsAny(text, "\r\n"):
		problem = "has more than one line: it must hold the secret and nothing else"
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		problem = "is not text"
	default:
		return string(text), nil
	}
	return "", &Error{Path: path, Problem: problem}
}

// Readable opens a file that somebody else is going to read, more than once: a
// pipe does not do. The error is an [*Error].
func Readable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return unreadable(path, err)
	}
	if !info.Mode().IsRegular() {
		return &Error{Path: path, Problem: "is not a regular file"}
	}
	f, err := os.Open(path)
	if err != nil {
		return unreadable(path, err)
	}
	_ = f.Close() // nothing was written
	return nil
}

// Exposed reports whether every user of the machine may read the file, and its owner
// could change that. What only a group may read is often meant so, such as a secret that
// Kubernetes has mounted; so is what is on a file system that nobody can write to.
// Windows keeps no such rights beside a file.
func Exposed(path string) bool {
	info, err := os.Stat(path)
	return err == nil && runtime.GOOS != "windows" && worldReadable(info.Mode()) && !readOnly(path)
}

// Warn logs that the file of an option is exposed, if it is; path may be empty.
func Warn(log *slog.Logger, option, path string) {
	if path != "" && Exposed(path) {
		log.Warn("every user of this machine may read a secret: chmod o-r", "option", option, "file", path)
	}
}

func worldReadable(mode fs.FileMode) bool { return mode.IsRegular() && mode.Perm()&0o004 != 0 }

func unreadable(path string, err error) error {
	problem := err.Error()
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		problem = cause.Err.Error()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		problem = "there is no such file"
	case errors.Is(err, fs.ErrPermission):
		problem = "this user may not read it"
	}
	return &Error{Path: path, Problem: problem, Err: err}
}
