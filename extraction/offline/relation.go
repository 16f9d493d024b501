package offline

import (
	"slices"
	"strings"
	"unicode"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
)

// relation is a statement about two entities that stand in one sentence, in
// its tokens from..to.
type relation struct {
	source, target int
	kind           string
	confidence     float64
	sentence       int
	from, to       int
	apposition     bool // ", daughter of": the source goes on as the subject
}

// How sure a relation of each origin is: the share that the relations of test
// texts confirm (README.md, Relations). Those are far from complete, so these
// are low.
const (
	sureVerb    = 0.4
	sureRole    = 0.4
	sureWithin  = 0.7
	sureDate    = 0.9
	sureDetail  = 0.3
	sureListing = 0.3
	surePronoun = 0.3
)

// farthest is how many words may stand between two related names.
const farthest = 10

// relate finds the relations of a sentence, from each name to the next one.
func (f *findings) relate(sentence int) {
	if f.sentences[sentence].Title {
		return
	}
	places := f.withPronouns(sentence)
	var last *relation // the relation that the left name is the target of
	for i := 0; i+1 < len(places); i++ {
		a, b := places[i], places[i+1]
		between, ok := f.between(sentence, a.to, b.from)
		if !ok {
			last = nil
			continue
		}
		listed := i > 0 && isList(f.words(sentence, places[i-1].to, a.from)) || i+2 < len(places) && isEnumeration(f.words(sentence, b.to, places[i+2].from))
		r := f.link(a, b, between, last, listed)
		if r == nil {
			if !isList(between) {
				last = nil
			}
			continue
		}
		if a.pronoun {
			r.confidence = min(r.confidence, surePronoun)
		}
		r.sentence, r.from, r.to = sentence, min(a.from, r.from), b.to
		f.add(*r)
		last = r
	}
}

// add keeps a relation unless it is one of a thing with itself or known.
func (f *findings) add(r relation) {
	if r.source == r.target {
		return
	}
	for _, known := range f.relations[max(0, len(f.relations)-recent):] {
		if known.source == r.source && known.target == r.target && known.kind == r.kind {
			return
		}
	}
	f.relations = append(f.relations, r)
}

// recent bounds the search for a repeated relation; a repeat from far away is
// merged by the reader of the answer.
const recent = 200

// between returns the lower-cased words between two names, false when they are
// too many or end the clause.
func (f *findings) between(sentence, from, to int) ([]string, bool) {
	out := f.words(sentence, from, to)
	for _, w := range out {
		if breaksClause[w] {
			return nil, false
		}
	}
	return out, len(out) > 0
}

// words returns the lower-cased tokens from..to, nil when there are too many.
func (f *findings) words(sentence, from, to int) []string {
	if to-from > farthest || to <= from {
		return nil
	}
	var out []string
	for _, t := range f.sentences[sentence].Tokens[from:to] {
		w := "`"
		if !t.Opaque {
			w = strings.ToLower(f.text[t.Start:t.End])
		}
		out = append(out, w)
	}
	return out
}

var (
	// breaksClause: what follows is another statement, or not stated as true.
	breaksClause = wordSet(`) ; : . ! ? " “ ” not never no n't cannot without would could might may should if unless whether because although
		though while but or nor than like`)
	prepositions = wordSet("in at on of for by with from to into as against under near within during through over across inside between after before since until")
	fillers      = wordSet(`a an the was were is are be been being has have had who which that , his her its their also then later first both
		again once eventually currently formerly originally together soon`)
	pronouns = wordSet("him her them it his its their himself herself itself themselves")
	verbs    = verbForms()
	roles    = wordSet(roleNouns)
)

// link decides what the words between two neighbouring names say of them.
func (f *findings) link(a, b place, between []string, last *relation, listed bool) *relation {
	source, target := f.entities[a.entity], f.entities[b.entity]
	joined := strings.Join(between, " ")
	switch {
	case source.adjective || target.adjective:
		return nil // "dominated Italian cinema" says nothing of Italy
	case joined == "," && source.kind == tagger.Location && target.kind == tagger.Location && !listed:
		return &relation{source: a.entity, target: b.entity, kind: "located_in", confidence: sureWithin, from: a.from}
	case last != nil && isList(between) && f.entities[last.target].kind == target.kind && last.kind != "located_in":
		// "met Charles Babbage and Mary Somerville"
		return &relation{source: last.source, target: b.entity, kind: last.kind, confidence: sureListing, from: last.from}
	case last != nil && len(between) == 1 && prepositions[joined] && joined != "of" && verbs[firstWord(last.kind)] && isDetail(target.kind):
		// "met Charles Babbage in London": the detail is the meeting's
		return &relation{source: last.source, target: b.entity, kind: withoutPreposition(last.kind) + "_" + joined, confidence: sureDetail, from: last.from}
	}
	if source.kind == tagger.Date {
		return nil // "in 1943, ... used by": dates do nothing
	}
	if r := pattern(between); r != nil {
		r.source, r.target, r.from = a.entity, b.entity, a.from
		r.apposition = between[0] == "," && r.confidence == sureRole
		if last != nil && last.apposition && between[0] == "," {
			// "Tim Cook, chief of Apple, announced": he did, not Apple
			r.source, r.from = last.source, last.from
		}
		return r
	}
	return bare(source.kind, target.kind, joined, a, b)
}

