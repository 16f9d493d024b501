package samplefiles

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// File is one file of an archive.
type File struct{ Name, Content string }

// Zip is an archive of files, in order.
func Zip(files ...File) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, f := range files {
		// A bytes.Buffer takes whatever is written to it.
		if in, err := w.Create(f.Name); err == nil {
			_, _ = io.WriteString(in, f.Content)
		}
	}
	_ = w.Close()
	return out.Bytes()
}

const wordSpace = `xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006"`

// Word is a Word document with the given body, in WordprocessingML, and title.
// [Paragraph] and [Heading] make parts of the body.
func Word(title, body string) []byte { return Zip(WordFiles(title, body)...) }

// WordFiles are the files that a Word document is an archive of.
func WordFiles(title, body string) []File {
	return []File{
		{"[Content_Types].xml", `<?xml version="1.0"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`},
		{"_rels/.rels", `<?xml version="1.0"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
			`<Relationship Id="r1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"docProps/core.xml", `<cp:coreProperties xmlns:cp="c" xmlns:dc="d"><dc:title>` + escape(title) + `</dc:title></cp:coreProperties>`},
		{"word/styles.xml", `<w:styles ` + wordSpace + `><w:style w:styleId="berschrift1"><w:name w:val="heading 1"/></w:style>` +
			`<w:style w:styleId="Standard"><w:name w:val="Normal"/></w:style></w:styles>`},
		{"word/document.xml", `<?xml version="1.0" encoding="UTF-8"?><w:document ` + wordSpace + `><w:body>` + body + `</w:body></w:document>`},
	}
}

// Paragraph is a paragraph of a Word document's body.
func Paragraph(text string) string { return "<w:p>" + Run(text) + "</w:p>" }

// Heading is a heading of a Word document's body.
func Heading(text string) string {
	return `<w:p><w:pPr><w:pStyle w:val="berschrift1"/></w:pPr>` + Run(text) + "</w:p>"
}

// Run is text within a paragraph.
func Run(text string) string {
	return `<w:r><w:t xml:space="preserve">` + escape(text) + `</w:t></w:r>`
}

// EPUB is a book with the given title and chapters, each the body of an XHTML
// page.
func EPUB(title string, chapters ...string) []byte { return Zip(EPUBFiles(title, chapters...)...) }

// EPUBFiles are the files that an EPUB is an archive of.
func EPUBFiles(title string, chapters ...string) []File {
	var manifest, spine strings.Builder
	var pages []File
	for i, chapter := range chapters {
		fmt.Fprintf(&manifest, `<item id="c%d" href="text/c%%20%d.xhtml" media-type="application/xhtml+xml"/>`, i+1, i+1)
		fmt.Fprintf(&spine, `<itemref idref="c%d"/>`, i+1)
		pages = append(pages, File{
			fmt.Sprintf("OEBPS/text/c %d.xhtml", i+1),
			`<?xml version="1.0" encoding="utf-8"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x"/></head><body>` + chapter + `</body></html>`,
		})
	}
	return append([]File{
		{"mimetype", "application/epub+zip"},
		{"META-INF/container.xml", `<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`},
		{"OEBPS/book.opf", `<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>` + escape(title) + `</dc:title></metadata>` +
			`<manifest><item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>` + manifest.String() + `</manifest>` +
			`<spine><itemref idref="nav"/>` + spine.String() + `</spine></package>`},
		{"OEBPS/nav.xhtml", "<html><body>Contents</body></html>"},
	}, pages...)
}

func escape(text string) string {
	var out strings.Builder
	_ = xml.EscapeText(&out, []byte(text))
	return out.String()
}
