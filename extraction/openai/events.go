package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

const (
	maxStreamBytes = 32 << 20 // of an event stream: some 300 bytes for each token
	maxEventBytes  = 1 << 20  // of one event, and of one line of it
	maxEventLines  = 256      // of one event's data
)

// errStreamTooBig is an event stream beyond its bounds.
var errStreamTooBig = errors.New("the stream is too big to be an answer")

// event is one server-sent event.
type event struct {
	data   []byte // valid until the next one is read
	failed bool   // it calls itself an error
}

// done reports whether it is the word that ends a stream.
func (e event) done() bool { return string(e.data) == "[DONE]" }

// events reads server-sent events as servers send them, which is more than the
// standard allows: lines end in LF, CRLF or CR; the blank line between two events
// or at the end may be missing; an event may come in several data lines;
// llama.cpp has a field "error" of its own. Comments and other fields are passed
// over.
type events struct {
	lines *bufio.Scanner
	data  []byte // of the event being read
	next  []byte // the data line that began another event
	// failed is what the event being read calls itself, nextFailed the one after.
	failed, nextFailed bool
	ended              bool
}

func newEvents(r io.Reader) *events {
	lines := bufio.NewScanner(&bounded{r, maxStreamBytes})
	lines.Buffer(nil, maxEventBytes)
	lines.Split(splitLines())
	return &events{lines: lines}
}

// read returns the next event that has data, io.EOF at the end of the stream, or
// why there is no more of it. What has arrived of an event when the connection
// breaks is dropped.
func (e *events) read() (event, error) {
	if e.ended {
		return event{}, io.EOF
	}
	e.data, e.failed = append(e.data[:0], e.next...), e.nextFailed
	e.next, e.nextFailed = e.next[:0], false
	lines := min(len(e.data), 1)
	for e.lines.Scan() {
		name, value := field(e.lines.Bytes())
		fails := name == "error" || name == "event" && string(value) == "error"
		switch {
		case name == "" && len(value) == 0: // a blank line
			if len(e.data) > 0 {
				return e.event(), nil
			}
			e.failed = false // an event without data is none
			continue
		case name != "data" && !fails:
			continue
		case len(e.data) > 0 && complete(e.data): // the blank line is missing
			e.nextFailed = fails
			if name != "event" {
				e.next = append(e.next, value...)
			}
			return e.event(), nil
		}
		e.failed = e.failed || fails
		if name == "event" {
			continue
		}
		if lines++; lines > maxEventLines || len(e.data)+len(value) > maxEventBytes {
			return event{}, errStreamTooBig
		}
		if len(e.data) > 0 {
			e.data = append(e.data, '\n')
		}
		e.data = append(e.data, value...)
	}
	switch err := e.lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return event{}, errStreamTooBig
	case err != nil:
		return event{}, err
	}
	e.ended = true
	if len(e.data) > 0 {
		return e.event(), nil
	}
	return event{}, io.EOF
}

func (e *events) event() event { return event{bytes.TrimSpace(e.data), e.failed} }

// complete reports whether data is an event by itself, so that another data line
// begins the next one.
func complete(data []byte) bool { return event{data: data}.done() || json.Valid(data) }

// field splits a line. A comment has the name ":", a blank line none.
func field(line []byte) (name string, value []byte) {
	key, value, found := bytes.Cut(line, []byte(":"))
	if found && len(key) == 0 {
		return ":", nil
	}
	return string(key), bytes.TrimPrefix(value, []byte(" "))
}

// splitLines returns a [bufio.SplitFunc] for lines that end in LF, CRLF or CR.
func splitLines() bufio.SplitFunc {
	afterCR := false
	return func(data []byte, atEOF bool) (advance int, line []byte, err error) {
		skip := 0
		if afterCR && len(data) > 0 {
			afterCR = false
			if data[0] == '\n' {
				skip = 1
			}
		}
		rest := data[skip:]
		if end := bytes.IndexAny(rest, "\r\n"); end >= 0 {
			afterCR = rest[end] == '\r'
			return skip + end + 1, rest[:end:end], nil
		}
		if atEOF && len(rest) > 0 {
			return len(data), rest, nil
		}
		return skip, nil, nil
	}
}

// bounded is a reader that fails when there is more than left.
type bounded struct {
	io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errStreamTooBig
	}
	if int64(len(p)) > b.left {
		p = p[:b.left]
	}
	n, err := b.Reader.Read(p)
	b.left -= int64(n)
	return n, err
}

// streamStarts is how event streams begin.
func streamStarts() []string {
	return []string{"data:", "event:", ":", "error:", "id:", "retry:"}
}

// isEvents reports whether a body is an event stream, by how it begins.
func isEvents(start []byte) bool {
	for _, name := range streamStarts() {
		if bytes.HasPrefix(start, []byte(name)) {
			return true
		}
	}
	return false
}

// mayBeEvents reports whether more has to be seen to tell.
func mayBeEvents(start []byte) bool {
	for _, name := range append([]string{"\xef\xbb\xbf"}, streamStarts()...) {
		if len(start) < len(name) && string(start) == name[:len(start)] {
			return true
		}
	}
	return false
}

// firstEvent is what the first event of a stream says, and the body itself if it
// is none: some gateways send errors as events, too.
func firstEvent(body []byte) []byte {
	if !isEvents(body) {
		return body
	}
	first, err := newEvents(bytes.NewReader(body)).read()
	if err != nil {
		return body
	}
	return first.data
}
