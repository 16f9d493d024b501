package extraction

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Excerpt is a passage of a chunk's text: text[ByteStart:ByteStart+len(Text)]
// is Text. It lets a reader who has no chunks any more see evidence in context.
type Excerpt struct {
	ByteStart int    `json:"byte_start"`
	Text      string `json:"text"`
}

const (
	// contextRunes is how much of the text is kept on each side of a quote.
	contextRunes = 160
	// contextSlack is how many bytes of it are given up to begin and end at a
	// white space.
	contextSlack = 40
)

// Excerpts returns the passages of text that evidence stands in, with up to 160
// characters on each side, in order. Passages that touch are one, so that all of
// them are never longer than the text.
func Excerpts(text string, entities []Entity, relationships []Relationship) []Excerpt {
	var around []span
	add := func(e *Evidence) {
		if e != nil && 0 <= e.ByteStart && e.ByteStart <= e.ByteEnd && e.ByteEnd <= len(text) {
			around = append(around, span{contextStart(text, e.ByteStart), contextEnd(text, e.ByteEnd)})
		}
	}
	for _, e := range entities {
		add(e.Evidence)
	}
	for _, r := range relationships {
		add(r.Evidence)
	}
	slices.SortFunc(around, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var out []Excerpt
	for i := 0; i < len(around); {
		whole := around[i]
		for i++; i < len(around) && around[i].start <= whole.end; i++ {
			whole.end = max(whole.end, around[i].end)
		}
		out = append(out, Excerpt{ByteStart: whole.start, Text: text[whole.start:whole.end]})
	}
	return out
}

// contextStart goes back from at, and then on to where a word begins, or at
// least to a character that stands by itself.
func contextStart(text string, at int) int {
	start := at
	for range contextRunes {
		_, n := utf8.DecodeLastRuneInString(text[:start])
		if start -= n; n == 0 {
			return start
		}
	}
	if i := strings.IndexFunc(text[start:min(at, start+contextSlack)], unicode.IsSpace); i >= 0 {
		_, n := utf8.DecodeRuneInString(text[start+i:])
		return start + i + n
	}
	for start < at {
		r, n := utf8.DecodeRuneInString(text[start:])
		if !unicode.IsMark(r) && !unicode.Is(unicode.Cf, r) {
			break
		}
		start += n
	}
	return start
}

// contextEnd goes on from at, and then back to where a word ends, or on to where
// a character does.
func contextEnd(text string, at int) int {
	end := at + skipRunes(text[at:], 0, contextRunes)
	if end == len(text) {
		return end
	}
	if from := max(at, end-contextSlack); from < end {
		if i := strings.LastIndexFunc(text[from:end], unicode.IsSpace); i >= 0 {
			return from + i
		}
	}
	for end < len(text) {
		r, n := utf8.DecodeRuneInString(text[end:])
		if !unicode.IsMark(r) && !unicode.Is(unicode.Cf, r) {
			break
		}
		end += n
	}
	return end
}
