package openai

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// errorBody is what an error response says, whatever its shape. Absent parts
// are empty.
type errorBody struct {
	Message string
	Type    string
	Code    string // a string or a number in the JSON
	Param   string
	Reason  string // of the first of the details that has one (Gemini)
	Flagged bool   // by a moderator, who says why (OpenRouter)
}

// maxErrorDepth bounds how deep a message may lie: {"detail":{"error":{...}}}.
const maxErrorDepth = 4

// parseErrorBody reads the shapes that servers use: OpenAI's, vLLM's flat one,
// FastAPI's detail, Ollama's bare string, Gemini's list, HTML and plain text.
func parseErrorBody(body []byte) errorBody {
	body = firstEvent(trimBody(body))
	switch {
	case len(body) == 0:
		return errorBody{}
	case isHTML(body):
		return errorBody{Message: "an HTML page" + htmlTitle(body)}
	case json.Valid(body):
		return errorFields(body, maxErrorDepth)
	case body[0] == '{' || body[0] == '[':
		return errorBody{Message: "broken JSON"}
	default:
		return errorBody{Message: strings.ToValidUTF8(string(body), "?")}
	}
}

func errorFields(raw json.RawMessage, depth int) errorBody {
	raw = bytes.TrimSpace(raw)
	if depth == 0 || len(raw) == 0 {
		return errorBody{}
	}
	switch raw[0] {
	case '"':
		return errorBody{Message: plain(raw)}
	case '[': // of a list, the first that says something
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return errorBody{}
		}
		for _, item := range list {
			if e := errorFields(item, depth-1); e.Message != "" {
				return e
			}
		}
		return errorBody{}
	case '{':
	default:
		return errorBody{}
	}

	var object struct {
		Error   json.RawMessage `json:"error"`
		Detail  json.RawMessage `json:"detail"`
		Message json.RawMessage `json:"message"`
		Msg     json.RawMessage `json:"msg"`
		Type    json.RawMessage `json:"type"`
		Code    json.RawMessage `json:"code"`
		Param   json.RawMessage `json:"param"`
		Loc     []any           `json:"loc"` // FastAPI: the path to the field
		Details json.RawMessage `json:"details"`
		// OpenRouter: what the moderation of a model's host objects to
		Metadata json.RawMessage `json:"metadata"`
	}
	if json.Unmarshal(raw, &object) != nil {
		return errorBody{}
	}
	e := errorBody{Type: plain(object.Type), Code: plain(object.Code), Param: plain(object.Param), Reason: reason(object.Details), Flagged: flagged(object.Metadata)}
	for _, candidate := range []json.RawMessage{object.Error, object.Message, object.Msg, object.Detail} {
		inner := errorFields(candidate, depth-1)
		if inner.Message == "" && inner.Code == "" && inner.Type == "" {
			continue
		}
		e.Message, e.Flagged = inner.Message, e.Flagged || inner.Flagged
		for _, f := range []struct{ outer, inner *string }{
			{&e.Type, &inner.Type}, {&e.Code, &inner.Code}, {&e.Param, &inner.Param}, {&e.Reason, &inner.Reason},
		} {
			if *f.inner != "" { // the inner error is the one meant
				*f.outer = *f.inner
			}
		}
		break
	}
	if len(object.Loc) > 0 && e.Param == "" {
		path := make([]string, 0, len(object.Loc))
		for _, step := range object.Loc {
			path = append(path, fmt.Sprint(step))
		}
		e.Param = strings.TrimPrefix(strings.Join(path, "."), "body.")
	}
	return e
}

// flagged reports whether metadata of an error gives reasons of a moderation.
func flagged(raw json.RawMessage) bool {
	var metadata struct {
		Reasons []any  `json:"reasons"`
		Input   string `json:"flagged_input"`
	}
	return json.Unmarshal(raw, &metadata) == nil && (len(metadata.Reasons) > 0 || metadata.Input != "")
}

// reason is the first reason that details give.
func reason(raw json.RawMessage) string {
	var details []json.RawMessage
	if json.Unmarshal(raw, &details) != nil {
		return ""
	}
	for _, d := range details {
		var detail struct {
			Reason json.RawMessage `json:"reason"`
		}
		if json.Unmarshal(d, &detail) == nil && plain(detail.Reason) != "" {
			return plain(detail.Reason)
		}
	}
	return ""
}

// plain is a JSON string or number as text, and "" for anything else.
func plain(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// describe is the error in one line, before it is bounded and redacted.
func (e errorBody) describe(size int) string {
	parts := make([]string, 0, 3)
	if e.Message != "" {
		parts = append(parts, e.Message)
	}
	if e.Code != "" {
		parts = append(parts, "code "+e.Code)
	}
	if e.Param != "" {
		parts = append(parts, "parameter "+e.Param)
	}
	if len(parts) == 0 {
		return fmt.Sprintf("an error body of %d bytes without a message", size)
	}
	return strings.Join(parts, ", ")
}

// htmlTitle is ": title" of a page that has one near its start.
func htmlTitle(page []byte) string {
	head := strings.ToValidUTF8(string(page[:min(len(page), maxHiddenBytes)]), "?")
	_, rest, opened := strings.Cut(head, "<title>")
	title, _, closed := strings.Cut(rest, "</title>")
	if title = strings.TrimSpace(title); !opened || !closed || title == "" {
		return ""
	}
	return ": " + title
}

func isHTML(body []byte) bool { return len(body) > 0 && body[0] == '<' }

// trimBody removes space and a byte order mark.
func trimBody(body []byte) []byte { return bytes.TrimSpace(trimStart(body)) }

// trimStart does so before the body only.
func trimStart(body []byte) []byte {
	const space = " \t\r\n"
	return bytes.TrimLeft(bytes.TrimPrefix(bytes.TrimLeft(body, space), []byte("\xef\xbb\xbf")), space)
}
