package extraction

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// initials are those of a name, or what it may be the initials of.
type initials struct {
	letters   string // "UN" for "United Nations"
	dotted    string // "U.N", also for the name "UN"
	capitals  string // the name itself, if it may be the initials of something
	plainTail bool   // its last word has no capital, so that it is no person
}

func initialsOf(name string) *initials {
	var i initials
	var short, dotted [64]byte
	letters, apart := short[:0], dotted[:0]
	for at := range eachWord(name) {
		word := name[at.start:at.end]
		first, _ := utf8.DecodeRuneInString(word)
		i.plainTail = unicode.IsLower(first)
		if !unicode.IsUpper(first) && function(word) {
			continue
		}
		if len(apart) > 0 {
			apart = append(apart, '.')
		}
		first = unicode.ToUpper(first)
		letters, apart = utf8.AppendRune(letters, first), utf8.AppendRune(apart, first)
	}
	if utf8.RuneCount(letters) > 1 {
		i.letters, i.dotted = string(letters), string(apart)
		return &i
	}
	capitals := strings.ReplaceAll(name, ".", "")
	if utf8.RuneCountInString(capitals) > 1 && strings.IndexFunc(capitals, func(r rune) bool { return !unicode.IsUpper(r) }) < 0 {
		i.capitals, i.dotted = capitals, strings.Join(strings.Split(capitals, ""), ".")
	}
	return &i
}

// abbreviates reports whether the passage has the initials of the name, in capitals, or the
// name is the initials of capitalised words that follow each other in the passage. Two
// letters may be those of anybody: they count with a dot between them, or if the text itself
// says what they are the initials of, or if they are known everywhere. Of words without
// capitals the text must say it, too.
func (t *indexed) abbreviates(p passage, n *name) bool {
	if n.initials == nil {
		n.initials = initialsOf(n.written)
	}
	at := t.original(p.span)
	said := t.text[at.start:at.end]
	switch i := n.initials; {
	case i.letters != "":
		known := utf8.RuneCountInString(i.letters) > 2 || i.plainTail || wellKnown(n.folded, i.letters) ||
			t.introduces(n.folded, strings.ToLower(i.letters))
		return known && t.stands(said, i.letters) || t.stands(said, i.dotted)
	case i.capitals == "":
		return false
	case utf8.RuneCountInString(i.capitals) == 2 && !wellKnown(t.folded[p.start:p.end], i.capitals):
		return t.stands(said, i.dotted) || t.expands(p, n.folded)
	}
	return strings.Contains(t.initials(p), n.initials.capitals) || t.expands(p, n.folded)
}

// introduces reports whether the text has initials in brackets behind a name, or the name in
// brackets behind them.
func (t *indexed) introduces(folded, initials string) bool {
	return strings.Contains(t.folded, folded+" ("+initials) || strings.Contains(t.folded, initials+" ("+folded)
}

// expands reports whether a passage has words that begin with the letters of a name and
// behind which, in brackets, the text has the name itself, as in "language models (LM)".
func (t *indexed) expands(p passage, folded string) bool {
	letters := strings.ReplaceAll(folded, ".", "")
	for from := p.start; ; {
		i := strings.Index(t.folded[from:], " ("+folded)
		if i < 0 || from+i > p.end {
			return false
		}
		from += i
		last := sort.Search(len(t.words), func(i int) bool { return int(t.words[i].end) >= from })
		rest := letters
		for last >= p.words.start && rest != "" {
			word := t.written(&t.words[last])
			first, _ := utf8.DecodeRuneInString(word)
			if end, n := utf8.DecodeLastRuneInString(rest); first == end {
				rest = rest[:len(rest)-n]
			} else if !function(word) {
				break
			}
			last--
		}
		if rest == "" {
			return true
		}
		from++
	}
}

// initials are the capitals that words of a passage begin with, and a space for other words
// that mean something.
func (t *indexed) initials(p passage) string {
	var b strings.Builder
	for _, w := range t.in(p) {
		first, _ := utf8.DecodeRuneInString(t.text[w.at:])
		if unicode.IsUpper(first) {
			b.WriteRune(first)
		} else if !function(t.written(&w)) {
			b.WriteByte(' ')
		}
	}
	return b.String()
}

// wellKnown reports whether a folded text has the name that two letters stand for without
// being told.
func wellKnown(text, initials string) bool {
	switch initials {
	case "UN":
		return strings.Contains(text, "united nations")
	case "EU":
		return strings.Contains(text, "european union")
	case "UK":
		return strings.Contains(text, "united kingdom")
	case "US":
		return strings.Contains(text, "united states")
	}
	return false
}
