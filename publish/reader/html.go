package reader

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/transform"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/htmltext"
	"github.com/weirkeeper/weirkeeper/internal/origin"
)

func readHTML(content []byte) (Text, error) {
	if Looks(content) != "" {
		return Text{}, mislabeled("an HTML page", content)
	}
	source, err := decoded(content)
	if err != nil {
		return Text{}, err
	}
	if strings.ContainsRune(source.text, 0) {
		return Text{}, &Error{Kind: KindMislabeled, Reason: "is not an HTML page: it has NUL bytes"}
	}
	page := htmltext.Read(source.text)
	switch {
	case len(page.Text) > maxText:
		return Text{}, &Error{Kind: KindTooLarge, Reason: "has more than 64 MiB of text: cut it into several files"}
	case page.Text == "" && page.Hidden > 0:
		return Text{}, &Error{Kind: KindNoText, Reason: "the page hides all of its text: save it as a browser shows it"}
	}
	text := Text{Title: page.Title, Text: page.Text, Marks: sections(page, 0), Origin: source.origin(page)}
	if page.Hidden > len(page.Text) {
		text.Note = fmt.Sprintf("hides more text than it shows: %d bytes are left out", page.Hidden)
	}
	return text, nil
}

func sections(page htmltext.Page, at int) []extraction.Mark {
	var marks []extraction.Mark
	for _, h := range page.Headings {
		marks = append(marks, extraction.Mark{Offset: at + h.Offset, Key: extraction.MarkSection, Value: h.Text})
	}
	return marks
}

// source is a page as text.
type source struct {
	text     string
	content  []byte
	encoding encoding.Encoding // nil is UTF-8
}

// decoded is the text of a page: UTF-8, or in the character set that it names by
// a byte order mark or in its first kilobyte. Nothing is guessed: a wrong guess
// makes names that nobody finds.
func decoded(content []byte) (source, error) {
	encoding, name, _ := charset.DetermineEncoding(content, "")
	utf16 := strings.HasPrefix(name, "utf-16") && bytes.IndexByte(content, 0) >= 0
	escapes := name == "iso-2022-jp" && bytes.IndexByte(content, '\x1b') >= 0 // in seven bits
	if !utf16 && !escapes && utf8.Valid(content) {
		return source{text: strings.TrimPrefix(string(content), mark), content: content}, nil
	}
	head := strings.ToLower(string(content[:min(len(content), 1024)]))
	if declared, ok := xmlEncoding(head); ok {
		if e, itsName := charset.Lookup(declared); e != nil {
			encoding, name = e, itsName
		}
	} else if !utf16 && !strings.Contains(head, "charset") || name == "utf-8" {
		return source{}, &Error{Kind: KindCharset, Reason: "is not UTF-8 and names no other character set: convert it, or add <meta charset=…>"}
	}
	text, err := encoding.NewDecoder().Bytes(content)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return source{}, &Error{Kind: KindCharset, Reason: fmt.Sprintf("is not in the character set that it names, %s", name), Err: err}
	}
	return source{strings.TrimPrefix(string(text), mark), content, encoding}, nil
}

const mark = "\uFEFF" // byte order mark

// origin says where in the file the text of the page stands.
func (s source) origin(page htmltext.Page) extraction.Origin {
	if s.encoding == nil && len(s.text) == len(s.content) {
		return page.Origin
	}
	characters := &origin.Map{}
	if s.encoding == nil {
		characters.Verbatim(0, len(mark), len(s.text))
	} else if !characterMap(characters, s) {
		return extraction.NoOrigin{}
	}
	return origin.Through{First: page.Origin, Second: characters}
}

// characterMap finds out which bytes every character was decoded from. It reports
// whether it could.
func characterMap(characters *origin.Map, s source) bool {
	decoder := s.encoding.NewDecoder()
	var buffer [64]byte
	at, text := 0, 0
	for at < len(s.content) {
		written, read := 0, 0
		for n := 1; read == 0; n++ { // as few bytes as give a character
			if at+n > len(s.content) {
				return false
			}
			var err error
			written, read, err = decoder.Transform(buffer[:], s.content[at:at+n], at+n == len(s.content))
			if err != nil && !errors.Is(err, transform.ErrShortSrc) {
				return false
			}
		}
		if at == 0 && string(buffer[:written]) == mark {
			written = 0
		}
		characters.Unit(text, written, at, read)
		at, text = at+read, text+written
	}
	return text == len(s.text)
}

// xmlEncoding is what an XML declaration at the beginning of a page says.
func xmlEncoding(head string) (string, bool) {
	declaration, _, _ := strings.Cut(strings.TrimSpace(head), "?>")
	_, after, found := strings.Cut(declaration, "encoding=")
	if !strings.HasPrefix(declaration, "<?xml") || !found || len(after) < 2 {
		return "", false
	}
	label, _, closed := strings.Cut(after[1:], after[:1])
	return label, closed && label != "utf-8"
}
