package tagger

import (
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction/offline/internal/prose"
)

// agree gives a name the same type everywhere in the text: the one that its
// mentions are surest of together. A single word that is the first or last
// word of a person's full name counts with that person.
func agree(text string, sentences []prose.Sentence, found [][]Mention) {
	votes := map[string]*[numTypes]int{}
	each := func(visit func(name string, m *Mention)) {
		for i := range found {
			for j := range found[i] {
				m := &found[i][j]
				visit(m.Text(text, sentences[i]), m)
			}
		}
	}
	vote := func(name string, t Type, weight int) {
		if votes[name] == nil {
			votes[name] = &[numTypes]int{}
		}
		votes[name][t] += max(weight, 1)
	}
	each(func(name string, m *Mention) { vote(name, m.Type, m.Margin) })
	each(func(name string, m *Mention) {
		if m.Type != Person || m.To-m.From < 2 {
			return
		}
		for _, part := range []string{name[:strings.IndexByte(name+" ", ' ')], name[strings.LastIndexByte(name, ' ')+1:]} {
			if votes[part] != nil {
				vote(part, Person, m.Margin)
			}
		}
	})
	each(func(name string, m *Mention) {
		for t, v := range votes[name] {
			if v > votes[name][m.Type] {
				m.Type = Type(t)
			}
		}
	})
}

// Text returns the mention as the text has it.
func (m Mention) Text(text string, s prose.Sentence) string {
	return text[s.Tokens[m.From].Start:s.Tokens[m.To-1].End]
}
