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
)

// MaxSourceBytes bounds one text file, one line of a .jsonl file and standard
// input: each is held in memory while it is split.
const MaxSourceBytes = 256 << 20

// StdinName is what a [Source] of standard input is called.
const StdinName = "-"

// Read yields the documents of one source.
type reader func(name string, in io.Reader) iter.Seq2[Item, error]

// formats maps a file name's ending to how its content is read.
var formats = map[string]reader{
	".txt":   readText,
	".md":    readText,
	".jsonl": readLines,
}

// Formats lists the endings of the files that can be read.
func Formats() []string {
	endings := make([]string, 0, len(formats))
	for ending := range formats {
		endings = append(endings, ending)
	}
	slices.Sort(endings)
	return endings
}

// Source is a file or standard input. It can be read more than once; no more
// than one document of it is in memory at a time.
type Source struct {
	name string
	open func() (io.ReadCloser, error)
	read reader
}

// Item is one document of a source and where it stands there.
type Item struct {
	Document extraction.Document
	Source   string
	Line     int // 1-based line of a .jsonl file, else 0
}

// OpenFile looks at the file at path without reading it. It refuses, with an
// [*InputError], what is missing, not a regular file, or of an unknown format.
func OpenFile(path string) (Source, error) {
	refuse := func(reason string, cause error) (Source, error) {
		return Source{}, &InputError{Source: path, Offset: -1, Reason: reason, Err: cause}
	}
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return refuse("no such file", err)
	case err != nil:
		return refuse(cause(err), err)
	case info.IsDir():
		return refuse("is a directory: name the files in it", nil)
	case !info.Mode().IsRegular():
		return refuse("is not a regular file: pipe it into - instead", nil)
	}
	ending := strings.ToLower(filepath.Ext(path))
	read, known := formats[ending]
	if !known {
		what := "has no ending that says what it is"
		if ending != "" {
			what = fmt.Sprintf("cannot read %s files", ending)
		}
		return refuse(fmt.Sprintf("%s: can read %s, and text from standard input as -", what, strings.Join(Formats(), ", ")), nil)
	}
	return Source{name: path, read: read, open: func() (io.ReadCloser, error) { return os.Open(path) }}, nil
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

// Documents reads the source from its beginning. It ends at the first error,
// which is an [*InputError].
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
