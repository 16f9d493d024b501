package extraction

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// field is a string of a row and where it goes.
type field struct {
	key string
	to  *string
}

// row reads the fields and the confidence of one row. It reports whether the row
// is usable: an object without a key twice, whose fields are strings; a field
// that is null or not there is empty.
func (p *parser) row(confidence **float64, fields ...field) bool {
	usable, scored := true, false
	var seen uint
	object := p.json.Members(func(key string) {
		if key == "confidence" {
			usable = usable && !scored
			scored = true
			*confidence = p.confidence()
			return
		}
		for i, f := range fields {
			if f.key != key {
				continue
			}
			if seen&(1<<i) != 0 {
				usable = false
			}
			seen |= 1 << i
			s, ok := p.json.Str()
			if !ok && p.json.Kind() != "null" {
				usable = false
			}
			*f.to = s
		}
	})
	return object && usable
}

// confidence reads a number from 0 to 1. Anything else is no confidence, and
// counted unless it is null: 95 may mean 0.95 or nothing at all.
func (p *parser) confidence() *float64 {
	raw := p.json.Value()
	if raw == "null" {
		return nil
	}
	v, err := strconv.ParseFloat(raw, 64)
	if err != nil || v < 0 || v > 1 {
		p.draft.Counters.Repaired++
		return nil
	}
	v += 0 // turns -0 into 0
	return &v
}

// usualRows is how many rows of a kind few answers exceed.
const usualRows = 16

func (p *parser) entity() {
	before := p.draft.Counters
	var e DraftEntity
	if p.row(&e.Confidence, field{"name", &e.Name}, field{"type", &e.Type},
		field{"description", &e.Description}, field{"quote", &e.Quote}) {
		e.Name = p.clip(e.Name, MaxNameRunes)
		e.Type = p.typ(e.Type)
		e.Description = p.clip(e.Description, MaxDescriptionRunes)
		if !blank(e.Name) && e.Type != "" {
			if p.draft.Entities == nil {
				p.draft.Entities = make([]DraftEntity, 0, usualRows)
			}
			p.draft.Entities = append(p.draft.Entities, e)
			return
		}
	}
	p.drop(before)
}

func (p *parser) relationship() {
	before := p.draft.Counters
	var r DraftRelationship
	if p.row(&r.Confidence, field{"source", &r.Source}, field{"target", &r.Target}, field{"type", &r.Type},
		field{"description", &r.Description}, field{"quote", &r.Quote}) {
		r.Source = p.clip(r.Source, MaxNameRunes)
		r.Target = p.clip(r.Target, MaxNameRunes)
		r.Type = p.typ(r.Type)
		r.Description = p.clip(r.Description, MaxDescriptionRunes)
		if !blank(r.Source) && !blank(r.Target) && r.Type != "" {
			if p.draft.Relationships == nil {
				p.draft.Relationships = make([]DraftRelationship, 0, usualRows)
			}
			p.draft.Relationships = append(p.draft.Relationships, r)
			return
		}
	}
	p.drop(before)
}

// drop counts a row that is left out, and forgets what was counted within it.
func (p *parser) drop(before Counters) {
	p.draft.Counters = before
	p.draft.Counters.Dropped++
}

func (p *parser) typ(s string) string {
	typ, clipped := normalizeType(s)
	if clipped {
		p.draft.Counters.Clipped++
	}
	return typ
}

// clip writes s on one line and cuts it to a number of runes.
func (p *parser) clip(s string, limit int) string {
	s = oneLine(s)
	if len(s) <= limit || utf8.RuneCountInString(s) <= limit {
		return s
	}
	p.draft.Counters.Clipped++
	return strings.TrimRightFunc(s[:skipRunes(s, 0, limit)], unicode.IsSpace)
}

// oneLine replaces control characters and runs of white space with one space.
func oneLine(s string) string {
	if tidy(s) {
		return s
	}
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r)
	}), " ")
}
