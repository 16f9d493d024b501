package offline

import (
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/tagger"
)

// findings is what was found in one text.
type findings struct {
	text      string
	sentences []prose.Sentence
	places    [][]place // per sentence, in order
	entities  []entity
	relations []relation
}

// place is one mention of an entity: tokens from..to of its sentence, and an
// index into entities, or -1 for a mention that is not kept.
type place struct {
	from, to int
	entity   int
	pronoun  bool // "he" or "she" stands there
}

// entity is one name with everything its mentions say together.
type entity struct {
	name       string
	kind       tagger.Type
	confidence float64
	mentions   int
	running    bool // found in running text, not only in titles
	sentence   int  // of the first mention in running text, else of the first
	place      place
	spots      []spot // the first few mentions in running text
	adjective  bool   // Polish: what follows it is what the sentence speaks of
	gone       bool   // left out of the answer
}

// spot is where a mention stands.
type spot struct {
	sentence int
	place    place
}

// mostSpots bounds how many mentions of a name are searched for what it is.
const mostSpots = 8

// collect makes entities of the mentions: one for each name.
func (f *findings) collect(tagged [][]tagger.Mention) {
	byName := map[string]int{}
	f.places = make([][]place, len(f.sentences))
	for i, mentions := range tagged {
		s := f.sentences[i]
		for _, m := range mentions {
			if m.Type == tagger.Number {
				continue
			}
			pl := place{from: m.From, to: m.To}
			f.trim(s, &pl)
			f.trimOpening(s, &pl)
			name := f.nameOf(s, pl)
			if !plausible(name, m.Type) {
				continue
			}
			n, known := byName[name]
			if !known {
				n = len(f.entities)
				byName[name] = n
				f.entities = append(f.entities, entity{name: name, kind: m.Type, sentence: i, place: pl})
			}
			pl.entity = n
			e := &f.entities[n]
			e.mentions++
			e.confidence = max(e.confidence, confidence(m.Margin))
			if !s.Title && !e.running {
				e.running, e.sentence, e.place = true, i, pl
			}
			if !s.Title && len(e.spots) < mostSpots {
				e.spots = append(e.spots, spot{i, pl})
			}
			f.places[i] = append(f.places[i], pl)
		}
	}
}

// trim takes quotes, brackets and dashes off the edges of a mention.
func (f *findings) trim(s prose.Sentence, pl *place) {
	edge := func(t prose.Token) bool {
		return t.Opaque || strings.ContainsAny(f.text[t.Start:t.End], "\"“”'‘’()[]{}-–—,;:!?*/") && t.End-t.Start <= 3
	}
	for pl.from < pl.to && edge(s.Tokens[pl.from]) {
		pl.from++
	}
	for pl.to > pl.from && edge(s.Tokens[pl.to-1]) {
		pl.to--
	}
}

// openers start sentences and no names.
var openers = wordSet(`after although and as at because before but by during earlier finally for from here how however if in indeed instead
	later meanwhile moreover nevertheless now on once originally perhaps recently since so soon sometimes still then there therefore though thus
	today tomorrow unlike until when whenever where while why with yesterday yet`)

// trimOpening takes such a word off a name: "Later Babbage met" names Babbage.
func (f *findings) trimOpening(s prose.Sentence, pl *place) {
	if pl.from > 0 || pl.to-pl.from < 2 {
		return
	}
	word := func(i int) string { return f.text[s.Tokens[i].Start:s.Tokens[i].End] }
	if second := word(1); openers[strings.ToLower(word(0))] && second[0] >= 'A' && second[0] <= 'Z' {
		pl.from++
	}
}

// nameOf is the mention's text without the markup and line breaks inside it.
func (f *findings) nameOf(s prose.Sentence, pl place) string {
	if pl.from >= pl.to {
		return ""
	}
	tokens := s.Tokens[pl.from:pl.to]
	whole := f.text[tokens[0].Start:tokens[len(tokens)-1].End]
	if !strings.ContainsAny(whole, "\n\r\t*`_[]<>") {
		return whole
	}
	return visible(f.text, tokens)
}

// visible is what a reader sees of some tokens: without the markup and line
// breaks between them.
func visible(text string, tokens []prose.Token) string {
	var b strings.Builder
	for i, t := range tokens {
		if i > 0 && strings.ContainsAny(text[tokens[i-1].End:t.Start], " \n\t") {
			b.WriteByte(' ')
		}
		b.WriteString(text[t.Start:t.End])
	}
	return b.String()
}

// drop takes the places of entities that are gone out of the sentences.
func (f *findings) drop() {
	for i, places := range f.places {
		kept := places[:0]
		for _, pl := range places {
			if !f.entities[pl.entity].gone {
				kept = append(kept, pl)
			}
		}
		f.places[i] = kept
	}
}

// mergeShortNames lets a single word stand for the full name of a person that
// starts or ends with it, when there is exactly one such person in the text.
func (f *findings) mergeShortNames() {
	full := map[string]int{}
	for i, e := range f.entities {
		if e.gone || e.kind != tagger.Person {
			continue
		}
		if first, _, many := strings.Cut(e.name, " "); many {
			for _, part := range []string{first, e.name[strings.LastIndexByte(e.name, ' ')+1:]} {
				if other, taken := full[part]; taken && other != i {
					full[part] = -1
				} else {
					full[part] = i
				}
			}
		}
	}
	into := map[int]int{}
	for i := range f.entities {
		e := &f.entities[i]
		if n, ok := full[e.name]; ok && n >= 0 && e.kind == tagger.Person && !e.gone {
			whole := &f.entities[n]
			whole.mentions += e.mentions
			whole.confidence = max(whole.confidence, e.confidence)
			e.gone = true
			into[i] = n
		}
	}
	for i := range f.places {
		for j := range f.places[i] {
			if n, ok := into[f.places[i][j].entity]; ok {
				f.places[i][j].entity = n
			}
		}
	}
}
