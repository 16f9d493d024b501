package extraction

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Defaults of [NewSplitter], in runes (R37).
const (
	DefaultChunkSize    = 3000
	DefaultChunkOverlap = 200
)

// MinTokenBudget is the least that [WithTokenBudget] takes: with less, a single
// character might not fit.
const MinTokenBudget = 16

// Splitter cuts documents into chunks of a bounded size that share a little
// text with their neighbour, so that a fact which straddles a cut is whole in
// one of them. It is safe for concurrent use if its token counter is.
//
// A cut falls, by preference, between paragraphs, sentences, lines, words or
// grapheme clusters, and never inside a rune. A heading, in Markdown or named by a
// [Mark] of [MarkSection], stays with what follows it. A table or a block of code between fences is not cut if it fits, with its
// headings, into a chunk; a larger one is cut between rows, at blank lines or at
// lines. White space at the edges of a chunk is left out; every other rune of
// the document is in a chunk. The same text and settings give the same chunks.
type Splitter struct {
	size, overlap int // runes
	tokens        TokenCounter
	budget        int // tokens, if there is a counter
}

// TokenCounter counts what a model counts.
type TokenCounter interface {
	// Fit returns the length of text in bytes if it has at most budget tokens.
	// Otherwise it returns less: about as much as fits, up to between two runes,
	// and at least one rune if budget is 4 or more. It looks at no more of text
	// than it has to.
	Fit(text string, budget int) int
}

// SplitOption changes what [NewSplitter] returns.
type SplitOption func(*Splitter) error

// WithTokenBudget bounds chunks to budget tokens as counter counts them, beside
// their size in runes. The overlap is given up where it would leave a chunk no
// room for anything new. Budget is at least [MinTokenBudget].
func WithTokenBudget(budget int, counter TokenCounter) SplitOption {
	return func(s *Splitter) error {
		switch {
		case budget < MinTokenBudget:
			return &ArgumentError{Argument: "token budget", Reason: fmt.Sprintf("must be at least %d, not %d", MinTokenBudget, budget)}
		case counter == nil:
			return &ArgumentError{Argument: "token counter", Reason: "must not be nil"}
		}
		s.tokens, s.budget = counter, budget
		return nil
	}
}

