package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// passageWords is how many words make a passage that can say something about what
// it does not name ("She was his daughter").
const passageWords = 3

// mentions reports whether a passage of the text speaks of what has this name: by
// the whole name, by one of its words that mean something, as it is or inflected
// ("Lovelace's" for "Ada Lovelace"), by part of a name in a script without spaces,
// or by its initials ("UN" for "United Nations", and the other way round). Folded is
// the normalised form of name.
func mentions(passage, name, folded string) bool {
	if stands(passage, name) {
		return true
	}
	found := false
	eachWord(name, func(word string, spaced bool) bool { // most often it is this simple
		found = spaced && stands(passage, word) && !function(fold(word))
		return !found
	})
	if found {
		return true
	}
	quote := fold(passage)
	if stands(quote, folded) {
		return true
	}
	eachWord(folded, func(word string, spaced bool) bool {
		switch {
		case !spaced:
			found = sharesHalf(quote, word)
		case !function(word):
			found = hasForm(quote, word)
		}
		return !found
	})
	return found || abbreviates(passage, name)
}

// stands reports whether s stands in a text as words of their own.
func stands(text, s string) bool {
	var a aligner
	_, found := a.occurrence(text, s)
	return found
}

// hasForm reports whether a folded text has a word, or what looks like another
// form of it: at least four letters and most of the word are the same.
func hasForm(text, word string) bool {
	found := false
	eachWord(text, func(other string, spaced bool) bool {
		found = spaced && (other == word || sameStem(other, word))
		return !found
	})
	return found
}

func sameStem(a, b string) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	same := 0
	for i, r := range a {
		if s, _ := utf8.DecodeRuneInString(b[i:]); r != s || !unicode.IsLetter(r) {
			break
		}
		same++
	}
	longer := max(utf8.RuneCountInString(a), utf8.RuneCountInString(b))
	return same >= 4 && 3*same >= 2*longer
}

// sharesHalf reports whether a text has half of a name that is written without
// spaces, and two characters at least.
func sharesHalf(text, name string) bool {
	runes := []rune(name)
	n := max(2, (len(runes)+1)/2)
	for i := 0; i+n <= len(runes); i++ {
		if strings.Contains(text, string(runes[i:i+n])) {
			return true
		}
	}
	return len(runes) == 1 && strings.Contains(text, name)
}

// abbreviates reports whether the passage has the initials of the name, in
// capitals, or the name is the initials of words that follow each other in the passage.
func abbreviates(passage, name string) bool {
	if short := initials(name); len(short) > 1 {
		return stands(passage, short) || stands(passage, strings.Join(strings.Split(short, ""), "."))
	}
	short := strings.ReplaceAll(name, ".", "")
	if utf8.RuneCountInString(short) < 2 {
		return false
	}
	for _, r := range short {
		if !unicode.IsUpper(r) {
			return false
		}
	}
	return strings.Contains(initials(passage), short)
}

// initials are the capitals that words begin with, and a space for words without
// one that mean something.
func initials(s string) string {
	var b strings.Builder
	eachWord(s, func(word string, _ bool) bool {
		if r, _ := utf8.DecodeRuneInString(word); unicode.IsUpper(r) {
			b.WriteRune(r)
		} else if !function(word) {
			b.WriteByte(' ')
		}
		return true
	})
	return b.String()
}

// isPassage reports whether a text has enough words to say something.
func isPassage(s string) bool {
	n := 0
	eachWord(s, func(word string, spaced bool) bool {
		if spaced {
			n++
		} else {
			n += (utf8.RuneCountInString(word) + 1) / 2
		}
		return n < passageWords
	})
	return n >= passageWords
}

// saysAnything reports whether a text has a letter or a digit.
func saysAnything(s string) bool { return strings.IndexFunc(s, isWord) >= 0 }

// eachWord calls f with the words of a text, in order, until it returns false. A
// run of a script without spaces is one word.
func eachWord(s string, f func(word string, spaced bool) bool) {
	start, spaced := -1, false
	for i, r := range s {
		word := isWord(r)
		if start >= 0 && (!word || spacedLetter(r) != spaced && !unicode.IsMark(r)) {
			if !f(s[start:i], spaced) {
				return
			}
			start = -1
		}
		if word && start < 0 {
			start, spaced = i, spacedLetter(r)
		}
	}
	if start >= 0 {
		f(s[start:], spaced)
	}
}

func isWord(r rune) bool {
	if r < utf8.RuneSelf {
		return spacedLetter(r)
	}
	return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// function reports whether a folded word is in so many texts and names that it
// names nothing by itself: a single letter, an article, a preposition, a title, a
// legal form.
func function(word string) bool {
	if len(word) == 1 || utf8.RuneCountInString(word) == 1 {
		return true
	}
	switch word {
	case "the", "an", "of", "and", "or", "in", "on", "at", "to", "for", "by", "with", "from", "as", "is", "it", "its", "he", "she", "his", "her", "they", "this", "that",
		"der", "die", "das", "den", "dem", "des", "ein", "und", "von", "zu", "zur", "im", "am", "van", "het", "een", "en",
		"le", "la", "les", "un", "une", "de", "du", "et", "au", "aux", "el", "los", "las", "del", "una", "il", "lo", "gli", "di", "da", "al", "do", "dos", "os",
		"mr", "mrs", "ms", "dr", "sir", "st", "inc", "ltd", "llc", "corp", "co", "plc", "gmbh", "ag", "sa":
		return true
	}
	return false
}
