package openai

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// answer is a chat completion as far as it matters. Everything is read raw, so
// that an odd value in one field cannot cost the others.
type answer struct {
	Error   json.RawMessage `json:"error"`
	Choices json.RawMessage `json:"choices"`
	Usage   json.RawMessage `json:"usage"`
}

type choice struct {
	Error        json.RawMessage `json:"error"` // some gateways put it here
	FinishReason json.RawMessage `json:"finish_reason"`
	Message      struct {
		Content      json.RawMessage `json:"content"`
		Refusal      json.RawMessage `json:"refusal"`
		ToolCalls    json.RawMessage `json:"tool_calls"`
		FunctionCall json.RawMessage `json:"function_call"`
		Reasoning1   json.RawMessage `json:"reasoning_content"`
		Reasoning2   json.RawMessage `json:"reasoning"`
	} `json:"message"`
}

// read takes the completion out of a successful response, or says why there is
// none. The order of the checks matters: a refusal and a cut come with content,
// too.
func (p *Provider) read(body []byte, req extraction.Request) (extraction.Completion, *extraction.ProviderError) {
	none := func(kind extraction.Kind, detail string) (extraction.Completion, *extraction.ProviderError) {
		return extraction.Completion{}, &extraction.ProviderError{Kind: kind, Detail: p.redactor.detail(detail, req.Text)}
	}
	body = trimBody(body)
	var a answer
	if err := json.Unmarshal(body, &a); err != nil || isNull(body) {
		return none(extraction.KindUnavailable, "success status with "+sortOf(body)+" instead of a completion")
	}
	if saysError(a.Error) {
		e := parseErrorBody(body)
		kind, known := kindOfCode(e)
		if !known {
			kind = extraction.KindUnavailable
		}
		return none(kind, "success status with an error: "+e.describe(len(body)))
	}
	if isNull(a.Choices) {
		return none(extraction.KindUnavailable, "success status with "+parseErrorBody(body).describe(len(body)))
	}
	var choices []choice
	if err := json.Unmarshal(a.Choices, &choices); err != nil {
		return none(extraction.KindMalformed, "choices are not of the API's shape")
	}
	if len(choices) == 0 {
		return none(extraction.KindEmpty, "no choices")
	}
	c := choices[0]
	if saysError(c.Error) {
		return none(extraction.KindUnavailable, "the choice is an error: "+errorFields(c.Error, maxErrorDepth).describe(len(c.Error)))
	}
	finish := text(c.FinishReason)
	content, shape := contentText(c.Message.Content)
	called := !isEmptyList(c.Message.ToolCalls) || !isNull(c.Message.FunctionCall)

	failed := func(kind extraction.Kind, detail string) (extraction.Completion, *extraction.ProviderError) {
		_, err := none(kind, detail)
		err.FinishReason = finish
		if kind == extraction.KindMalformed {
			err.Schema = req.Schema.Name
		}
		return extraction.Completion{}, err
	}
	if refusal := text(c.Message.Refusal); refusal != "" {
		return failed(extraction.KindRefused, "the model refused: "+refusal)
	}
	switch strings.ToLower(finish) {
	case "length", "max_tokens", "model_length":
		return failed(extraction.KindTruncated, "the answer was cut: allow more tokens or use smaller chunks")
	case "content_filter":
		return failed(extraction.KindRefused, "the server's content filter stepped in")
	case "tool_calls", "function_call":
		return failed(extraction.KindMalformed, "the model called a tool instead of answering")
	case "error", "abort", "insufficient_system_resource":
		return failed(extraction.KindUnavailable, "the server gave up: finish_reason "+finish)
	}
	switch {
	case shape != nil:
		return failed(extraction.KindMalformed, "content is neither a text nor a list of texts")
	case strings.TrimSpace(content) != "":
	case called:
		return failed(extraction.KindMalformed, "the model called a tool instead of answering")
	case text(c.Message.Reasoning1) != "" || text(c.Message.Reasoning2) != "":
		return failed(extraction.KindEmpty, "no content, only reasoning: turn thinking off or allow more tokens")
	default:
		return failed(extraction.KindEmpty, "no content")
	}

	usage := readUsage(a.Usage)
	if p.cutsPrompts(req, usage.PromptTokens) {
		return failed(extraction.KindContextTooLong, "the server read only a part of the prompt: its context is too small")
	}
	return extraction.Completion{Content: content, FinishReason: finish, Usage: usage}, nil
}

// contentText is a message's content: a text, or the texts of its parts.
func contentText(raw json.RawMessage) (string, error) {
	if isNull(raw) {
		return "", nil
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s, nil
	}
	var parts []struct {
		Type string          `json:"type"`
		Text json.RawMessage `json:"text"`
	}
	if err := json.Unmarshal(raw, &parts); err != nil {
		return "", err
	}
	var all strings.Builder
	for _, part := range parts {
		switch part.Type {
		case "text", "output_text", "":
			all.WriteString(text(part.Text))
		}
	}
	return all.String(), nil
}

// readUsage believes only whole, plausible numbers.
func readUsage(raw json.RawMessage) extraction.Usage {
	var usage struct {
		Prompt     json.RawMessage `json:"prompt_tokens"`
		Completion json.RawMessage `json:"completion_tokens"`
	}
	if json.Unmarshal(raw, &usage) != nil {
		return extraction.Usage{}
	}
	return extraction.Usage{PromptTokens: tokenCount(usage.Prompt), CompletionTokens: tokenCount(usage.Completion)}
}

// tokenCount is 0 for what cannot be a count.
func tokenCount(raw json.RawMessage) int64 {
	const absurd = 1e9
	var n float64
	if json.Unmarshal(raw, &n) != nil || n < 0 || n > absurd || n != math.Trunc(n) {
		return 0
	}
	return int64(n)
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// saysError reports whether an error field holds an error: some servers send it
// empty with every answer.
func saysError(raw []byte) bool {
	switch string(raw) {
	case "", "null", `""`, "{}", "[]", "false":
		return false
	}
	return true
}

func isEmptyList(raw []byte) bool {
	return isNull(raw) || len(bytes.Trim(raw, "[] \t\r\n")) == 0
}

// sortOf names what a body is that is no JSON object.
func sortOf(body []byte) string {
	switch {
	case len(body) == 0:
		return "an empty body"
	case isHTML(body):
		return parseErrorBody(body).Message
	case bytes.HasPrefix(body, []byte("data:")):
		return "an event stream"
	case json.Valid(body):
		return "JSON that is no object"
	case body[0] == '{':
		return "broken JSON"
	default:
		return "something that is not JSON"
	}
}
