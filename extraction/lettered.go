package extraction

import "unicode"

// Names such as "Patient B" and "hepatitis C virus" differ from others in one letter only.

// isLetter reports whether a word, as written, is a capital that may tell names apart: any
// but "I", which is a pronoun and a numeral.
func isLetter(word string) bool {
	return len(word) == 1 && 'A' <= word[0] && word[0] <= 'Z' && word[0] != 'I'
}

// standsApart reports whether a letter of a name has a word in front of it, and behind it
// nothing or a word without a capital: that of "John F Kennedy" is an initial.
func standsApart(name string, at span) bool {
	if at.start < 3 || name[at.start-1] != ' ' {
		return false
	}
	rest := name[at.end:]
	return rest == "" || len(rest) > 1 && rest[0] == ' ' && !unicode.IsUpper(firstRune(rest[1:]))
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// hasOtherLetter reports whether a passage speaks of another one of a lettered name, and not
// of this one: "Patient A" of Patient B, but not "Patients A and B". The letter may stand
// right behind the passage.
func (t *indexed) hasOtherLetter(p passage, n *name) bool {
	if n.letter == "" {
		return false
	}
	other := false
	for at := p.words.start; at < min(p.words.end+1, len(t.words)); at++ {
		w := &t.words[at]
		written := t.text[w.at:][:1]
		if w.end-w.start != 1 || !isLetter(written) {
			continue
		}
		if written == n.letter {
			return false
		}
		ranges := int(w.end) < len(t.folded) && t.folded[w.end] == '-' // "Patients A-C"
		behind := at > p.words.start && t.words[at-1].end+1 == w.start && t.folded[w.start-1] == ' '
		other = other || behind && !ranges && t.isForm(at-1, n.lettered)
	}
	return other
}
