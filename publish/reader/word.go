package reader

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"path"
	"strings"
)

// readWord reads a Word document: paragraphs, tables as rows with bars, and the
// notes at the end. What was deleted with changes tracked is not there, nor are runs
// that are hidden (w:vanish) by themselves; what a style hides is read.
func (r *Reader) readWord(ctx context.Context, content []byte) (Text, error) {
	a, err := r.openArchive(ctx, "a Word document", content)
	if err != nil {
		return Text{}, err
	}
	main, err := mainPart(a)
	if err != nil {
		return Text{}, err
	}
	dir := path.Dir(main)
	headings, err := headingStyles(a, path.Join(dir, "styles.xml"))
	if err != nil {
		return Text{}, err
	}
	w := wordReader{headings: headings}
	for _, part := range []string{main, path.Join(dir, "footnotes.xml"), path.Join(dir, "endnotes.xml")} {
		in, err := a.open(part)
		if errors.Is(err, fs.ErrNotExist) && part != main {
			continue
		}
		if err != nil {
			return Text{}, err
		}
		err = w.part(in)
		_ = in.Close()
		if err != nil {
			return Text{}, unpackError(part, err)
		}
	}
	return Text{Title: coreTitle(a), Text: w.out.String(), Marks: w.out.marks}, nil
}

// mainPart finds the file of the archive that holds the document.
func mainPart(a *archive) (string, error) {
	const usual = "word/document.xml"
	var relationships struct {
		Relationship []struct {
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		}
	}
	err := a.unmarshal("_rels/.rels", &relationships)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	for _, r := range relationships.Relationship {
		target := strings.TrimPrefix(path.Clean("/"+r.Target), "/")
		if _, ok := a.files[target]; ok && strings.HasSuffix(r.Type, "/officeDocument") && strings.HasPrefix(target, "word/") {
			return target, nil
		}
	}
	if _, ok := a.files[usual]; !ok {
		return "", &Error{Kind: KindMislabeled, Reason: "is a zip archive but not a Word document: rename it to what it is"}
	}
	return usual, nil
}

func (a *archive) unmarshal(name string, into any) error {
	in, err := a.open(name)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := decoder(in).Decode(into); err != nil {
		return unpackError(name, err)
	}
	return nil
}

// headingStyles finds the styles that make a paragraph a heading: their ids are
// in the language of the author, their names are not.
func headingStyles(a *archive, name string) (map[string]bool, error) {
	var styles struct {
		Style []struct {
			ID   string `xml:"styleId,attr"`
			Name struct {
				Val string `xml:"val,attr"`
			} `xml:"name"`
			PPr struct {
				OutlineLvl *struct{} `xml:"outlineLvl"`
			} `xml:"pPr"`
		} `xml:"style"`
	}
	if err := a.unmarshal(name, &styles); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	headings := map[string]bool{}
	for _, s := range styles.Style {
		name := strings.ToLower(s.Name.Val)
		headings[s.ID] = strings.HasPrefix(name, "heading ") || name == "title" || s.PPr.OutlineLvl != nil
	}
	return headings, nil
}

// coreTitle is the title in the document's properties.
func coreTitle(a *archive) string {
	var core struct {
		Title string `xml:"title"`
	}
	if a.unmarshal("docProps/core.xml", &core) != nil {
		return "" // a document without properties is as good
	}
	return strings.Join(strings.Fields(clean(core.Title)), " ")
}

// wordReader collects the text of a document's parts.
type wordReader struct {
	headings map[string]bool
	out      builder

	line    strings.Builder // the paragraph at hand
	heading bool
	hidden  bool     // the run at hand is not seen
	cells   []string // of the table row at hand
	tables  int      // that we are inside
	row     bool     // the last block is a row
}

func (w *wordReader) part(in io.Reader) error {
	d := decoder(in)
	root, whole := "", false // the element around all others, and whether it has ended
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			if !whole {
				return io.ErrUnexpectedEOF
			}
			return w.flush()
		}
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			if root == "" {
				root = t.Name.Local
			}
			if err := w.start(d, t); err != nil {
				return err
			}
		case xml.EndElement:
			whole = t.Name.Local == root
			if err := w.end(t.Name.Local); err != nil {
				return err
			}
		}
	}
}

func (w *wordReader) start(d *xml.Decoder, t xml.StartElement) error {
	switch t.Name.Local {
	case "r":
		w.hidden = false
	case "vanish":
		switch attribute(t, "val") {
		case "0", "false", "off":
			w.hidden = false
		default:
			w.hidden = true
		}
	case "t":
		if w.hidden {
			return skipElement(d)
		}
		return w.text(d)
	case "tab":
		w.line.WriteByte('\t')
	case "br", "cr":
		w.line.WriteByte('\n')
	case "noBreakHyphen":
		w.line.WriteByte('-')
	case "pStyle":
		w.heading = w.headings[attribute(t, "val")]
	case "tbl":
		w.tables++
	case "moveFrom", "Fallback", "rPrChange", "pPrChange": // the same text stands elsewhere, or is what was
		return skipElement(d)
	}
	return nil
}

// text takes in what a run says.
func (w *wordReader) text(d *xml.Decoder) error {
	for {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch t := token.(type) {
		case xml.CharData:
			w.line.Write(t)
			if w.line.Len() > maxText {
				return &Error{Kind: KindTooLarge, Reason: "has more than 64 MiB of text: cut it into several files"}
			}
		case xml.EndElement:
			return nil
		}
	}
}

func (w *wordReader) end(name string) error {
	switch name {
	case "p":
		if w.tables > 0 {
			w.line.WriteByte(' ')
			return nil
		}
		return w.flush()
	case "tc":
		if w.tables == 1 { // a table in a cell is text of the cell
			w.cells = append(w.cells, strings.Join(strings.Fields(w.line.String()), " "))
			w.line.Reset()
		}
	case "tr":
		if w.tables == 1 {
			return w.flushRow()
		}
	case "tbl":
		w.tables = max(0, w.tables-1)
	}
	return nil
}

func (w *wordReader) flush() error {
	text, heading := w.line.String(), w.heading
	w.line.Reset()
	w.heading, w.row = false, false
	return w.out.paragraph(text, heading)
}

func (w *wordReader) flushRow() error {
	cells := w.cells
	w.cells, w.heading = nil, false
	if strings.Join(cells, "") == "" {
		return nil
	}
	gap := "\n\n"
	if w.row {
		gap = "\n"
	}
	w.row = true
	return w.out.block("| "+strings.Join(cells, " | ")+" |", gap, false)
}

func attribute(t xml.StartElement, name string) string {
	for _, a := range t.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// skipElement reads to the end of the element that has begun. (The decoder's own
// Skip does not go with raw tokens.)
func skipElement(d *xml.Decoder) error {
	for depth := 1; depth > 0; {
		token, err := d.RawToken()
		if err != nil {
			return err
		}
		switch token.(type) {
		case xml.StartElement:
			depth++
		case xml.EndElement:
			depth--
		}
	}
	return nil
}
