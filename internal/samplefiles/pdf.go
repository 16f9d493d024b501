package samplefiles

import (
	"bytes"
	"fmt"
	"strings"
)

// PDF is a PDF with one line of text, in ASCII, for each page. An empty one is a
// page without text.
func PDF(title string, pages ...string) []byte { return pdf(title, "", pages) }

// EncryptedPDF is a PDF that needs a password.
func EncryptedPDF() []byte {
	key := strings.Repeat("5A", 32)
	return pdf("", "/Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O <"+key+"> /U <"+key+"> >> /ID [<00><00>]", []string{"secret"})
}

// ScannedPDF is a PDF of pages that are a picture.
func ScannedPDF(pages int) []byte { return pdf("", "", make([]string, pages)) }

func pdf(title, trailer string, pages []string) []byte {
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
	object("<< /Type /Catalog /Pages 2 0 R >>")
	object("<< /Type /Pages /Kids [%s] /Count %d >>", kids.String(), len(pages))
	object("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
	object("<< /Title (%s) >>", title)
	object("<< /Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8 /Length 1 >>\nstream\n\x80\nendstream")
	for i, text := range pages {
		content := "500 0 0 700 50 50 cm /Scan Do"
		if text != "" {
			content = "BT /F1 12 Tf 72 720 Td (" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(text) + ") Tj ET"
		}
		object("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents %d 0 R /Resources << /Font << /F1 3 0 R >> /XObject << /Scan 5 0 R >> >> >>", 7+2*i)
		object("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
	}
	xref := out.Len()
	fmt.Fprintf(&out, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, at := range offsets {
		fmt.Fprintf(&out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&out, "trailer\n<< /Size %d /Root 1 0 R /Info 4 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(offsets)+1, trailer, xref)
	return out.Bytes()
}
