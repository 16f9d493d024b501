package extraction

import (
	"iter"
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// indexed is a text and what grounding has to know of it. Each part is made once, when
// it is first needed, whatever the number of facts. It is not safe for concurrent use.
type indexed struct {
	text string

	// The folded form, and where in text it comes from.
	folded string
	origin origin

	// The loose form of that, see [loosen], and where in folded each byte comes from.
	letters     string
	lettersFrom []int32

	words []word
	bare  []string // what words with accents are without them

	numbers  []number // of the folded form
	numbered bool

	capitals int // 1 if it has some, or may have, -1 if it has none, 0 if nobody has asked

	looked int // at occurrences and words so far, see [lookBudget]
}

// word is a word at its place in the folded form.
type word struct {
	start, end int32
	at         int32 // where in the text it begins
	bare       int32 // place in bare, from 1, or 0
	spaced     bool  // of a script that puts spaces between words; otherwise it is a run of them
	opens      bool  // a sentence begins with it
	item       bool  // that is a row of a table or an item of a list
}

// passage is a part of an indexed text: a place in its folded form, and the words that are in
// it at least in part, as a range of words.
type passage struct {
	span
	words span
}

func (t *indexed) fold() {
	if t.origin == nil {
		t.folded, t.origin = foldMapped(t.text)
	}
}

func (t *indexed) split() {
	if t.words != nil {
		return
	}
	t.fold()
	list := make([]word, 0, 1+len(t.folded)/5)
	gap := 0 // where in the text the word before has its last byte, or its last character
	origin := ascent{origin: t.origin}
	for at, spaced, ok := nextWord(t.folded, 0); ok; at, spaced, ok = nextWord(t.folded, at.end) {
		next := origin.of(at.start)
		w := word{start: int32(at.start), end: int32(at.end), at: int32(next), spaced: spaced}
		if written := t.folded[at.start:at.end]; spaced {
			if bare := unaccented(written); bare != written {
				t.bare = append(t.bare, bare)
				w.bare = int32(len(t.bare))
			}
		}
		if len(list) == 0 || next-gap > 2 || next > gap && t.text[next-1] == '\n' { // most often there is one space between
			w.item = beginsItem(t.text, gap, next)
			counted := len(list) > 0 && list[len(list)-1].item && digitValue(rune(t.folded[list[len(list)-1].start])) >= 0 // "1. "
			w.opens = w.item || len(list) == 0 || !counted && sentenceEnds(t.text, gap, next)
		}
		gap = origin.of(at.end - 1)
		list = append(list, w)
	}
	t.words = list
}

// written is a word as it stands in the folded form.
func (t *indexed) written(w *word) string { return t.folded[w.start:w.end] }

// plain is a word without accents.
func (t *indexed) plain(w *word) string {
	if w.bare > 0 {
		return t.bare[w.bare-1]
	}
	return t.folded[w.start:w.end]
}

// in are the words of a passage.
func (t *indexed) in(p passage) []word { return t.words[p.words.start:p.words.end] }

// passage is what stands at a place in the text.
func (t *indexed) passage(at span) passage {
	t.split()
	start, end := t.origin.first(at.start, len(t.folded)), t.origin.first(at.end, len(t.folded))
	return passage{span{start, end}, span{
		sort.Search(len(t.words), func(i int) bool { return int(t.words[i].end) > start }),
		sort.Search(len(t.words), func(i int) bool { return int(t.words[i].start) >= end }),
	}}
}

// between is the passage from one word to before another.
func (t *indexed) between(first, end int) passage {
	if first == end {
		return passage{}
	}
	return passage{span{int(t.words[first].start), int(t.words[end-1].end)}, span{first, end}}
}

// original is the place in the text that a place in the folded form comes from.
func (t *indexed) original(at span) span {
	// It ends where something else begins that is visible, less the invisible that
	// lies between.
	end := len(t.text)
	if next := t.origin.first(t.origin.of(at.end-1)+1, len(t.folded)); next < len(t.folded) {
		end = t.origin.of(next)
	}
	start := t.origin.of(at.start)
	return span{start, start + len(strings.TrimRightFunc(t.text[start:end], invisible))}
}

// eachWord are the places of the words of a text, in order, and whether each is of a script
// that puts spaces between them. A run of another script is one word.
func eachWord(s string) iter.Seq2[span, bool] {
	return func(yield func(span, bool) bool) {
		for at, spaced, ok := nextWord(s, 0); ok && yield(at, spaced); at, spaced, ok = nextWord(s, at.end) {
		}
	}
}

// nextWord is the first word of a text from the end of another on, see [eachWord].
func nextWord(s string, from int) (at span, spaced, ok bool) {
	start, i := -1, from
	for i < len(s) {
		if start >= 0 && spaced { // most often in a word of ASCII
			for i < len(s) && s[i] < utf8.RuneSelf && asciiLetter(rune(s[i])) {
				i++
			}
			if i == len(s) {
				break
			}
		}
		r, n := rune(s[i]), 1
		letter := asciiLetter(r)
		word := letter
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
			letter, word = plainLetter(r)
			if word = word || letter; !word {
				word, letter = isWord(r), spacedLetter(r)
			}
		}
		if start >= 0 && (!word || letter != spaced && !unicode.IsMark(r)) {
			break
		}
		if word && start < 0 {
			start, spaced = i, letter
		}
		i += n
	}
	return span{start, i}, spaced, start >= 0
}

// saysAnything reports whether a text has a letter or a digit.
func saysAnything(s string) bool { return strings.IndexFunc(s, isWord) >= 0 }
