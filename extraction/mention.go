package extraction

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// passage is a part of a text, with its folded form once that is asked for.
type passage struct{ text, folded string }

// plain is the folded form without accents.
func (p *passage) plain() string {
	if p.folded == "" {
		p.folded = unaccented(fold(p.text))
	}
	return p.folded
}

// mentions reports whether a passage of the text speaks of what has this name: by
// the whole name, with or without a legal form, by one of its words that are its own, as
// it is or inflected ("Lovelace's" for "Ada Lovelace"), by part of a name in a script
// without spaces, or by its initials ("UN" for "United Nations", and the other way
// round). A name that has no word of its own ("World Bank") must be there with all of
// its words. Folded is the normalised form of name.
func (p *passage) mentions(name, folded string) bool {
	if stands(p.text, name) {
		return true
	}
	own, found := hasOwnWord(folded), false
	if own {
		eachWord(name, func(word string, spaced bool) bool { // most often it is this simple
			found = spaced && stands(p.text, word) && isOwn(fold(word))
			return !found
		})
	}
	if found {
		return true
	}
	quote := p.plain()
	folded = unaccented(folded)
	if stands(quote, folded) || stands(quote, withoutForm(folded)) {
		return true
	}
	all := true
	eachWord(folded, func(word string, spaced bool) bool {
		switch {
		case !spaced:
			found = sharesHalf(quote, withoutSuffix(word))
		case !own && !function(word):
			all = all && hasForm(quote, word)
			found = all
		case own && isOwn(word):
			found = hasForm(quote, word)
		}
		return !found || !own
	})
	return found || abbreviates(p.text, name)
}

// stands reports whether s stands in a text as words of their own.
func stands(text, s string) bool {
	var a aligner
	_, found := a.occurrence(text, s)
	return found
}

// hasForm reports whether a folded text has a word, or what looks like another form
// of it.
func hasForm(text, word string) bool {
	found := false
	eachWord(text, func(other string, spaced bool) bool {
		found = spaced && (other == word || other[0] == word[0] && (sameStem(other, word) || sameShort(other, word)) || prefixed(other, word))
		return !found
	})
	return found
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
// capitals, or the name is the initials of words that follow each other in the passage:
// of capitalised ones, and if it has three letters, of any.
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
	if strings.Contains(initials(passage), short) {
		return true
	}
	return utf8.RuneCountInString(short) > 2 && strings.Contains(initials(strings.ToTitle(passage)), short)
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