func isDetail(t tagger.Type) bool {
	return t == tagger.Location || t == tagger.Date || t == tagger.Event || t == tagger.Organization
}

// withoutPreposition turns "elected_to" into "elected".
func withoutPreposition(kind string) string {
	if at := strings.LastIndexByte(kind, '_'); at > 0 && prepositions[kind[at+1:]] {
		return kind[:at]
	}
	return kind
}

func firstWord(kind string) string {
	word, _, _ := strings.Cut(kind, "_")
	return word
}

func isList(between []string) bool {
	switch strings.Join(between, " ") {
	case ",", "and", ", and", "and the", ", the", ", and the", "&":
		return true
	}
	return false
}

// isEnumeration reports that a list goes on to its last item.
func isEnumeration(between []string) bool {
	joined := strings.Join(between, " ")
	return joined == "and" || joined == ", and" || joined == "or"
}

// pattern reads a verb with its preposition ("was born in", "founded") or a
// role ("is the capital of", ", daughter of") out of the words between.
func pattern(between []string) *relation {
	verb := -1
	for i, w := range between {
		switch {
		case w == "'s" || w == "’s":
			return nil // "Robeson's friend from": the relation is the other's
		case roles[w] && i+1 < len(between) && prepositions[between[i+1]]:
			if slices.Contains(between[:i], "and") {
				return nil
			}
			return finish(between, i, sureRole)
		case verbs[w] && (verb < 0 || passive(between, i)):
			verb = i
		}
	}
	if verb < 0 {
		return nil
	}
	for _, w := range between[:verb] {
		if !fillers[w] && !strings.HasSuffix(w, "ly") {
			return nil
		}
	}
	return finish(between, verb, sureVerb)
}

// passive reports a participle after a form of be.
func passive(between []string, i int) bool {
	return i > 0 && (between[i-1] == "was" || between[i-1] == "is" || between[i-1] == "were" || between[i-1] == "been")
}

// finish builds the kind from the word at i and the preposition that leads to
// the second name. Other words after it make the statement about something
// that has no name, so only articles and short phrases may follow.
func finish(between []string, i int, confidence float64) *relation {
	kind, rest := between[i], between[i+1:]
	for n := len(rest); n > 0; n-- {
		if prepositions[rest[n-1]] {
			// Words between the verb and its preposition, "signed a contract
			// with", must not turn the statement round: "included songs by".
			if n > 4 || opensClause(rest[:n]) || n > 1 && (rest[n-1] == "by" || rest[n-1] == "of") {
				return nil
			}
			for _, w := range rest[:n] {
				if !isLetters(w) {
					return nil
				}
				if !articles[w] && !pronouns[w] {
					kind += "_" + w
				}
			}
			rest = rest[n:]
			break
		}
	}
	for _, w := range rest {
		if w == "," || w == "and" || w == "`" || verbs[w] {
			return nil
		}
	}
	if len(rest) > 3 {
		return nil
	}
	return &relation{kind: kind, confidence: confidence}
}

func isLetters(w string) bool {
	return strings.IndexFunc(w, func(r rune) bool { return !unicode.IsLetter(r) }) < 0
}

func opensClause(words []string) bool {
	for _, w := range words {
		switch w {
		case "that", "which", "who", "whom", "where", "when", "while", "what", "how", "why":
			return true
		}
	}
	return false
}

// bare reads a lone preposition or bracket between two names, where their
// types leave one meaning.
func bare(source, target tagger.Type, joined string, a, b place) *relation {
	r := &relation{source: a.entity, target: b.entity, confidence: sureWithin, from: a.from}
	joined = strings.TrimSuffix(joined, " the")
	switch {
	case target == tagger.Location && source != tagger.Date && source != tagger.Person && (joined == "in" || joined == "at" || joined == "near"):
		r.kind = "located_in"
	case source == tagger.Work && target == tagger.Person && joined == "by":
		r.kind = "created_by"
	case source == tagger.Person && (target == tagger.Organization || target == tagger.Location) && (joined == "of" || joined == "from" || joined == "at"):
		r.kind = joined
	case source == tagger.Work && target == tagger.Date && joined == "(":
		r.kind, r.confidence = "dated", sureDate
	case source == tagger.Person && target == tagger.Date && (joined == "( born" || joined == "( b."):
		r.kind, r.confidence = "born_on", sureDate
	default:
		return nil
	}
	return r
}
