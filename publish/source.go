package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish/reader"
)

// MaxSourceBytes bounds one text file, one line of a .jsonl file and standard
// input: each is held in memory while it is split.
const MaxSourceBytes = 256 << 20

// StdinName is what a [Source] of standard input is called.
const StdinName = "-"

// format yields the documents of one source.
type format func(name string, in io.Reader) iter.Seq2[Item, error]

// formats maps a file name's ending to how its content is read.
func (f *Files) formats(ending string) (format, bool) {
	switch ending {
	case ".txt", ".md", ".markdown":
		return readText, true
	case ".jsonl":
		return readLines, true
	}
	if slices.Contains(reader.Endings(), ending) {
		return f.extract(ending), true
	}
	return nil, false
}

// Formats lists the endings of the files that can be read.
func Formats() []string {
	return slices.Sorted(slices.Values(append(reader.Endings(), ".txt", ".md", ".markdown", ".jsonl")))
}

// Source is a file or standard input. It can be read more than once; no more
// than one document of it is in memory at a time, but for a little text that was
// hard to get.
type Source struct {
	name string
	open func() (io.ReadCloser, error)
	read format
	// found: nobody named it, a folder held it. It is left out if it is refused.
	found bool
}

// Item is one document of a source and where it stands there.
type Item struct {
	Document extraction.Document
	Source   string
	Line     int // 1-based line of a .jsonl file, else 0
	// Note is what is missing in the document, empty if nothing is known to be. The first
	// line of a .jsonl file with members that are not known names them, for all that follow.
	Note string
}

// Open looks at the file at path without reading it. It refuses, with an
// [*InputError], what is missing, not a regular file, or of an unknown format.
func (f *Files) Open(path string) (Source, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Source{}, refusal(path, "no such file", err)
	case err != nil:
		return Source{}, refusal(path, cause(err), err)
	case info.IsDir():
		return Source{}, refusal(path, "is a directory", nil)
	case !info.Mode().IsRegular():
		return Source{}, refusal(path, "is not a regular file: pipe it into - instead", nil)
	}
	ending := strings.ToLower(filepath.Ext(path))
	read, known := f.formats(ending)
	if !known {
		what := "has no ending that says what it is"
		if ending != "" {
			what = fmt.Sprintf("cannot read %s files", ending)
		}
		return Source{}, refusal(path, fmt.Sprintf("%s: can read %s, and text from standard input as -", what, strings.Join(Formats(), ", ")), nil)
	}
	return Source{name: path, read: read, open: func() (io.ReadCloser, error) { return os.Open(path) }}, nil
}

func refusal(source, reason string, cause error) *InputError {
	return &InputError{Source: source, Offset: -1, Reason: reason, Err: cause}
}

// ReadStdin takes all of in as one plain text document.
func ReadStdin(in io.Reader) (Source, error) {
	text, err := readBounded(in)
	if err != nil {
		return Source{}, &InputError{Source: StdinName, Offset: -1, Reason: err.Error(), Err: err}
	}
	return Source{
		name: StdinName,
		read: readText,
		open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	}, nil
}

// Name is the path as it was given, or "-".
func (s Source) Name() string { return s.name }

// Found reports whether a folder held the source, so that nobody named it.
func (s Source) Found() bool { return s.found }

// Documents reads the source from its beginning. It ends at the first error,
// which is an [*InputError] or that of the context of [NewFiles].
func (s Source) Documents() iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in, err := s.open()
		if err != nil {
			yield(Item{}, &InputError{Source: s.name, Offset: -1, Reason: cause(err), Err: err})
			return
		}
		defer in.Close()
		s.read(s.name, in)(yield)
	}
}

// cause strips the operation and the path from a file error: the message names
// the path already.
func cause(err error) string {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err.Error()
	}
	return err.Error()
}

func readBounded(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, MaxSourceBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxSourceBytes {
		return nil, fmt.Errorf("larger than %d bytes: cut it into several files", MaxSourceBytes)
	}
	return text, nil
}
