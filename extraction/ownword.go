package extraction

import (
	"strings"
	"unicode/utf8"
)

// function reports whether a folded word is in so many texts and names that it
// names nothing by itself: a single letter, an article, a preposition, a title, a
// legal form.
func function(word string) bool {
	if len(word) == 1 || utf8.RuneCountInString(word) == 1 {
		return true
	}
	switch word {
	case "the", "an", "was", "were", "be", "been", "are", "has", "had", "have", "not", "no", "yes", "but", "so", "if", "of", "and", "or", "in", "on", "at", "to", "for", "by", "with", "from", "as", "is", "it", "its", "he", "she", "his", "her", "they", "this", "that",
		"der", "die", "das", "den", "dem", "des", "ein", "und", "von", "zu", "zur", "im", "am", "van", "het", "een", "en",
		"le", "la", "les", "un", "une", "de", "du", "et", "au", "aux", "el", "los", "las", "del", "una", "il", "lo", "gli", "di", "da", "al", "do", "dos", "os",
		"mr", "mrs", "ms", "dr", "sir", "st", "inc", "ltd", "llc", "corp", "co", "plc", "gmbh", "ag", "sa":
		return true
	}
	return false
}

// generic reports whether a folded word is part of so many names that it names nothing
// beside a word that is a name's own.
func generic(word string) bool {
	switch word {
	case "limited", "holding", "holdings", "international", "national", "world", "global", "general", "near", "great", "big", "old", "men", "women", "people", "all", "every", "one", "two", "three", "first",
		"second", "last", "previous", "chief":
		return true
	}
	return isSide(word) || kind(word)
}

// isSide reports whether a folded word, in front of a name, makes another name of it: "North
// Korea" is not South Korea, and "New York" is not York.
func isSide(word string) bool {
	switch word {
	case "new", "north", "south", "east", "west", "northern", "southern", "eastern", "western":
		return true
	}
	return false
}

// kind reports whether a folded word says what something is, so that with an article it
// may stand for a name: "the company".
func kind(word string) bool {
	switch word {
	case "company", "corporation", "bank", "university", "college", "school", "institute", "group", "party", "government", "ministry",
		"department", "agency", "council", "committee", "commission", "office", "association", "society", "foundation", "organization", "organisation", "union",
		"federation", "city", "town", "county", "state", "states", "country", "street", "river", "house", "church", "hospital",
		"museum", "president", "minister", "director", "man", "woman", "firm", "system", "project",
		"universität", "universitat", "firma", "unternehmen", "gruppe", "gesellschaft", "ministerium", "stadt", "université", "universite", "banque", "société",
		"societe", "groupe", "entreprise", "ville", "universidad", "banco", "empresa", "grupo", "ciudad", "università", "universita", "banca", "gruppo",
		"компания", "банк", "университет", "город", "شركة", "جامعة", "بنك", "مدينة":
		return true
	}
	return false
}

// article reports whether a folded word says of the next one that it is known.
func article(word string) bool {
	switch word {
	case "the", "this", "that", "its", "their", "his", "her", "der", "die", "das", "den", "dem", "des", "het", "le", "la", "l", "il", "lo", "el":
		return true
	}
	return false
}

// withoutForm is a folded name without the legal form at its end.
func withoutForm(folded string) string {
	words := strings.Fields(folded)
	for len(words) > 1 && function(strings.Trim(words[len(words)-1], ".,")) {
		words = words[:len(words)-1]
	}
	return strings.TrimRight(strings.Join(words, " "), ",")
}

// withoutSuffix is a name in a script without spaces less its legal form or what a place is,
// if two characters are left, or the branch of a firm, if three are: 東京電機 is more than
// Tokyo.
func withoutSuffix(name string) string {
	for _, suffix := range []string{
		"株式会社", "有限公司", "公司", "集团", "集團", "会社", "회사", "그룹", "省", "市", "县", "県", "州", "都", "府",
	} {
		if own, ok := strings.CutSuffix(name, suffix); ok && utf8.RuneCountInString(own) >= 2 {
			return own
		}
	}
	for _, branch := range []string{"自動車", "工業", "電機", "電器", "製薬", "製作所"} {
		if own, ok := strings.CutSuffix(name, branch); ok && utf8.RuneCountInString(own) >= 3 {
			return own
		}
	}
	return name
}
