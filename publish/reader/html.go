package reader

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/htmltext"
)

func readHTML(content []byte) (Text, error) {
	if Looks(content) != "" {
		return Text{}, mislabeled("an HTML page", content)
	}
	source, err := decoded(content)
	if err != nil {
		return Text{}, err
	}
	if strings.ContainsRune(source, 0) {
		return Text{}, &Error{Kind: KindMislabeled, Reason: "is not an HTML page: it has NUL bytes"}
	}
	page := htmltext.Read(source)
	if len(page.Text) > maxText {
		return Text{}, &Error{Kind: KindTooLarge, Reason: "has more than 64 MiB of text: cut it into several files"}
	}
	return Text{Title: page.Title, Text: page.Text, Marks: sections(page, 0)}, nil
}

func sections(page htmltext.Page, at int) []extraction.Mark {
	var marks []extraction.Mark
	for _, h := range page.Headings {
		marks = append(marks, extraction.Mark{Offset: at + h.Offset, Key: extraction.MarkSection, Value: h.Text})
	}
	return marks
}

// decoded is the text of a page: UTF-8, or in the character set that it names by
// a byte order mark or in its first kilobyte. Nothing is guessed: a wrong guess
// makes names that nobody finds.
func decoded(content []byte) (string, error) {
	encoding, name, _ := charset.DetermineEncoding(content, "")
	utf16 := strings.HasPrefix(name, "utf-16") && bytes.IndexByte(content, 0) >= 0
	if !utf16 && utf8.Valid(content) {
		return string(bytes.TrimPrefix(content, []byte("\uFEFF"))), nil
	}
	head := strings.ToLower(string(content[:min(len(content), 1024)]))
	if declared, ok := xmlEncoding(head); ok {
		if e, itsName := charset.Lookup(declared); e != nil {
			encoding, name = e, itsName
		}
	} else if !utf16 && !strings.Contains(head, "charset") || name == "utf-8" {
		return "", &Error{Kind: KindCharset, Reason: "is not UTF-8 and names no other character set: convert it, or add <meta charset=…>"}
	}
	text, err := encoding.NewDecoder().Bytes(content)
	if err != nil || bytes.ContainsRune(text, utf8.RuneError) {
		return "", &Error{Kind: KindCharset, Reason: fmt.Sprintf("is not in the character set that it names, %s", name), Err: err}
	}
	return string(bytes.TrimPrefix(text, []byte("\uFEFF"))), nil
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
