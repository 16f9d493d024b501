package reader

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"path"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/htmltext"
)

// packageDocument is the part of an EPUB that lists its files and their order.
type packageDocument struct {
	Title    []string `xml:"metadata>title"`
	Manifest []struct {
		ID         string `xml:"id,attr"`
		Href       string `xml:"href,attr"`
		MediaType  string `xml:"media-type,attr"`
		Properties string `xml:"properties,attr"`
	} `xml:"manifest>item"`
	Spine []struct {
		IDRef string `xml:"idref,attr"`
	} `xml:"spine>itemref"`
}

// readEPUB reads the files of a book in the order of its spine.
func (r *Reader) readEPUB(ctx context.Context, content []byte) (Text, error) {
	a, err := r.openArchive(ctx, "an EPUB", content)
	if err != nil {
		return Text{}, err
	}
	var container struct {
		Rootfile []struct {
			FullPath string `xml:"full-path,attr"`
		} `xml:"rootfiles>rootfile"`
	}
	err = a.unmarshal("META-INF/container.xml", &container)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Text{}, &Error{Kind: KindMislabeled, Reason: "is a zip archive but not an EPUB: rename it to what it is"}
	case err != nil:
		return Text{}, err
	case len(container.Rootfile) == 0:
		return Text{}, broken("it does not say where its content is", nil)
	}
	root := container.Rootfile[0].FullPath
	var book packageDocument
	if err := a.unmarshal(root, &book); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = broken(root+" is missing", err)
		}
		return Text{}, err
	}
	out, err := a.spine(path.Dir(root), book)
	if err != nil {
		return Text{}, err
	}
	text := Text{Text: out.String(), Marks: out.marks}
	if len(book.Title) > 0 {
		text.Title = strings.Join(strings.Fields(clean(book.Title[0])), " ")
	}
	return text, nil
}

// spine reads the files that a reader turns the pages of.
func (a *archive) spine(dir string, book packageDocument) (*builder, error) {
	locked, err := a.locked()
	if err != nil {
		return nil, err
	}
	pages := map[string]string{}
	for _, item := range book.Manifest {
		if strings.Contains(item.MediaType, "html") && !strings.Contains(" "+item.Properties+" ", " nav ") {
			pages[item.ID] = archivePath(dir, item.Href)
		}
	}
	out := &builder{}
	read := map[string]bool{} // some list a file once for each of its sections
	for _, item := range book.Spine {
		name, ok := pages[item.IDRef]
		if !ok || read[name] {
			continue // a picture, or the table of contents
		}
		read[name] = true
		if locked[name] {
			return nil, &Error{Kind: KindEncrypted, Reason: "encrypted: its digital rights management keeps everybody but its own readers out"}
		}
		content, err := a.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, broken(name+" is missing", err)
		}
		if err != nil {
			return nil, err
		}
		source, err := decoded(content)
		if err != nil {
			return nil, err
		}
		if err := out.page(name, htmltext.ReadXHTML(source.text)); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// page adds one file of the spine.
func (b *builder) page(name string, page htmltext.Page) error {
	if page.Text == "" {
		return nil
	}
	if b.Len()+len(page.Text) > maxText {
		return &Error{Kind: KindTooLarge, Reason: "has more than 64 MiB of text: cut it into several files"}
	}
	if b.Len() > 0 {
		b.WriteString("\n\n")
	}
	b.mark(extraction.MarkSpine, name)
	b.marks = append(b.marks, sections(page, b.Len())...)
	b.WriteString(page.Text)
	return nil
}

// locked are the files that are encrypted. Fonts often are, in books that anybody
// may read.
func (a *archive) locked() (map[string]bool, error) {
	var encryption struct {
		Reference []struct {
			URI string `xml:"URI,attr"`
		} `xml:"EncryptedData>CipherData>CipherReference"`
	}
	if err := a.unmarshal("META-INF/encryption.xml", &encryption); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	locked := map[string]bool{}
	for _, r := range encryption.Reference {
		locked[archivePath(".", r.URI)] = true
	}
	return locked, nil
}

// archivePath is the name of a file in the archive that is linked from dir.
func archivePath(dir, href string) string {
	href, _, _ = strings.Cut(href, "#")
	if plain, err := url.PathUnescape(href); err == nil {
		href = plain
	}
	return path.Join(dir, href)
}
