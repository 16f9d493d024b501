// Package strictjson reads JSON that others wrote, such as a model's answer or a message,
// without hiding what encoding/json hides when it decodes into structs: it takes null for a
// string, matches keys in any case, lets the last of two equal keys win, and gives up the
// whole list for one bad row.
package strictjson

import (
	"encoding/json"
	"strings"
)

// deepest is how deep JSON may be nested, as in encoding/json.
const deepest = 10_000

// Reader goes through a JSON text once, and takes nothing that encoding/json would
// refuse. A test holds it against encoding/json. It is not safe for concurrent use.
//
// Methods that read something do so if it begins at the reader's place, and otherwise stay
// there. Where the text turns out to be no JSON the reader stops for good: it is at the
// text's end, and [Reader.Ended] is false.
type Reader struct {
	text   string
	at     int
	depth  int
	broken bool
}

// Read begins to read a text, behind the blanks that it begins with.
func Read(text string) Reader {
	r := Reader{text: text}
	r.blanks()
	return r
}

// Members reads an object, and calls f with every key. f may read the value; what it does
// not read is passed over. It reports whether there is an object.
func (r *Reader) Members(f func(key string)) bool {
	return r.items('{', '}', func() {
		key, ok := r.Str()
		if r.blanks(); !ok || !r.take(':') {
			r.stop()
			return
		}
		r.blanks()
		start := r.at
		if f(key); r.at == start {
			r.Value()
		}
	})
}

// Elements reads an array, and calls f before every element, as Members does.
func (r *Reader) Elements(f func()) bool {
	return r.items('[', ']', func() {
		start := r.at
		if f(); r.at == start {
			r.Value()
		}
	})
}

// items reads what stands between brackets, with a comma between two items.
func (r *Reader) items(opening, closing byte, item func()) bool {
	if !r.take(opening) {
		return false
	}
	if r.depth++; r.depth > deepest {
		r.stop()
	}
	if r.blanks(); !r.take(closing) {
		for item(); ; item() {
			r.blanks()
			if r.take(closing) || r.broken {
				break
			}
			if !r.take(',') {
				r.stop()
			}
			r.blanks()
		}
	}
	r.depth--
	return true
}

// Value reads anything, and returns its text.
func (r *Reader) Value() string {
	start := r.at
	switch {
	case r.Members(func(string) {}), r.Elements(func() {}), r.quoted():
	case r.word("true"), r.word("false"), r.word("null"), r.number():
	default:
		r.stop()
	}
	return r.text[start:r.at]
}

// Str reads a string.
func (r *Reader) Str() (string, bool) {
	start := r.at
	if !r.quoted() {
		return "", false
	}
	raw := r.text[start:r.at]
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], true
	}
	var s string
	err := json.Unmarshal([]byte(raw), &s)
	return s, err == nil
}

// quoted passes over a string.
func (r *Reader) quoted() bool {
	if !r.take('"') {
		return false
	}
	for r.at < len(r.text) {
		b := r.text[r.at]
		r.at++
		switch {
		case b == '"':
			return true
		case b < ' ', b == '\\' && !r.escape():
			r.stop()
		}
	}
	r.stop()
	return false
}

// escape passes over what follows a backslash.
func (r *Reader) escape() bool {
	if r.at == len(r.text) {
		return false
	}
	r.at++
	if r.text[r.at-1] != 'u' {
		return strings.IndexByte(`"\/bfnrt`, r.text[r.at-1]) >= 0
	}
	end := r.at + 4
	for r.at < min(end, len(r.text)) && strings.IndexByte("0123456789abcdefABCDEF", r.text[r.at]) >= 0 {
		r.at++
	}
	return r.at == end
}

// number passes over a number.
func (r *Reader) number() bool {
	start := r.at
	r.take('-')
	ok := r.take('0') || r.digits()
	if ok && r.take('.') {
		ok = r.digits()
	}
	if ok && (r.take('e') || r.take('E')) {
		if !r.take('+') {
			r.take('-')
		}
		ok = r.digits()
	}
	if !ok {
		r.at = start
	}
	return ok
}

func (r *Reader) digits() bool {
	start := r.at
	for r.at < len(r.text) && '0' <= r.text[r.at] && r.text[r.at] <= '9' {
		r.at++
	}
	return r.at > start
}

func (r *Reader) word(w string) bool {
	if !strings.HasPrefix(r.text[r.at:], w) {
		return false
	}
	r.at += len(w)
	return true
}

func (r *Reader) take(b byte) bool {
	if r.at == len(r.text) || r.text[r.at] != b {
		return false
	}
	r.at++
	return true
}

func (r *Reader) blanks() {
	for r.at < len(r.text) && (r.text[r.at] == ' ' || r.text[r.at] == '\n' || r.text[r.at] == '\t' || r.text[r.at] == '\r') {
		r.at++
	}
}

func (r *Reader) stop() { r.at, r.broken = len(r.text), true }

// Ended reports whether all of the text was one value.
func (r *Reader) Ended() bool {
	r.blanks()
	return r.at == len(r.text) && !r.broken
}

// Kind names what begins at the reader's place.
func (r *Reader) Kind() string {
	if r.at == len(r.text) {
		return "nothing"
	}
	switch r.text[r.at] {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "a string"
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	}
	return "a number"
}
