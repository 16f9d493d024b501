package offline

import (
	"regexp"
	"strings"
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
)

// longestName bounds names, in bytes: what is longer is a run-on, not a name.
const longestName = 120

// datelike is a year, a month, a weekday or a century.
var datelike = regexp.MustCompile(`\b1[0-9]{3}s?\b|\b20[0-9]{2}s?\b|[Cc]entury|\bBC|\bAD\b|\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)[a-z]*\b`)

// plausible reports whether a string can be the name of a thing of the type.
func plausible(name string, t tagger.Type) bool {
	letters, upper := 0, 0
	for _, r := range name {
		switch {
		case unicode.IsUpper(r):
			upper++
			letters++
		case unicode.IsLetter(r):
			letters++
		}
	}
	switch {
	case len(name) > longestName:
		return false
	case t == tagger.Date:
		return datelike.MatchString(name)
	case letters < 2 || upper == 0:
		return false
	case t == tagger.Person && strings.ContainsAny(name, "0123456789/"):
		return false
	}
	return true
}

// keep leaves out what is probably not a name: too unsure, seen only in titles
// and tables, where everything is capitalised, or an ordinary word or an
// identifier that happens to be capitalised.
func (f *findings) keep(model *tagger.Model, least float64) {
	technical := f.isTechnical()
	for i := range f.entities {
		e := &f.entities[i]
		e.adjective = model.IsDemonym(strings.ToLower(e.name))
		switch {
		case e.confidence < least:
			e.gone = true
		case !e.running:
			e.gone = e.confidence < surelyNamed || !strings.Contains(e.name, " ")
		case e.kind == tagger.Date:
			// "1000 messages": a bare number is rarely a year there.
			e.gone = technical && e.confidence < surelyNamed && strings.Trim(e.name, "0123456789") == ""
		default:
			e.gone = isOrdinary(model, e, technical)
		}
	}
	f.drop()
}

// isOrdinary reports a name that the tagger is not sure of and that looks like
// a common word, an identifier or an abbreviation of no one thing.
func isOrdinary(model *tagger.Model, e *entity, technical bool) bool {
	words := strings.FieldsFunc(e.name, func(r rune) bool { return r == ' ' || r == '-' || r == '/' })
	common, capitals, camel, listed := 0, 0, 0, 0
	for i, w := range words {
		low := strings.ToLower(w)
		if len(words) == 1 && model.IsAcronym(low) {
			return true
		}
		if model.IsCommon(low) || unicode.IsDigit(rune(w[0])) {
			common++
		}
		if i > 0 && unicode.IsUpper([]rune(w)[0]) {
			capitals++
		}
		if model.IsListed(low) {
			listed++
		} else if isCamel(w) {
			camel++
		}
	}
	switch {
	case e.confidence >= surelyNamed || listed > 0:
		return false
	case common == len(words) && capitals == 0 && (technical || opensEverySentence(e)):
		return true
	case camel > 0 && (technical || e.kind == tagger.Person || e.kind == tagger.Location):
		return true
	}
	return technical && len(words) == 1 && e.confidence < 0.5
}

// opensEverySentence reports a name whose capital may just be a sentence's.
func opensEverySentence(e *entity) bool {
	for _, at := range e.spots {
		if at.place.from > 0 {
			return false
		}
	}
	return true
}

// isCamel reports MaxConsumers and RateLimiter, but not McDonald or MacArthur.
func isCamel(w string) bool {
	w = strings.TrimPrefix(strings.TrimPrefix(w, "Mac"), "Mc")
	for i := 1; i < len(w); i++ {
		if unicode.IsUpper(rune(w[i])) && unicode.IsLower(rune(w[i-1])) {
			return true
		}
	}
	return false
}

// oftenCode is the number of tokens among which a technical text has one of
// code, a path or an identifier.
const oftenCode = 50

func (f *findings) isTechnical() bool {
	tokens, opaque := 0, 0
	for _, s := range f.sentences {
		tokens += len(s.Tokens)
		for _, t := range s.Tokens {
			if t.Opaque {
				opaque++
			} else if isCamel(f.text[t.Start:min(t.End, t.Start+64)]) {
				opaque++
			}
		}
	}
	return opaque > 3 && opaque*oftenCode > tokens
}
