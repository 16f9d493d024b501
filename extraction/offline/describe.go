package offline

import "strings"

// describe says what the text says of an entity: "English mathematician" from
// "X was an English mathematician.", or else the sentence that names it first.
func (f *findings) describe(e entity) string {
	s := f.sentences[e.sentence]
	for _, at := range e.spots {
		if d := f.definition(at.sentence, at.place); d != "" {
			return d
		}
	}
	return oneLine(visible(f.text, s.Tokens), longestDescription)
}

var (
	copulas  = wordSet("is was are were")
	articles = wordSet("a an the one")
)

// definition reads the noun phrase after "is a" that follows a mention, over a
// bracket if there is one.
func (f *findings) definition(sentence int, pl place) string {
	s := f.sentences[sentence]
	word := func(i int) string {
		if i >= len(s.Tokens) || s.Tokens[i].Opaque {
			return ""
		}
		return f.text[s.Tokens[i].Start:s.Tokens[i].End]
	}
	// "whoever has X is a client" says nothing of X: it must open the sentence.
	if pl.from > 1 || pl.from == 1 && !articles[strings.ToLower(word(0))] {
		return ""
	}
	i := pl.to
	if word(i) == "(" {
		for i < len(s.Tokens) && word(i) != ")" {
			i++
		}
		i++
	}
	if !copulas[word(i)] || !articles[word(i+1)] {
		return ""
	}
	start := i + 1
	if articles := word(start); articles == "a" || articles == "an" {
		start++
	}
	end := start
	for end < len(s.Tokens) && !strings.Contains(".;", word(end)) {
		end++
	}
	if end-start < 1 {
		return ""
	}
	return oneLine(visible(f.text, s.Tokens[start:end]), longestDescription)
}
