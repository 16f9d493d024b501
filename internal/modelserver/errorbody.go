package modelserver

import (
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strings"
)

// Style is the shape of an error body. Real servers differ.
type Style string

const (
	StyleOpenAI     Style = "openai"      // {"error":{"message","type","param","code":"string"}}
	StyleVLLM       Style = "vllm"        // the same with a numeric code
	StyleFlat       Style = "flat"        // {"object":"error","message","type","code"}: older vLLM
	StyleDetail     Style = "detail"      // {"detail":"message"}: FastAPI
	StyleDetailList Style = "detail_list" // {"detail":[{"loc","msg","type"}]}: FastAPI validation
	StyleString     Style = "string"      // {"error":"message"}: Ollama
	StyleMap        Style = "map"         // like openai, with an object as code
	StyleHTML       Style = "html"        // a proxy's page
	StyleText       Style = "text"        // the bare message
	StyleEmpty      Style = "empty"       // no body
)

// Styles lists every style.
func Styles() []Style {
	return []Style{
		StyleOpenAI, StyleVLLM, StyleFlat, StyleDetail, StyleDetailList, StyleString, StyleMap,
		StyleHTML, StyleText, StyleEmpty,
	}
}

// ErrorBody is an error as a server words it. In Message, {key} stands for the
// API key that the request carried, {text} for the last user message and
// {model} for the model: servers do echo them.
type ErrorBody struct {
	Style   Style  `json:"style"` // "" = openai
	Code    string `json:"code,omitempty"`
	Type    string `json:"type,omitempty"`
	Message string `json:"message,omitempty"`
}

func (e ErrorBody) render(status int, req Request) (contentType, body string) {
	const asJSON = "application/json"
	message := req.expand(e.Message)
	if message == "" {
		message = http.StatusText(status)
	}
	typ := e.Type
	if typ == "" {
		typ = "invalid_request_error"
		if status >= http.StatusInternalServerError {
			typ = "server_error"
		}
	}
	var code any
	if e.Code != "" {
		code = e.Code
	}
	wrapped := func(code any) string {
		return encode(map[string]any{"error": map[string]any{"message": message, "type": typ, "param": nil, "code": code}})
	}
	switch e.Style {
	case StyleVLLM:
		return asJSON, wrapped(status)
	case StyleMap:
		return asJSON, wrapped(map[string]any{"name": e.Code})
	case StyleFlat:
		return asJSON, encode(map[string]any{"object": "error", "message": message, "type": typ, "param": nil, "code": status})
	case StyleDetail:
		return asJSON, encode(map[string]any{"detail": message})
	case StyleDetailList:
		row := map[string]any{"loc": []string{"body", "messages"}, "msg": message, "type": typ}
		return asJSON, encode(map[string]any{"detail": []any{row}})
	case StyleString:
		return asJSON, encode(map[string]any{"error": message})
	case StyleHTML:
		return "text/html", fmt.Sprintf("<html><head><title>%d</title></head><body><h1>%s</h1>%s</body></html>",
			status, html.EscapeString(message), strings.Repeat("<p>proxy</p>", 200))
	case StyleText:
		return "text/plain", message
	case StyleEmpty:
		return "text/plain", ""
	default:
		return asJSON, wrapped(code)
	}
}

func encode(v any) string {
	body, err := json.Marshal(v)
	if err != nil { // only maps and strings come here
		return fmt.Sprintf(`{"error":{"message":%q}}`, err.Error())
	}
	return string(body)
}
