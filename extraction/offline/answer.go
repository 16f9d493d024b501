package offline

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// The JSON that models are asked for.
type (
	answerJSON struct {
		Entities      []entityJSON   `json:"entities"`
		Relationships []relationJSON `json:"relationships"`
	}
	entityJSON struct {
		Name        string  `json:"name"`
		Type        string  `json:"type"`
		Description string  `json:"description"`
		Confidence  float64 `json:"confidence"`
		Quote       string  `json:"quote"`
	}
	relationJSON struct {
		Source      string  `json:"source"`
		Target      string  `json:"target"`
		Type        string  `json:"type"`
		Description string  `json:"description"`
		Confidence  float64 `json:"confidence"`
		Quote       string  `json:"quote"`
	}
)

func (f *findings) answer() (string, error) {
	a := answerJSON{Entities: []entityJSON{}, Relationships: []relationJSON{}}
	for _, e := range f.entities {
		if e.gone {
			continue
		}
		s := f.sentences[e.sentence]
		from, to := s.Tokens[e.place.from].Start, s.Tokens[e.place.to-1].End
		a.Entities = append(a.Entities, entityJSON{
			Name: e.name, Type: e.kind.String(), Description: f.describe(e), Confidence: e.confidence, Quote: f.quote(e.sentence, from, to),
		})
	}
	for _, r := range f.relations {
		s := f.sentences[r.sentence]
		from, to := s.Tokens[r.from].Start, s.Tokens[r.to-1].End
		a.Relationships = append(a.Relationships, relationJSON{
			Source: f.entities[r.source].name, Target: f.entities[r.target].name, Type: r.kind,
			Description: oneLine(visible(f.text, s.Tokens[r.from:r.to]), longestDescription), Confidence: r.confidence, Quote: f.quote(r.sentence, from, to),
		})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(a); err != nil {
		return "", err
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// Bounds of quotes and descriptions, in bytes.
const (
	longestQuote       = 400
	longestDescription = 240
)

// quote returns the sentence around text[from:to], verbatim; of a very long
// sentence the part around that range, cut at spaces.
func (f *findings) quote(sentence, from, to int) string {
	s := f.sentences[sentence]
	start, end := s.Start(), s.End()
	if end-start <= longestQuote {
		return f.text[start:end]
	}
	room := max(longestQuote-(to-from), 0)
	if from-start > room/2 {
		if at := strings.IndexByte(f.text[from-room/2:from], ' '); at >= 0 {
			start = from - room/2 + at + 1
		} else {
			start = from
		}
	}
	if limit := min(start+max(longestQuote, to-start), end); limit < end {
		if at := strings.LastIndexByte(f.text[to:limit], ' '); at >= 0 {
			end = to + at
		} else {
			end = to
		}
	}
	return f.text[start:end]
}

// oneLine joins white space and cuts at a word when the text is too long.
func oneLine(s string, limit int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= limit {
		return s
	}
	cut := limit
	for cut > 0 && !utf8.RuneStart(s[cut]) {
		cut--
	}
	if at := strings.LastIndexByte(s[:cut], ' '); at > limit/2 {
		cut = at
	}
	return s[:cut] + " …"
}
