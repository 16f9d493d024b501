package extraction

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// sentenceReach is how many bytes before and behind a quote its sentence is looked for.
	sentenceReach = 600
	// sentencesBefore is how many sentences further back things may be named.
	sentencesBefore = 3
)

// speaksOfBoth reports whether a passage says something of two things that belong
// together: it is more than the name of one, and its sentence names both, or the
// sentences before name what it leaves out. A word in the full name of one does not name
// the other. A sentence that names neither must have a
// pronoun; if one that names one has a pronoun or "the company", the other may be named
// further back, and if it has neither, it must not begin with another name that was listed:
// then it says what that does.
func (t *indexed) speaksOfBoth(p passage, source, target *name, listed []name) bool {
	if !t.meansSomething(p) || t.isOnly(p, source) || t.isOnly(p, target) {
		return false
	}
	sentence := t.sentence(p)
	from, to := t.namesBeside(sentence, source, target), t.namesBeside(sentence, target, source)
	if from && to {
		return true
	}
	reach := sentencesBefore
	pronoun, noun := t.refers(sentence)
	switch {
	case !from && !to:
		if !pronoun {
			return false
		}
	case pronoun || noun:
		reach *= 2
	case t.beginsWithAnother(sentence, source, target, listed):
		return false
	}
	before := t.before(sentence, reach)
	return (from || t.namesBeside(before, source, target)) && (to || t.namesBeside(before, target, source))
}

// beginsWith reports whether a sentence begins with a name, or an article and a name.
func (t *indexed) beginsWith(sentence passage, n *name) bool {
	at, end := sentence.words.start, sentence.words.end
	if at+1 < end && article(t.written(&t.words[at])) {
		at++
	}
	first := t.words[at]
	if !first.spaced {
		return slices.ContainsFunc(n.dense, func(part string) bool { return strings.HasPrefix(t.written(&first), part) })
	}
	return t.oneOf(at, n.own) >= 0 && t.mentions(t.between(at, min(at+len(n.words), end)), n)
}

// beginsWithAnother reports whether a sentence begins with a name that is neither of two.
func (t *indexed) beginsWithAnother(sentence passage, one, other *name, listed []name) bool {
	if t.beginsWith(sentence, one) || t.beginsWith(sentence, other) {
		return false
	}
	return slices.ContainsFunc(listed, func(n name) bool { return t.beginsWith(sentence, &n) })
}

// namesBeside reports whether a passage speaks of a name, and not only by words of another one.
func (t *indexed) namesBeside(p passage, n, other *name) bool {
	return t.mentions(p, n) && !t.isWithin(p, n, other)
}

// isWithin reports whether a passage has nothing of a name but what stands in another one, which
// this is no part of: of John Lovelace it has the word in "Ada Lovelace".
func (t *indexed) isWithin(p passage, n, other *name) bool {
	shared := 0
	for _, word := range n.own {
		if slices.Contains(other.own, word) {
			shared++
		}
	}
	if shared == 0 || shared == len(n.own) {
		return false
	}
	within := false
	for at := p.words.start; at < p.words.end; at++ {
		if t.oneOf(at, n.own) < 0 {
			continue
		}
		behind := at > p.words.start && t.words[at-1].end+1 == t.words[at].start && t.oneOf(at-1, n.own) < 0 && t.oneOf(at-1, other.own) >= 0
		if !behind || t.oneOf(at, other.own) < 0 {
			return false
		}
		within = true
	}
	return within
}

// meansSomething reports whether a passage has a word that is in few texts.
func (t *indexed) meansSomething(p passage) bool {
	for _, w := range t.in(p) {
		if w.spaced && !function(t.written(&w)) || !w.spaced && utf8.RuneCountInString(t.clipped(&w, p)) > 1 {
			return true
		}
	}
	return false
}

// isOnly reports whether a passage has no words but those of a name.
func (t *indexed) isOnly(p passage, n *name) bool {
	for at := p.words.start; at < p.words.end; at++ {
		w := &t.words[at]
		if w.spaced && t.oneOf(at, n.words) < 0 && !article(t.written(w)) || !w.spaced && !slices.Contains(n.dense, t.clipped(w, p)) {
			return false
		}
	}
	return true
}

// clipped is as much of a word as is in a passage.
func (t *indexed) clipped(w *word, p passage) string {
	return t.folded[max(int(w.start), p.start):min(int(w.end), p.end)]
}

// sentence is the sentence, or those, in which a passage stands.
func (t *indexed) sentence(p passage) passage {
	end := p.words.end
	limit := int(t.words[end-1].at) + sentenceReach
	for end < len(t.words) && !t.words[end].opens && int(t.words[end].at) <= limit {
		end++
	}
	return t.between(t.opening(p.words.start), end)
}

