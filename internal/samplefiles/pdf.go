package samplefiles

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
)

// PDF is a PDF with one line of text, in ASCII, for each page. An empty one is a
// page without text.
func PDF(title string, pages ...string) []byte { return pdfFile{title: title}.bytes(pages...) }

// EncryptedPDF is a PDF that needs a password.
func EncryptedPDF() []byte {
	key := strings.Repeat("5A", 32)
	return pdfFile{trailer: "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <" + key + "> /U <" + key + "> >> /ID [<00><00>]"}.bytes("secret")
}

// ScannedPDF is a PDF of pages that are a picture.
func ScannedPDF(pages int) []byte { return pdfFile{}.bytes(make([]string, pages)...) }

// MappedPDF is a PDF of one page whose font says which characters its glyphs mean: those
// of text, at most 26.
func MappedPDF(text string) []byte {
	var shown, meanings strings.Builder
	for i, r := range []rune(text) {
		code := 'A' + i
		shown.WriteRune(rune(code))
		fmt.Fprintf(&meanings, "<%02X> <", code)
		for _, unit := range utf16.Encode([]rune{r}) {
			fmt.Fprintf(&meanings, "%04X", unit)
		}
		meanings.WriteString(">\n")
	}
	cmap := fmt.Sprintf("/CIDInit /ProcSet findresource begin 12 dict begin begincmap /CMapType 2 def\n1 begincodespacerange <00> <FF> endcodespacerange\n"+
		"%d beginbfchar\n%sendbfchar\nendcmap end end", shown.Len(), meanings.String())
	return pdfFile{font: "/ToUnicode 8 0 R", more: []string{stream("", cmap)}}.bytes(shown.String())
}

// FormPDF is a PDF of one page with a line of text and a field below it that is filled in.
func FormPDF(text, value string) []byte {
	return pdfFile{
		catalog: "/AcroForm << /Fields [8 0 R] >>",
		page:    "/Annots [8 0 R]",
		more: []string{
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (field) /V (" + escapedPDF(value) + ") /F 4 /Rect [72 680 272 700] /P 6 0 R /AP << /N 9 0 R >> >>",
			stream("/Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >>", "/Tx BMC BT /F1 12 Tf 2 5 Td ("+escapedPDF(value)+") Tj ET EMC"),
		},
	}.bytes(text)
}

// pdfFile is what a PDF may have besides its pages: entries of its parts, and objects, of
// which the first of a file with one page has the number 8.
type pdfFile struct {
	title, trailer, catalog, font, page string

	more []string
}

func (f pdfFile) bytes(pages ...string) []byte {
	var out bytes.Buffer
	var offsets []int
	object := func(format string, args ...any) {
		offsets = append(offsets, out.Len())
		fmt.Fprintf(&out, "%d 0 obj\n", len(offsets))
		fmt.Fprintf(&out, format, args...)
		out.WriteString("\nendobj\n")
	}
	out.WriteString("%PDF-1.4\n")
	var kids strings.Builder
	for i := range pages {
		fmt.Fprintf(&kids, "%d 0 R ", 6+2*i)
	}
	object("<< /Type /Catalog /Pages 2 0 R %s >>", f.catalog)
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica %s >>", f.font)
	object("<< /Title (%s) >>", f.title)
	object("%s", stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "\x80"))
	for i, text := range pages {
		content := "500 0 0 700 50 50 cm /Scan Do"
		if text != "" {
			content = "BT /F1 12 Tf 72 720 Td (" + escapedPDF(text) + ") Tj ET"
		}
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /Scan 5 0 R >> >> %s >>", 7+2*i, f.page)
		object("%s", stream("", content))
	}
	for _, body := range f.more {
		object("%s", body)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, f.trailer, xref)
	return out.Bytes()
}

func stream(entries, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

func escapedPDF(text string) string {
	return strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text)
}
