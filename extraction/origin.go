package extraction

import (
	"maps"
	"strconv"
)

// Keys of the metadata of a chunk whose text was extracted: the half-open range of the
// chunk in the extracted text, in bytes. An evidence's offset and TextStart add up to a
// place there.
const (
	TextStart = "text_start"
	TextEnd   = "text_end"
)

// Origin says where in a document's own bytes the text stands that was extracted
// from it.
type Origin interface {
	// Range returns the half-open range of the document that text[start:end] came from,
	// with the markup in between. ok is false if the document has no such place.
	Range(start, end int) (from, to int, ok bool)
}

// NoOrigin is that of a text from a container, such as a PDF or an archive, whose bytes
// nobody could find it in.
type NoOrigin struct{}

// Range is never ok.
func (NoOrigin) Range(int, int) (from, to int, ok bool) { return 0, 0, false }

// place is where the chunk text[start:end] stands in the document's own bytes, 0 to 0 if
// that is not known, and metadata with what has to be known of it beside that.
func (d Document) place(start, end int, metadata map[string]string) (from, to int, with map[string]string) {
	if d.Origin == nil {
		return start, end, metadata
	}
	from, to, ok := d.Origin.Range(start, end)
	if !ok {
		from, to = 0, 0
	}
	with = map[string]string{TextStart: strconv.Itoa(start), TextEnd: strconv.Itoa(end)}
	maps.Copy(with, metadata)
	return from, to, with
}
