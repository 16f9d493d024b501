package publish

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// readLines takes every line of a file as one document, a JSON object of the
// form {document_id, title, uri, domain, metadata, text}. Blank lines are
// skipped. Members that are not known are ignored, as in a message, and noted with the
// first document that has any: one may be misspelt. A line that cannot be read
// refuses the file.
func readLines(name string, in io.Reader) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		lines := bufio.NewReaderSize(in, 1<<16)
		documents, noted := 0, false
		var start int64
		for number := 1; ; number++ {
			raw, err := nextLine(lines)
			if err != nil && !errors.Is(err, io.EOF) {
				yield(Item{}, &InputError{Source: name, Line: number, Offset: -1, Reason: cause(err), Err: err})
				return
			}
			line := raw
			if number == 1 {
				line = bytes.TrimPrefix(line, []byte("\uFEFF"))
			}
			if len(bytes.TrimSpace(line)) > 0 {
				doc, refusal := decodeLine(line)
				if refusal != nil {
					refusal.Source, refusal.Line = name, number
					if refusal.Offset >= 0 {
						refusal.Offset += start + int64(len(raw)-len(line))
					}
					yield(Item{}, refusal)
					return
				}
				documents++
				item := Item{Document: doc, Source: name, Line: number}
				if !noted {
					if unknown := unknownMembers(line); unknown != "" {
						noted, item.Note = true, fmt.Sprintf("from line %d on, what is not known is ignored: %s; %s", number, unknown, knownMembers)
					}
				}
				if !yield(item, nil) {
					return
				}
			}
			if err != nil {
				break
			}
			start += int64(len(raw))
		}
		if documents == 0 {
			yield(Item{}, &InputError{Source: name, Offset: -1, Reason: "blank: there is no document in it"})
		}
	}
}

// nextLine reads up to and including the next newline, or to the end of the
// file, which it reports as io.EOF together with what was left.
func nextLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxSourceBytes {
			return nil, fmt.Errorf("larger than %d bytes", MaxSourceBytes)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// decodeLine reads one document. The offset of a refusal counts from the
// beginning of the line.
func decodeLine(line []byte) (extraction.Document, *InputError) {
	// encoding/json would replace what is not UTF-8 without a word.
	if flaw := findFlaw(line); flaw != nil {
		return extraction.Document{}, &InputError{Offset: flaw.offset, Reason: flaw.advice()}
	}
	in := json.NewDecoder(bytes.NewReader(line))
	var doc *extraction.Document
	if err := in.Decode(&doc); err != nil {
		return extraction.Document{}, &InputError{Offset: jsonOffset(err), Reason: jsonReason(err), Err: err}
	}
	if doc == nil {
		return extraction.Document{}, &InputError{Offset: -1, Reason: "null: want an object with at least \"text\""}
	}
	if rest := bytes.TrimSpace(line[in.InputOffset():]); len(rest) > 0 {
		return extraction.Document{}, &InputError{Offset: in.InputOffset(), Reason: "more than one JSON value on the line"}
	}
	if flaw := findFlaw([]byte(doc.Text)); flaw != nil {
		reason := "text: " + flaw.reason
		if flaw.offset >= 0 {
			reason = fmt.Sprintf("text, byte %d: %s", flaw.offset, flaw.reason)
		}
		if unknown := unknownMembers(line); unknown != "" && doc.Text == "" {
			reason += fmt.Sprintf("; not known is %s: %s", unknown, knownMembers)
		}
		return extraction.Document{}, &InputError{Offset: -1, Reason: reason}
	}
	if strings.ContainsRune(doc.ID, 0) {
		return extraction.Document{}, &InputError{Offset: -1, Reason: "document_id: a NUL byte"}
	}
	// encoding/json takes Text for text, the last of two, and U+FFFD for half a
	// surrogate pair. A worker, which reads the same form, does not.
	strict, err := wire.DecodeDocument(nats.Header{wire.HeaderContentType: {wire.ContentJSON}}, bytes.TrimSpace(line))
	if err != nil {
		return extraction.Document{}, &InputError{Offset: -1, Reason: strings.TrimPrefix(err.Error(), "invalid message: "), Err: err}
	}
	strict.ID = doc.ID
	return strict, nil
}

func jsonOffset(err error) int64 {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return max(0, syntax.Offset-1)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		return max(0, wrong.Offset-1)
	}
	return -1
}

func jsonReason(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Sprintf("a JSON %s: want an object with at least \"text\"", wrong.Value)
		}
		return fmt.Sprintf("field %q must not be a JSON %s", wrong.Field, wrong.Value)
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return "not JSON: it ends too early"
	}
	return "not JSON: " + strings.TrimPrefix(err.Error(), "json: ")
}

const knownMembers = "known are document_id, title, uri, domain, metadata and text"

// unknownMembers names up to three members of an object that no document has.
func unknownMembers(object []byte) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(object, &members) != nil {
		return ""
	}
	var unknown []string
	for name := range members {
		switch name {
		case "document_id", "title", "uri", "domain", "metadata", "text":
		default:
			unknown = append(unknown, fmt.Sprintf("%.40q", name))
		}
	}
	slices.Sort(unknown)
	if n := len(unknown); n > 3 {
		unknown = append(unknown[:3], fmt.Sprintf("and %d more", n-3))
	}
	return strings.Join(unknown, ", ")
}
