package htmltext

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/weirkeeper/weirkeeper/internal/origin"
)

// run is a piece of text between two tags, and where in the source it stands.
type run struct {
	text   string
	source int         // if it is the source's, byte for byte
	origin *origin.Map // else
}

// place notes where text[start:end] comes from, which stands at an offset of the
// page's text.
func (r run) place(page *origin.Map, at, start, end int) {
	if r.origin == nil {
		page.Verbatim(at, r.source+start, end-start)
		return
	}
	page.Copy(at, r.origin, start, end)
}

// newRun returns the printable text of data, which the tokenizer has made of raw. That
// begins at an offset of the source.
func newRun(raw, data string, at int) run {
	if raw == data && !strings.ContainsFunc(data, changes) {
		return run{text: data, source: at}
	}
	if strings.HasPrefix(raw, cdata) && !strings.HasPrefix(data, cdata) {
		raw, at = raw[len(cdata):], at+len(cdata)
		raw = strings.TrimSuffix(raw, "]]>")
	}
	want := strings.Map(printable, data)
	for _, escaped := range []bool{true, false} {
		if r := decode(raw, at, escaped); r.text == want {
			return r
		}
	}
	// The tokenizer has read it in another way: all of it comes from all of that.
	whole := &origin.Map{}
	whole.Unit(0, len(want), at, len(raw))
	return run{text: want, origin: whole}
}

const cdata = "<![CDATA["

func changes(r rune) bool { return printable(r) != r }

// decode replaces entities, if the text has been escaped, and line ends, and drops
// what cannot be printed.
func decode(raw string, at int, escaped bool) run {
	var b strings.Builder
	b.Grow(len(raw))
	places := &origin.Map{}
	write := func(s string, from, width int) {
		if s = strings.Map(printable, s); len(s) == width {
			places.Verbatim(b.Len(), at+from, width)
		} else {
			places.Unit(b.Len(), len(s), at+from, width)
		}
		b.WriteString(s)
	}
	for i := 0; i < len(raw); {
		rest := raw[i:]
		plain := strings.IndexFunc(rest, func(r rune) bool { return r == '&' && escaped || changes(r) })
		if plain < 0 {
			plain = len(rest)
		}
		if plain > 0 {
			write(rest[:plain], i, plain)
			i += plain
			continue
		}
		width := 1
		switch {
		case strings.HasPrefix(rest, "\r\n"):
			width = 2
			write("\n", i, width)
		case rest[0] == '&':
			var s string
			s, width = entity(rest)
			write(s, i, width)
		default:
			_, width = utf8.DecodeRuneInString(rest)
			write(rest[:width], i, width)
		}
		i += width
	}
	return run{text: b.String(), origin: places}
}

// entity is what s begins with, an & and perhaps a name, and how many bytes of s
// say so.
func entity(s string) (text string, width int) {
	n := 1
	for n < len(s) && (s[n] == '#' || isAlphanumeric(s[n])) {
		n++
	}
	if n < len(s) && s[n] == ';' {
		n++
	}
	name := s[:n]
	text = html.UnescapeString(name)
	if text == name {
		return "&", 1
	}
	// The end of the name may be none: &ltx is &lt and x.
	_, least := utf8.DecodeRuneInString(text)
	same := 0
	for same < len(text)-least && name[len(name)-1-same] == text[len(text)-1-same] {
		same++
	}
	return text[:len(text)-same], len(name) - same
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}