// NewSplitter returns a splitter for chunks of at most size runes that repeat at
// most overlap runes of the chunk before. Size must be positive and overlap
// between 0 and size-1; what is wrong is an [*ArgumentError].
func NewSplitter(size, overlap int, options ...SplitOption) (*Splitter, error) {
	if size < 1 {
		return nil, &ArgumentError{Argument: "size", Reason: fmt.Sprintf("must be positive, not %d", size)}
	}
	if overlap < 0 || overlap >= size {
		return nil, &ArgumentError{Argument: "overlap", Reason: fmt.Sprintf("must be 0 to size-1 (%d), not %d", size-1, overlap)}
	}
	s := &Splitter{size: size, overlap: overlap}
	for _, option := range options {
		if err := option(s); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Split cuts a document into its chunks, in order. Each chunk's text is
// doc.Text[ByteStart:ByteEnd], byte for byte, unless the text was extracted: then these
// are where it came from, as far as the document's Origin knows, and the metadata has
// its range in the text ([TextStart]). Identity and provenance are filled in, and the
// metadata map is shared with the document unless that has marks or an origin.
//
// A document with nothing to read is a [BlankTextError], one that is not clean
// UTF-8 an [*InvalidTextError] with the position.
func (s *Splitter) Split(doc Document) ([]Chunk, error) {
	if err := CheckText(doc.Text); err != nil {
		return nil, err
	}
	spans := s.spans(doc.Text, headingsOf(doc.Text, doc.Marks))
	sum := TextSHA256(doc.Text)
	id := doc.ID
	if id == "" {
		id = sum[:documentIDLength]
	}
	marks := marker{marks: doc.Marks}
	chunks := make([]Chunk, len(spans))
	for i, sp := range spans {
		text := doc.Text[sp.start:sp.end]
		from, to, metadata := doc.place(sp.start, sp.end, marks.metadata(doc.Metadata, sp.start, sp.end))
		chunks[i] = Chunk{
			DocumentID: id, Index: i, Total: len(spans), Text: text,
			ChunkID: ChunkID(id, i, text), DocumentSHA256: sum,
			ByteStart: from, ByteEnd: to,
			Title: doc.Title, URI: doc.URI, Domain: doc.Domain,
			Metadata: metadata,
		}
	}
	return chunks, nil
}

// span is a half-open range of bytes.
type span struct{ start, end int }

// spans covers text, which is valid UTF-8 and not blank. Each turn of the loop
// either covers new text or moves the start past all that is covered, and looks
// at one chunk's worth of text: the whole is linear in what it returns.
func (s *Splitter) spans(text string, headings []span) []span {
	var out []span
	found := newBlocks(text, headings)
	covered := 0
	start := skipSpace(text, len(text)-len(strings.TrimPrefix(text, "\ufeff")))
	for start < len(text) {
		found.forget(start)
		end, next := s.chunk(found, start, covered)
		end = trimSpace(text, start, end)
		switch {
		case end <= covered: // the overlap and white space fill the chunk
			start = skipSpace(text, covered)
			continue
		case blank(text[start:end]): // format characters only: nothing to ask a model
			start = skipSpace(text, end)
			continue
		}
		out = append(out, span{start, end})
		covered = end
		switch {
		case skipSpace(text, end) == len(text):
			return out
		case next > 0:
			start = skipSpace(text, next)
		default:
			start = s.overlapStart(found, start, end)
		}
	}
	return out
}

// chunk returns where the chunk that begins at start ends. That is at or before
// covered if the overlap leaves no room for anything new. The next chunk begins
// at next, without an overlap, unless that is 0.
func (s *Splitter) chunk(found *blocks, start, covered int) (end, next int) {
	limit := s.reach(found.text, start)
	for limit > covered {
		end, next = s.cut(found, start, covered, limit)
		if s.tokens == nil {
			return end, next
		}
		// Where a text is cut changes its tokens a little.
		text := found.text[start:trimSpace(found.text, start, end)]
		n := s.tokens.Fit(text, s.budget)
		if n >= len(text) {
			return end, next
		}
		limit = start + n
	}
	return covered, 0
}

// reach returns the furthest offset at which a chunk that begins at start may
// end.
func (s *Splitter) reach(text string, start int) int {
	end := skipRunes(text, start, s.size)
	if s.tokens != nil {
		end = start + s.tokens.Fit(text[start:end], s.budget)
	}
	return end
}

// cut returns the best place at which to end a chunk at or before limit.
func (s *Splitter) cut(found *blocks, start, covered, limit int) (end, next int) {
	text := found.text
	if limit == len(text) {
		return limit, 0
	}
	base := max(start, covered)
	inside, isInside := found.around(limit, func(from int) int { return s.reach(text, from) })
	if isInside {
		begin := found.headingBefore(inside.start)
		if s.reach(text, begin) >= trimSpace(text, begin, inside.end) {
			switch at := trimSpace(text, base, max(base, begin)); {
			case at > base:
				return at, begin
			case start < covered:
				return covered, 0 // without the overlap it will fit
			}
		}
	}
	// The second half of what a chunk adds is where a cut may fall, so a
	// good boundary never makes a chunk tiny.
	floor := base + (limit-base)/2
	for !utf8.RuneStart(text[floor]) {
		floor--
	}
	w := window{text: text, blocks: found, start: start, covered: base, lo: floor, hi: limit}
	if isInside {
		w.inside = &inside
	}
	return w.cut(), 0
}

// overlapStart finds where the chunk after text[start:end] begins, always beyond
// start: at the first sentence, line of a block, word or grapheme cluster within
// the last runes of this one.
func (s *Splitter) overlapStart(found *blocks, start, end int) int {
	text, lo := found.text, end
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
	return window{text: text, blocks: found, start: start, covered: start, lo: lo, hi: end}.first()
}
