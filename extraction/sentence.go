package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// sentenceReach is how far on either side of a quote its sentence is looked for: so
	// many bytes before and characters behind.
	sentenceReach = 400
	// sentencesBefore is how far back a pronoun may mean what is named there.
	sentencesBefore = 3
)

// speaksOfBoth reports whether a place in a text says something of two things that
// belong together: it has a word that means something, and its sentence names both, or
// one while the other may be what a pronoun or "the company" in it means, or the sentences
// before name what it leaves out. A sentence that names neither must have a pronoun.
func speaksOfBoth(text string, at span, source, target func(*passage) bool) bool {
	if !meansSomething(text[at.start:at.end]) {
		return false
	}
	sentence := sentenceAround(text, at)
	near := passage{text: text[sentence.start:sentence.end]}
	from, to := source(&near), target(&near)
	if from && to {
		return true
	}
	if pronoun, noun := refers(near.plain()); pronoun || noun {
		if from || to {
			return true
		}
		if !pronoun {
			return false
		}
	} else if !from && !to {
		return false
	}
	start := sentence.start
	for range sentencesBefore {
		if end := strings.TrimRightFunc(text[:start], unicode.IsSpace); end != "" {
			_, last := utf8.DecodeLastRuneInString(end)
			start = sentenceStart(text, len(end)-last)
		}
	}
	before := passage{text: text[start:sentence.start]}
	return (from || source(&before)) && (to || target(&before))
}

// meansSomething reports whether a passage has a word that is in few texts.
func meansSomething(passage string) bool {
	found := false
	eachWord(passage, func(word string, spaced bool) bool {
		found = !spaced && utf8.RuneCountInString(word) > 1 || spaced && !function(fold(word))
		return !found
	})
	return found
}

// sentenceAround is the sentence, or those, in which a place stands.
func sentenceAround(text string, at span) span {
	_, last := utf8.DecodeLastRuneInString(text[:at.end])
	end := at.end - last // the quote may have the mark at the end
	limit := skipRunes(text, at.end, sentenceReach)
	for end < limit && !blankLineAt(text, end) {
		_, n := utf8.DecodeRuneInString(text[end:])
		ends := endsAt(text, end)
		if end += n; ends {
			break
		}
	}
	return span{sentenceStart(text, at.start), max(end, at.end)}
}

// sentenceStart is where the sentence begins that goes on at an offset.
func sentenceStart(text string, at int) int {
	start := max(0, at-sentenceReach)
	for start < at && !utf8.RuneStart(text[start]) {
		start++
	}
	if i := lastBlankLine(text[start:at]); i > 0 {
		start += i
	}
	for end := at; ; {
		i := lastTerminal(text, start, end)
		if i < 0 {
			return start
		}
		if endsAt(text, i) {
			_, n := utf8.DecodeRuneInString(text[i:])
			return min(at, i+n)
		}
		end = i
	}
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

func blankLineAt(text string, i int) bool {
	return text[i] == '\n' && (strings.HasPrefix(text[i+1:], "\n") || strings.HasPrefix(text[i+1:], "\r\n"))
}

// refers reports whether a folded sentence has a pronoun, or a noun that may stand for a name.
func refers(folded string) (pronoun, noun bool) {
	eachWord(folded, func(word string, spaced bool) bool {
		if spaced {
			pronoun, noun = pronoun || isPronoun(word), noun || generic(word)
			return !pronoun
		}
		for _, p := range []string{"他", "她", "它", "彼", "同社", "公司", "그는", "그의", "그녀", "회사", "เขา", "เธอ"} {
			pronoun = pronoun || strings.Contains(word, p)
		}
		return !pronoun
	})
	return pronoun, noun
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
