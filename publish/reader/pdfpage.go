package reader

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/requests"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// lostPages counts the pages that gave no text.
type lostPages struct {
	empty        int
	damaged      int
	undeciphered int
}

// all says why a file has no text at all.
func (l lostPages) all() *Error {
	switch {
	case l.damaged > 0:
		return broken("none of its pages can be read", nil)
	case l.undeciphered > 0:
		return &Error{Kind: KindNoText, Reason: "its fonts do not say which letters they show: put it through OCR first, for example with ocrmypdf --force-ocr"}
	}
	return &Error{Kind: KindNoText, Reason: "there is no text in it: if its pages are pictures, put it through OCR first, for example with ocrmypdf"}
}

// note says which pages the text does not have.
func (l lostPages) note(pages int) string {
	var parts []string
	for _, part := range []struct {
		count int
		what  string
	}{{l.empty, "have no text"}, {l.damaged, "are damaged"}, {l.undeciphered, "have fonts that do not say which letters they show"}} {
		if part.count > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("of %d pages %s", pages, strings.Join(parts, " and "))
}

// undeciphered reports whether most of a text is of private use: numbers that mean
// something in one font only.
func undeciphered(text string) bool {
	private, public := 0, 0
	for _, r := range text {
		switch {
		case unicode.Is(unicode.Co, r):
			private++
		case !unicode.IsSpace(r):
			public++
		}
	}
	return private > public
}

// pageText is the text that a page shows, with what was filled into its forms and
// stamped on it: making that a part of the page is what PDFium calls flattening.
func pageText(instance pdfium.Pdfium, page requests.Page) (string, error) {
	if filledIn(instance, page) {
		if _, err := instance.FPDFPage_Flatten(&requests.FPDFPage_Flatten{Page: page, Usage: requests.FPDFPage_FlattenUsageNormalDisplay}); err != nil {
			return "", err
		}
	}
	loaded, err := instance.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return "", err
	}
	defer func() { _, _ = instance.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: loaded.TextPage}) }()
	count, err := instance.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: loaded.TextPage})
	if err != nil || count.Count <= 0 {
		return "", err
	}
	// All at once: GetPageText asks for one unit of UTF-16 after another and loses
	// the characters that have two, such as emoji and rare ideographs.
	text, err := instance.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: loaded.TextPage, Count: count.Count})
	if err != nil {
		return "", err
	}
	return joinedLines(text.Text), nil
}

// filledIn reports whether a page has anything on it besides links. Most pages of most
// files have not, and flattening reads a page twice.
func filledIn(instance pdfium.Pdfium, page requests.Page) bool {
	annotations, err := instance.FPDFPage_GetAnnotCount(&requests.FPDFPage_GetAnnotCount{Page: page})
	if err != nil {
		return false
	}
	for i := range annotations.Count {
		annotation, err := instance.FPDFPage_GetAnnot(&requests.FPDFPage_GetAnnot{Page: page, Index: i})
		if err != nil {
			continue
		}
		kind, err := instance.FPDFAnnot_GetSubtype(&requests.FPDFAnnot_GetSubtype{Annotation: annotation.Annotation})
		_, _ = instance.FPDFPage_CloseAnnot(&requests.FPDFPage_CloseAnnot{Annotation: annotation.Annotation})
		if err == nil && kind.Subtype != enums.FPDF_ANNOT_SUBTYPE_LINK {
			return true
		}
	}
	return false
}

// joinedLines puts words together that a line end has cut: PDFium writes U+0002 for
// their hyphen.
func joinedLines(text string) string {
	text = clean(strings.NewReplacer("\x02\r\n", "", "\x02\n", "", "\uFFFE\r\n", "", "\uFFFE\n", "").Replace(text))
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, strings.TrimRight(line, " \t\n"))
	}
	return strings.Join(lines, "\n")
}

// pdfPage adds the text of a page. A sentence may go on from one to the next, so
// that a page begins no paragraph unless the one before has ended.
func (b *builder) pdfPage(number int, text string) error {
	gap := "\n"
	if last := strings.TrimSpace(b.tail()); last != "" && strings.ContainsAny(last[len(last)-1:], ".!?:") {
		gap = "\n\n"
	}
	if b.Len() == 0 {
		gap = ""
	}
	at := b.Len() + len(gap)
	if err := b.block(text, gap, false); err != nil {
		return err
	}
	b.marks = append(b.marks, extraction.Mark{Offset: at, Key: extraction.MarkPage, Value: strconv.Itoa(number)})
	return nil
}

// tail is the end of what has been written.
func (b *builder) tail() string {
	all := b.String()
	return all[max(0, len(all)-8):]
}
