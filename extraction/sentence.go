package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// sentenceReach is how many bytes before and behind a quote its sentence is looked for.
	sentenceReach = 600
	// sentencesBefore is how far back a pronoun may mean what is named there.
	sentencesBefore = 3
)

// speaksOfBoth reports whether a passage says something of two things that belong
// together: it has a word that means something, and its sentence names both, or one while
// the other may be what a pronoun or "the company" in it means, or the sentences before
// name what it leaves out. A sentence that names neither must have a pronoun.
func (t *indexed) speaksOfBoth(p passage, source, target *name) bool {
	if !t.meansSomething(p) {
		return false
	}
	sentence := t.sentence(p)
	from, to := t.mentions(sentence, source), t.mentions(sentence, target)
	if from && to {
		return true
	}
	if pronoun, noun := t.refers(sentence); pronoun || noun {
		if from || to {
			return true
		}
		if !pronoun {
			return false
		}
	} else if !from && !to {
		return false
	}
	before := t.before(sentence)
	return (from || t.mentions(before, source)) && (to || t.mentions(before, target))
}

// meansSomething reports whether a passage has a word that is in few texts.
func (t *indexed) meansSomething(p passage) bool {
	for _, w := range t.in(p) {
		if w.spaced && !function(t.written(&w)) {
			return true
		}
		if !w.spaced && utf8.RuneCountInString(t.folded[max(int(w.start), p.start):min(int(w.end), p.end)]) > 1 {
			return true
		}
	}
	return false
}

// sentence is the sentence, or those, in which a passage stands.
func (t *indexed) sentence(p passage) passage {
	end := p.words.end
	limit := int(t.from[t.words[end-1].start]) + sentenceReach
	for end < len(t.words) && !t.words[end].opens && int(t.from[t.words[end].start]) <= limit {
		end++
	}
	return t.between(t.opening(p.words.start), end)
}

// before are the sentences before a sentence in which a pronoun of it may be named.
func (t *indexed) before(sentence passage) passage {
	first := sentence.words.start
	for n := 0; n < sentencesBefore && first > 0; n++ {
		first = t.opening(first - 1)
	}
	return t.between(first, sentence.words.start)
}

// opening is the first word of the sentence that a word stands in, as far as it is
// within reach.
func (t *indexed) opening(i int) int {
	limit := int(t.from[t.words[i].start]) - sentenceReach
	for !t.words[i].opens && int(t.from[t.words[i-1].start]) >= limit {
		i--
	}
	return i
}

// refers reports whether a sentence has a pronoun, or a noun that may stand for a name.
func (t *indexed) refers(sentence passage) (pronoun, noun bool) {
	for _, w := range t.in(sentence) {
		if w.spaced {
			plain := t.plain(&w)
			pronoun, noun = isPronoun(plain), noun || generic(plain)
		} else {
			pronoun = hasPronoun(t.written(&w))
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
	if to-from <= 2 {
		return false // most often: one space between two words
	}
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