// before are so many sentences before a sentence, or before the table or the list that it is
// a row or an item of: other rows speak of other things.
func (t *indexed) before(sentence passage, sentences int) passage {
	end := sentence.words.start
	limit := int(t.words[end].at) - sentenceReach
	for end > 0 && t.words[end].item && int(t.words[end].at) > limit {
		above := t.opening(end - 1)
		if !t.words[above].item {
			break
		}
		end = above
	}
	first := end
	for ; sentences > 0 && first > 0; sentences-- {
		first = t.opening(first - 1)
	}
	return t.between(first, end)
}

// opening is the first word of the sentence that a word stands in, as far as it is
// within reach.
func (t *indexed) opening(i int) int {
	limit := int(t.words[i].at) - sentenceReach
	for !t.words[i].opens && int(t.words[i-1].at) >= limit {
		i--
	}
	return i
}

// refers reports whether a sentence has a pronoun, or a noun that may stand for a name.
func (t *indexed) refers(sentence passage) (pronoun, noun bool) {
	known := false // by an article
	for _, w := range t.in(sentence) {
		if word := t.written(&w); w.spaced {
			pronoun, noun = isPronoun(word), noun || kind(word) && (known || word[0] >= utf8.RuneSelf)
			known = article(word)
		} else {
			pronoun = hasPronoun(word)
		}
		if pronoun {
			return true, noun
		}
	}
	return false, noun
}

// sentenceEnds reports whether a sentence ends between two places of a text, with a mark
// or at a blank line.
func sentenceEnds(text string, from, to int) bool {
	lines := 0
	for i := from; i < to; i++ {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\r':
			continue
		case c == '\n':
			if lines++; lines > 1 {
				return true
			}
			continue
		case c < utf8.RuneSelf && c != '.' && c != '!' && c != '?':
		case utf8.RuneStart(c) && endsAt(text, i):
			return true
		}
		lines = 0
	}
	return false
}

// beginsItem reports whether a word begins, behind marks, a row of a table (with a bar in front
// or a tab inside) or an item of a list. The word before ends at from.
func beginsItem(text string, from, at int) bool {
	lead := text[from:at]
	if line := strings.LastIndexByte(lead, '\n'); line >= 0 {
		lead = lead[line+1:]
	} else if from > 0 {
		return false
	}
	lead = strings.TrimLeft(lead, " \t")
	for _, mark := range []string{"|", "- ", "* ", "+ ", "• "} {
		if strings.HasPrefix(lead, mark) {
			return true
		}
	}
	line, _, _ := strings.Cut(text[at:], "\n")
	if strings.IndexByte(line, '\t') > 0 {
		return true
	}
	number := strings.TrimLeft(line, "0123456789")
	return len(number) < len(line) && len(line)-len(number) <= 3 && (strings.HasPrefix(number, ". ") || strings.HasPrefix(number, ") "))
}

// endsAt reports whether a sentence ends with the mark at an offset.
func endsAt(text string, at int) bool {
	mark, n := utf8.DecodeRuneInString(text[at:])
	if !isTerminal(mark) {
		return false
	}
	rest := strings.TrimLeftFunc(text[at+n:min(len(text), at+n+8)], isCloser)
	if next, _ := utf8.DecodeRuneInString(rest); rest != "" && mark < utf8.RuneSelf && !unicode.IsSpace(next) {
		return false
	}
	return mark != '.' || !endsAbbreviated(text[:at])
}

func isPronoun(word string) bool {
	switch word {
	case "he", "she", "it", "they", "his", "her", "hers", "him", "its", "their", "them", "who", "whom", "whose", "which", "we", "our", "my", "me", "you", "your",
		"er", "sie", "es", "ihn", "ihm", "ihr", "ihre", "ihren", "ihrem", "ihrer", "sein", "seine", "seinen", "seinem", "seiner", "ich", "wir",
		"il", "elle", "ils", "elles", "son", "sa", "ses", "leur", "leurs", "lui", "él", "ella", "ellos", "su", "sus", "lei", "suo", "sua",
		"он", "она", "оно", "они", "его", "её", "ее", "их", "ему", "ей", "им", "هو", "هي", "هم", "הוא", "היא", "הם", "वह", "वे", "उसने", "उनके", "उनकी":
		return true
	}
	return false
}

// hasPronoun reports whether a run of a script without spaces has a pronoun, or a noun
// that is used like one.
func hasPronoun(run string) bool {
	for _, p := range []string{"他", "她", "它", "彼", "同社", "公司", "그는", "그의", "그녀", "회사", "เขา", "เธอ"} {
		if strings.Contains(run, p) {
			return true
		}
	}
	return false
}
