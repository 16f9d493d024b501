package extraction

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Defaults of [NewSplitter], in runes (R37).
const (
	DefaultChunkSize    = 3000
	DefaultChunkOverlap = 200
)

// Splitter cuts documents into chunks of a bounded size that share a little
// text with their neighbour, so that a fact which straddles a cut is whole in
// one of them. It is safe for concurrent use.
//
// A cut falls, by preference, between paragraphs, sentences, lines, words or
// grapheme clusters, and never inside a rune. White space at the edges of a
// chunk is left out; every other rune of the document is in a chunk.
type Splitter struct {
	size, overlap int // runes
}

// NewSplitter returns a splitter for chunks of at most size runes that repeat at
// most overlap runes of the chunk before. Size must be positive and overlap
// between 0 and size-1; what is wrong is an [*ArgumentError].
func NewSplitter(size, overlap int) (*Splitter, error) {
	if size < 1 {
		return nil, &ArgumentError{Argument: "size", Reason: fmt.Sprintf("must be positive, not %d", size)}
	}
	if overlap < 0 || overlap >= size {
		return nil, &ArgumentError{Argument: "overlap", Reason: fmt.Sprintf("must be 0 to size-1 (%d), not %d", size-1, overlap)}
	}
	return &Splitter{size: size, overlap: overlap}, nil
}

// Split cuts a document into its chunks, in order. Each chunk's text is
// doc.Text[ByteStart:ByteEnd], byte for byte; identity and provenance are filled
// in, and the metadata map is shared with the document.
//
// A document with nothing to read is a [BlankTextError], one that is not clean
// UTF-8 an [*InvalidTextError] with the position.
func (s *Splitter) Split(doc Document) ([]Chunk, error) {
	if err := CheckText(doc.Text); err != nil {
		return nil, err
	}
	spans := s.spans(doc.Text)
	sum := TextSHA256(doc.Text)
	id := doc.ID
	if id == "" {
		id = sum[:documentIDLength]
	}
	chunks := make([]Chunk, len(spans))
	for i, sp := range spans {
		text := doc.Text[sp.start:sp.end]
		chunks[i] = Chunk{
			DocumentID: id, Index: i, Total: len(spans), Text: text,
			ChunkID: ChunkID(id, i, text), DocumentSHA256: sum,
			ByteStart: sp.start, ByteEnd: sp.end,
			Title: doc.Title, URI: doc.URI, Domain: doc.Domain, Metadata: doc.Metadata,
		}
	}
	return chunks, nil
}

// span is a half-open range of bytes.
type span struct{ start, end int }

// spans covers text, which is valid UTF-8 and not blank. Each turn of the loop
// either covers new text or moves the start past all that is covered, and looks
// at one chunk's worth of text: the whole is linear in what it returns.
func (s *Splitter) spans(text string) []span {
	var out []span
	covered := 0
	start := skipSpace(text, len(text)-len(strings.TrimPrefix(text, "\ufeff")))
	for start < len(text) {
		// The second half of what a chunk adds is where a cut may fall, so a
		// good boundary never makes a chunk tiny.
		floor := skipRunes(text, start, s.overlap+(s.size-s.overlap)/2)
		limit := skipRunes(text, floor, s.size-s.overlap-(s.size-s.overlap)/2)
		end := limit
		if limit < len(text) {
			end = window{text, start, max(start, covered), floor, limit}.cut()
		}
		end = trimSpace(text, start, end)
		switch {
		case end <= covered: // the overlap and white space fill the chunk
		case blank(text[start:end]): // format characters only: nothing to ask a model
			covered = end
		default:
			out = append(out, span{start, end})
			covered = end
			if limit < len(text) {
				start = s.overlapStart(text, start, end)
				continue
			}
		}
		start = skipSpace(text, covered)
	}
	return out
}

// overlapStart finds where the chunk after text[start:end] begins, always beyond
// start: at the first sentence, word or grapheme cluster within the last runes
// of this one.
func (s *Splitter) overlapStart(text string, start, end int) int {
	lo := end
	for range s.overlap {
		if lo <= start {
			break
		}
		_, n := utf8.DecodeLastRuneInString(text[:lo])
		lo -= n
	}
	if lo <= start || lo == end {
		return skipSpace(text, end)
	}
	return window{text, start, start, lo, end}.first()
}

// skipRunes returns the offset n runes after from, or the end of the text.
func skipRunes(text string, from, n int) int {
	for i := from; i < len(text); i++ {
		if text[i]&0xC0 != 0x80 {
			if n == 0 {
				return i
			}
			n--
		}
	}
	return len(text)
}

// skipSpace returns the offset of the first rune at or after from that is not
// white space.
func skipSpace(text string, from int) int {
	return len(text) - len(strings.TrimLeftFunc(text[from:], unicode.IsSpace))
}

// trimSpace returns the end of text[start:end] without trailing white space.
func trimSpace(text string, start, end int) int {
	return start + len(strings.TrimRightFunc(text[start:end], unicode.IsSpace))
}
