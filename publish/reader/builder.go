package reader

import (
	"strings"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// builder puts a text together from clean lines and remembers marks.
type builder struct {
	strings.Builder
	marks []extraction.Mark
}

// paragraph adds a paragraph after a blank line. Blank ones are left out.
func (b *builder) paragraph(text string, heading bool) error {
	return b.block(text, "\n\n", heading)
}

// block adds text after a gap.
func (b *builder) block(text, gap string, heading bool) error {
	text = strings.TrimSpace(clean(text))
	if text == "" {
		return nil
	}
	if b.Len()+len(text) > maxText {
		return &Error{Kind: KindTooLarge, Reason: "has more than 64 MiB of text: cut it into several files"}
	}
	if b.Len() > 0 {
		b.WriteString(gap)
	}
	if heading {
		b.mark(extraction.MarkSection, text)
	}
	b.WriteString(text)
	return nil
}

// mark notes what is true from here on.
func (b *builder) mark(key, value string) {
	b.marks = append(b.marks, extraction.Mark{Offset: b.Len(), Key: key, Value: value})
}

// clean makes a text of what libraries return: line ends are \n, and what is no
// character is gone.
func clean(text string) string {
	text = strings.ToValidUTF8(strings.ReplaceAll(text, "\r\n", "\n"), "\uFFFD")
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r == '\r' || r == '\v' || r == '\f' || r == '\u2028':
			return '\n'
		case r < ' ' || 0x7F <= r && r < 0xA0 || r&0xFFFE == 0xFFFE || r == utf8.RuneError:
			return -1
		}
		return r
	}, text)
}
