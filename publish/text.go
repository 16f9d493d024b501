package publish

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/publish/reader"
)

// readText takes a whole file as one document. The text stays as it is, byte
// for byte, so that offsets in results are offsets in the file.
func readText(name string, in io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		text, err := readBounded(in)
		if err != nil {
			yield(Item{}, &InputError{Source: name, Offset: -1, Reason: cause(err), Err: err})
			return
		}
		looks := reader.Looks(text)
		if flaw := findFlaw(text); flaw != nil {
			reason := flaw.advice()
			if looks != "" {
				reason = flaw.reason + ": it looks like " + looks
			}
			yield(Item{}, &InputError{Source: name, Line: flaw.line, Offset: flaw.offset, Reason: reason})
			return
		}
		if looks != "" {
			yield(Item{}, refusal(name, "looks like "+looks+", not a text: rename it to what it is", nil))
			return
		}
		doc := extraction.Document{Text: string(text)}
		if name != StdinName {
			doc.Title = validName(filepath.Base(name))
			doc.URI = validName(name)
		}
		yield(Item{Document: doc, Source: name}, nil)
	}
}

// validName makes a file name fit for JSON: names may hold any bytes.
func validName(name string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), "\uFFFD")
}

// flaw is why a text cannot be published.
type flaw struct {
	offset int64 // -1 if it is the whole text
	line   int   // 0 if it is the whole text
	reason string
	// foreign: the text may be one in another character set.
	foreign bool
}

// advice is the reason and what to do.
func (f *flaw) advice() string {
	if f.foreign {
		return f.reason + ": convert it to UTF-8 first"
	}
	return f.reason
}

// findFlaw returns the first reason not to publish text, nil if there is none.
func findFlaw(text []byte) *flaw {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return &flaw{offset: 0, line: 1, reason: "looks like UTF-16", foreign: true}
	}
	err := extraction.CheckText(string(text))
	if invalid, ok := errors.AsType[*extraction.InvalidTextError](err); ok {
		reason := fmt.Sprintf("not UTF-8 (byte 0x%02x)", text[invalid.Offset])
		if invalid.Reason == extraction.ReasonNUL {
			reason = "a NUL byte: this is not a text"
		}
		line := 1 + bytes.Count(text[:invalid.Offset], []byte("\n"))
		return &flaw{int64(invalid.Offset), line, reason, invalid.Reason != extraction.ReasonNUL}
	}
	if err != nil {
		return &flaw{offset: -1, reason: "blank: there is nothing to extract from"}
	}
	return nil
}
