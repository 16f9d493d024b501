package publish

import (
	"context"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish/reader"
)

// keptText bounds the extracted text that is kept from when it is checked until it
// is sent, in bytes; what is beyond is extracted a second time.
const keptText = 64 << 20

// Files opens files and folders. It is safe for concurrent use.
type Files struct {
	ctx    context.Context
	reader *reader.Reader
	room   atomic.Int64
}

// NewFiles returns what opens files. ctx ends all reading of them; Close gives
// back what reading took.
func NewFiles(ctx context.Context) *Files {
	f := &Files{ctx: ctx, reader: reader.New()}
	f.room.Store(keptText)
	return f
}

// Close ends the reading of sources that were opened.
func (f *Files) Close() error { return f.reader.Close() }

// Walk yields the files of a folder and of those in it, in the order of their
// names, or for each that cannot be opened an [*InputError]. Hidden files and
// folders, whose names begin with a dot, are passed over; links are followed, and
// no folder is walked twice. A source from Walk does not make a [Plan] fail: it is
// left out if it is refused.
func (f *Files) Walk(folder string) iter.Seq2[Source, error] {
	return func(yield func(Source, error) bool) {
		f.walk(folder, map[string]bool{}, yield)
	}
}

func (f *Files) walk(folder string, walked map[string]bool, yield func(Source, error) bool) bool {
	itself, err := filepath.EvalSymlinks(folder)
	if err != nil {
		return yield(Source{}, refusal(folder, cause(err), err))
	}
	if itself, err = filepath.Abs(itself); err != nil {
		return yield(Source{}, refusal(folder, cause(err), err))
	}
	if walked[itself] {
		return true
	}
	walked[itself] = true
	entries, err := os.ReadDir(folder)
	if err != nil {
		return yield(Source{}, refusal(folder, cause(err), err))
	}
	for _, entry := range entries {
		if f.ctx.Err() != nil {
			return yield(Source{}, f.ctx.Err())
		}
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		path := filepath.Join(folder, entry.Name())
		if info, err := os.Stat(path); err == nil && info.IsDir() {
			if !f.walk(path, walked, yield) {
				return false
			}
			continue
		}
		source, err := f.Open(path)
		source.found = true
		if !yield(source, err) {
			return false
		}
	}
	return true
}

// extract reads files that are not texts themselves.
func (f *Files) extract(ending string) format {
	var kept atomic.Pointer[Item]
	return func(name string, in io.Reader) iter.Seq2[Item, error] {
		return func(yield func(Item, error) bool) {
			if item := kept.Load(); item != nil {
				yield(*item, nil)
				return
			}
			item, err := f.extractOne(name, ending, in)
			if err == nil && f.room.Add(-int64(len(item.Document.Text))) >= 0 {
				kept.Store(&item)
			}
			yield(item, err)
		}
	}
}

func (f *Files) extractOne(name, ending string, in io.Reader) (Item, error) {
	content, err := readBounded(in)
	if err != nil {
		return Item{}, refusal(name, cause(err), err)
	}
	text, err := f.reader.Read(f.ctx, ending, content)
	switch {
	case f.ctx.Err() != nil:
		return Item{}, f.ctx.Err()
	case err != nil:
		return Item{}, refusal(name, err.Error(), err)
	}
	doc := extraction.Document{Title: text.Title, URI: validName(name), Text: text.Text, Marks: text.Marks, Origin: text.Origin}
	if doc.Title == "" {
		doc.Title = validName(filepath.Base(name))
	}
	return Item{Document: doc, Source: name, Note: text.Note}, nil
}
