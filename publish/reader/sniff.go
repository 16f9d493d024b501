package reader

import (
	"bytes"
	"net/http"
	"strings"
	"unicode/utf8"
)

// What files begin with.
var (
	magicPDF = []byte("%PDF-")
	magicZip = []byte("PK\x03\x04")
	magicOLE = []byte("\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1")
	magicRTF = []byte("{\\rtf")
)

// pdfHead is how far into a file a PDF may begin.
const pdfHead = 1024

// Looks says what the beginning of a file looks like, if that is not a text: "a PDF",
// "a picture". It is empty for what may be text.
func Looks(content []byte) string {
	switch {
	case bytes.HasPrefix(content, magicPDF):
		return "a PDF"
	case bytes.HasPrefix(content, magicOLE):
		return "an old Office file or an encrypted one"
	case bytes.HasPrefix(content, magicRTF):
		return "an RTF file"
	case bytes.HasPrefix(content, magicZip):
		return "a zip archive, such as a .docx or an .epub"
	case bytes.HasPrefix(content, []byte("\x7fELF")), bytes.HasPrefix(content, []byte("MZ\x90\x00")):
		return "a program"
	}
	head := content[:min(len(content), 512)]
	for n := 0; n < utf8.UTFMax && len(head) > 0 && len(head) < len(content) && !utf8.Valid(head); n++ {
		head = head[:len(head)-1] // it may have cut a rune
	}
	if utf8.Valid(head) && bytes.IndexByte(head, 0) < 0 {
		return ""
	}
	kind := http.DetectContentType(head)
	switch kind, _, _ := strings.Cut(kind, "/"); kind {
	case "image":
		return "a picture"
	case "audio", "video":
		return "a recording"
	case "application":
		return "binary data"
	}
	return ""
}

// mislabeled is a file that is not what its name says.
func mislabeled(want string, content []byte) *Error {
	reason := "is not " + want
	if looks := Looks(content); looks != "" {
		reason += " but looks like " + looks
	}
	return &Error{Kind: KindMislabeled, Reason: reason + ": rename it to what it is"}
}
