package publish

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
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
		if flaw := findFlaw(text); flaw != nil {
			yield(Item{}, &InputError{Source: name, Line: flaw.line, Offset: flaw.offset, Reason: flaw.reason})
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
}

// findFlaw returns the first reason not to publish text, nil if there is none.
func findFlaw(text []byte) *flaw {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return &flaw{0, 1, "looks like UTF-16: convert it to UTF-8 first"}
	}
	visible := false
	for i := 0; i < len(text); {
		r, size := rune(text[i]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		switch {
		case r == utf8.RuneError && size == 1:
			return flawAt(text, i, fmt.Sprintf("not UTF-8 (byte 0x%02x)", text[i]))
		case r == 0:
			return flawAt(text, i, "a NUL byte: this is not a text")
		}
		visible = visible || visibleRune(r)
		i += size
	}
	if !visible {
		return &flaw{-1, 0, "blank: there is nothing to extract from"}
	}
	return nil
}

func visibleRune(r rune) bool {
	return !unicode.IsSpace(r) && !unicode.IsControl(r) && !unicode.Is(unicode.Cf, r)
}

func flawAt(text []byte, offset int, reason string) *flaw {
	return &flaw{int64(offset), 1 + bytes.Count(text[:offset], []byte("\n")), reason}
}
