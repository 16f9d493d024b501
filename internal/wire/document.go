package wire

import (
	"bytes"
	"encoding/json"
	"mime"
	"strings"
	"unicode/utf8"

	"github.com/nats-io/nats.go"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/htmltext"
)

// Content types of a raw document.
const (
	ContentText     = "text/plain" // the default
	ContentMarkdown = "text/markdown"
	ContentHTML     = "text/html" // reduced to its readable text
	ContentJSON     = "application/json"
)

// DecodeDocument reads a raw document by its Content-Type. In the JSON form,
// what the body leaves out is taken from the headers. The document's id
// defaults to one made of its text. The error is an [*InvalidMessageError].
func DecodeDocument(header nats.Header, body []byte) (extraction.Document, error) {
	contentType := header.Get(HeaderContentType)
	if contentType == "" {
		contentType = ContentText
	}
	media, params, err := mime.ParseMediaType(contentType)
	if err != nil {
		return extraction.Document{}, invalid("Content-Type %q cannot be read", clip(contentType, 64))
	}
	switch strings.ToLower(params["charset"]) {
	case "", "utf-8", "utf8", "us-ascii":
	default:
		return extraction.Document{}, invalid("charset %q: only UTF-8 is read", clip(params["charset"], 64))
	}

	var d extraction.Document
	switch media {
	case ContentText, ContentMarkdown:
		d.Text = string(body)
	case ContentHTML:
		if err := checkString("text", string(body)); err != nil {
			return extraction.Document{}, err
		}
		page := htmltext.Read(string(body))
		d.Text, d.Origin = page.Text, page.Origin
		for _, h := range page.Headings {
			d.Marks = append(d.Marks, extraction.Mark{Offset: h.Offset, Key: extraction.MarkSection, Value: h.Text})
		}
	case ContentJSON:
		if d, err = decodeDocumentObject(body); err != nil {
			return extraction.Document{}, err
		}
	default:
		return extraction.Document{}, invalid("Content-Type %q: want text/plain, text/markdown, text/html or application/json", clip(media, 64))
	}

	fill := func(field *string, name string) {
		if *field == "" {
			*field = header.Get(name)
		}
	}
	fill(&d.ID, HeaderDocumentID)
	fill(&d.Title, HeaderTitle)
	fill(&d.URI, HeaderURI)
	fill(&d.Domain, HeaderDomain)
	if err := checkDocument(d); err != nil {
		return extraction.Document{}, err
	}
	if d.ID == "" {
		d.ID = extraction.DocumentID(d.Text)
	}
	return d, nil
}

// GivenDocumentID is the id that a raw document was given, also one that
// [DecodeDocument] refuses or that was cut off: in the JSON form, the first one that can
// be read, else that of the header. It is empty if there is none, or none that is valid.
func GivenDocumentID(header nats.Header, body []byte) string {
	media, _, _ := mime.ParseMediaType(header.Get(HeaderContentType))
	if media == ContentJSON {
		if id := firstDocumentID(body); id != "" {
			return id
		}
	}
	if id := header.Get(HeaderDocumentID); checkID(HeaderDocumentID, id) == nil {
		return id
	}
	return ""
}

func firstDocumentID(body []byte) string {
	in := json.NewDecoder(bytes.NewReader(body))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return ""
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return ""
		}
		var value json.RawMessage
		if in.Decode(&value) != nil {
			return ""
		}
		if name != "document_id" {
			continue
		}
		var id string
		if !utf8.Valid(value) || loneSurrogate(string(value)) || json.Unmarshal(value, &id) != nil || checkID("document_id", id) != nil {
			return ""
		}
		return id
	}
	return ""
}

func decodeDocumentObject(body []byte) (extraction.Document, error) {
	o, err := decodeObject(body)
	if err != nil {
		return extraction.Document{}, err
	}
	d := extraction.Document{
		ID:       o.str("document_id"),
		Title:    o.str("title"),
		URI:      o.str("uri"),
		Domain:   o.str("domain"),
		Metadata: o.stringMap("metadata"),
		Text:     o.str("text"),
	}
	return d, o.err
}

// EncodeDocument writes a raw document in its JSON form, and refuses one that
// [DecodeDocument] would refuse.
func EncodeDocument(d extraction.Document) (nats.Header, []byte, error) {
	if err := checkDocument(d); err != nil {
		return nil, nil, err
	}
	body, err := encodeJSON(d)
	if err != nil {
		return nil, nil, err
	}
	return nats.Header{HeaderContentType: {ContentJSON}}, body, nil
}

func checkDocument(d extraction.Document) error {
	if err := checkText(d.Text); err != nil {
		return err
	}
	if err := checkID("document_id", d.ID); err != nil {
		return err
	}
	for _, f := range []struct{ name, value string }{{"title", d.Title}, {"uri", d.URI}, {"domain", d.Domain}} {
		if err := checkString(f.name, f.value); err != nil {
			return err
		}
	}
	return checkMetadata(d.Metadata)
}
