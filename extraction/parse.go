package extraction

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/internal/strictjson"
)

// Bounds of what a model may write, in runes. What is longer is cut and counted
// as clipped.
const (
	MaxNameRunes        = 256
	MaxDescriptionRunes = 1024
	MaxQuoteRunes       = 512
)

// Draft is a model's answer, row by row, before it is held against the text.
type Draft struct {
	Entities      []DraftEntity
	Relationships []DraftRelationship
	// Counters holds what reading the answer cost: Dropped, Clipped, Repaired.
	Counters Counters
}

// DraftEntity is an entity as the model wrote it.
type DraftEntity struct {
	Name, Type, Description, Quote string
	Confidence                     *float64
}

// DraftRelationship is a relationship as the model wrote it, between names.
type DraftRelationship struct {
	Source, Target, Type, Description, Quote string
	Confidence                               *float64
}

// Parse reads a model's answer. The answer is one JSON object with the arrays
// "entities" and "relationships"; both may be empty, which is a finding, but
// neither may be missing. Anything else (prose, a list, broken JSON) is a
// [*ProviderError] of [KindMalformed] with the schema's name and the cause, and
// no content at all is one of [KindEmpty]. White space around the answer is no departure.
//
// These departures are put right, each counted as repaired: a byte order mark; a
// leading block of reasoning up to the </think> that an answer follows; one code fence
// around the whole answer, whatever language it names; a confidence that is not a
// number from 0 to 1 is read as none. Nothing is salvaged from broken JSON. A row
// without a usable name or type, with a value of the wrong kind or with a key twice is
// dropped and counted; keys are matched exactly, and keys that were not asked for are
// ignored.
func Parse(content string) (Draft, error) {
	var p parser
	entities, relationships := "missing", "missing" // what is wrong with them
	list := func(fault *string, row func()) {
		switch {
		case *fault != "missing":
			*fault = "there twice"
		case p.json.Elements(row):
			*fault = ""
		default:
			*fault = p.json.Kind()
		}
	}
	err := p.read(content, func(key string) {
		switch key {
		case "entities":
			list(&entities, p.entity)
		case "relationships":
			list(&relationships, p.relationship)
		}
	})
	switch {
	case err != nil:
		return Draft{}, err
	case entities != "":
		return Draft{}, malformed("entities is "+entities, nil)
	case relationships != "":
		return Draft{}, malformed("relationships is "+relationships, nil)
	}
	return p.draft, nil
}

// parser collects the rows of one answer.
type parser struct {
	json  strictjson.Reader
	draft Draft
}

// read reads an answer, which must be one JSON object, and calls f with every key of it,
// see [strictjson.Reader.Members].
func (p *parser) read(content string, f func(key string)) error {
	answer, err := p.unwrap(content)
	if err != nil {
		return err
	}
	p.json = strictjson.Read(answer)
	kind := p.json.Kind()
	if !p.json.Members(f) {
		p.json.Value()
	}
	switch {
	case !p.json.Ended():
		return notJSON([]byte(answer))
	case kind != "an object":
		return malformed("the answer is "+kind+", not an object", nil)
	}
	return nil
}

// unwrap returns what an answer is without what may be around it.
func (p *parser) unwrap(content string) (string, error) {
	if !utf8.ValidString(content) {
		return "", malformed(fmt.Sprintf("the answer is not UTF-8 at byte %d", firstInvalid(content)), nil)
	}
	answer := strings.TrimSpace(content)
	if bare, marked := strings.CutPrefix(answer, "\uFEFF"); marked {
		p.draft.Counters.Repaired++
		answer = strings.TrimSpace(bare)
	}
	if answer == "" {
		return "", &ProviderError{Kind: KindEmpty, Detail: "the answer has no content"}
	}
	if answer[0] != '{' && answer[0] != '[' {
		if _, after, ok := strings.Cut(answer, "</think>"); ok {
			p.draft.Counters.Repaired++
			answer = strings.TrimSpace(after)
			for more := true; more && !opensAnswer(answer); { // it had spoken of the word before it said it
				if _, after, more = strings.Cut(answer, "</think>"); more {
					answer = strings.TrimSpace(after)
				}
			}
			if answer == "" {
				return "", &ProviderError{Kind: KindEmpty, Detail: "the answer has no content after its reasoning"}
			}
		}
	}
	if inner, ok := strings.CutPrefix(answer, "```"); ok {
		if inner, ok = strings.CutSuffix(inner, "```"); ok {
			p.draft.Counters.Repaired++
			answer = strings.TrimSpace(withoutTag(inner))
		}
	}
	return answer, nil
}

// withoutTag drops the word that says in which language the code of a fence is: models
// call an answer json, JSON5, jsonc or js.
func withoutTag(code string) string {
	end := strings.IndexFunc(code, func(r rune) bool { return r == '{' || r == '[' || unicode.IsSpace(r) })
	return code[max(end, 0):]
}

// opensAnswer reports whether what follows reasoning begins like an answer.
func opensAnswer(s string) bool {
	return strings.HasPrefix(s, "{") || strings.HasPrefix(s, "[") || strings.HasPrefix(s, "```")
}

// notJSON says where an answer stops being JSON.
func notJSON(raw []byte) error {
	var v json.RawMessage
	err := json.Unmarshal(raw, &v)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		return malformed("the answer is not JSON", err)
	}
	if syntax.Offset <= 1 && len(raw) > 0 && raw[0] != '{' && raw[0] != '[' {
		return malformed("the answer is prose, not JSON", err)
	}
	return malformed(fmt.Sprintf("the answer is broken JSON at byte %d of %d", syntax.Offset, len(raw)), err)
}

func malformed(detail string, cause error) error {
	return &ProviderError{Kind: KindMalformed, Schema: SchemaName, Detail: detail, Err: cause}
}
