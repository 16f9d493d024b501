package wire

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/strictjson"
)

// object is a JSON object whose members are looked at one by one: by their
// exact names and exact types, which encoding/json on a struct does not do.
// Members that nobody asks for are ignored.
type object struct {
	members map[string]string // as they stand in the JSON
	err     error             // first problem met by the getters
}

func decodeObject(body []byte) (*object, error) {
	if !utf8.Valid(body) {
		return nil, invalid("body is not UTF-8")
	}
	o := &object{members: map[string]string{}}
	var twice error
	r := strictjson.Read(string(body))
	isObject := r.Members(func(name string) {
		if _, again := o.members[name]; again && twice == nil {
			twice = invalid("member %q appears twice", clip(name, 64))
		}
		o.members[name] = r.Value()
	})
	if !isObject {
		r.Value()
	}
	switch {
	case !r.Ended():
		return nil, invalid("body is not JSON")
	case !isObject:
		return nil, invalid("body is JSON but not an object")
	case twice != nil:
		return nil, twice
	}
	return o, nil
}

// given returns a member to be read; there is nothing to read in one that is absent or null.
func (o *object) given(name string) (raw string, ok bool) {
	raw, ok = o.members[name]
	if !ok || o.err != nil || raw == "null" {
		return "", false
	}
	if loneSurrogate(raw) {
		o.err = invalid("%s holds half of a surrogate pair, which is no character", name)
	}
	return raw, o.err == nil
}

func (o *object) str(name string) string {
	raw, ok := o.given(name)
	if !ok {
		return ""
	}
	r := strictjson.Read(raw)
	s, ok := r.Str()
	if !ok {
		o.err = invalid("%s is not a string", name)
	}
	return s
}

func (o *object) num(name string) (n int, given bool) {
	raw, given := o.given(name)
	if given && json.Unmarshal([]byte(raw), &n) != nil {
		o.err = invalid("%s is not a whole number", name)
	}
	return n, given
}

func (o *object) stringMap(name string) map[string]string {
	raw, ok := o.given(name)
	if !ok {
		return nil
	}
	out, wrong, twice := map[string]string{}, false, false
	r := strictjson.Read(raw)
	isObject := r.Members(func(key string) {
		s, isString := r.Str()
		_, again := out[key]
		wrong, twice = wrong || !isString, twice || again
		out[key] = s
	})
	switch {
	case !isObject || wrong:
		o.err = invalid("%s is not an object of strings", name)
	case twice:
		o.err = invalid("a member of %s appears twice", name)
	default:
		return out
	}
	return nil
}

// loneSurrogate reports an escape such as \ud800 without its other half, which
// encoding/json would replace by U+FFFD without a word.
func loneSurrogate(raw string) bool {
	for i := max(strings.IndexByte(raw, '\\'), 0); i+1 < len(raw); i++ {
		if raw[i] != '\\' {
			continue
		}
		if raw[i+1] != 'u' {
			i++
			continue
		}
		r, ok := hex4(raw, i+2)
		switch {
		case !ok:
			return false // not valid JSON; the decoder says so
		case r >= 0xDC00 && r <= 0xDFFF:
			return true
		case r >= 0xD800 && r <= 0xDBFF:
			if i+7 >= len(raw) || raw[i+6] != '\\' || raw[i+7] != 'u' {
				return true
			}
			low, ok := hex4(raw, i+8)
			if !ok || low < 0xDC00 || low > 0xDFFF {
				return true
			}
			i += 11
		default:
			i += 5
		}
	}
	return false
}

func hex4(raw string, at int) (rune, bool) {
	if at+4 > len(raw) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(raw[at : at+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

// encodeJSON leaves <, > and & alone: bodies are not HTML, and every byte
// counts toward max_payload.
func encodeJSON(v any) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(buf.Bytes(), []byte("\n")), nil
}

func checkText(text string) error {
	if err := extraction.CheckText(text); err != nil {
		return &InvalidMessageError{Reason: err.Error()}
	}
	return nil
}

func checkString(name, s string) error {
	if !utf8.ValidString(s) {
		return invalid("%s is not UTF-8", name)
	}
	if strings.IndexByte(s, 0) >= 0 {
		return invalid("%s holds a NUL character", name)
	}
	return nil
}

func checkID(name, id string) error {
	if len(id) > MaxIDBytes {
		return invalid("%s is longer than %d bytes", name, MaxIDBytes)
	}
	return checkString(name, id)
}

func checkMetadata(m map[string]string) error {
	for k, v := range m {
		if err := checkString("metadata", k); err != nil {
			return err
		}
		if err := checkString("metadata", v); err != nil {
			return err
		}
	}
	return nil
}
