package openai

import (
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// envelope is a chat completion, or one event of a streamed one, as far as it
// matters. Values of no type in particular are decoded in the same pass, and an odd
// one in one field cannot cost the others.
type envelope struct {
	Object  any      `json:"object"`
	Model   any      `json:"model"`
	Error   any      `json:"error"`
	Choices []choice `json:"choices"`
	Usage   *usage   `json:"usage"`
	Filter  any      `json:"prompt_filter_results"` // Azure
}

type choice struct {
	Index        any     `json:"index"`
	Error        any     `json:"error"` // some gateways put it here
	FinishReason any     `json:"finish_reason"`
	Message      message `json:"message"`
	Delta        message `json:"delta"` // of an event
}

type message struct {
	Content      any `json:"content"` // a text, or a list of parts
	Refusal      any `json:"refusal"`
	ToolCalls    any `json:"tool_calls"`
	FunctionCall any `json:"function_call"`
	Reasoning1   any `json:"reasoning_content"`
	Reasoning2   any `json:"reasoning"`
}

type usage struct {
	Prompt     any `json:"prompt_tokens"`
	Completion any `json:"completion_tokens"`
	Details    any `json:"prompt_tokens_details"`
}

// cached is how much of the prompt the server had read before, as far as it says so.
// Some servers leave it out of the prompt's tokens.
func (u *usage) cached() int64 {
	if u == nil {
		return 0
	}
	details, _ := u.Details.(map[string]any)
	return tokenCount(details["cached_tokens"])
}

func (m *message) called() bool {
	calls, list := m.ToolCalls.([]any)
	return list && len(calls) > 0 || !list && m.ToolCalls != nil || m.FunctionCall != nil
}

func (m *message) reasoned() bool { return text(m.Reasoning1) != "" || text(m.Reasoning2) != "" }

// reply is what a successful response says, whichever way it came.
type reply struct {
	fault    *fault // it is no completion
	content  string
	odd      bool // content is neither a text nor a list of texts
	refusal  string
	finish   string
	called   bool // a tool
	reasoned bool
	model    string // which one has answered, as the server says
	usage    extraction.Usage
	cached   int64 // tokens of the prompt
}

// fault is why a successful response brings no completion.
type fault struct {
	kind   extraction.Kind
	detail string
}

// notUTF8 is an answer that would be decoded to other characters than were sent.
func notUTF8() *fault { return &fault{extraction.KindMalformed, "the answer is not UTF-8"} }

func unavailable(detail string) *fault { return &fault{extraction.KindUnavailable, detail} }

// errNotAnObject is an envelope that is JSON, but no object.
var errNotAnObject = errors.New("JSON that is no object")

// open decodes an envelope. A fault is what it says instead of choices; an error
// that it is none.
func open(data []byte, e *envelope) (*fault, error) {
	err := json.Unmarshal(data, e)
	mismatch, mistyped := errors.AsType[*json.UnmarshalTypeError](err)
	switch {
	case mistyped && mismatch.Field == "", err == nil && isNull(data):
		return nil, errNotAnObject
	case err != nil && !mistyped:
		return nil, err
	case saysError(e.Error) || text(e.Object) == "error":
		return errorInSuccess(data), nil
	case mistyped && strings.HasPrefix(mismatch.Field, "choices"):
		return &fault{extraction.KindMalformed, "choices are not of the API's shape"}, nil
	}
	return nil, nil
}

// errorInSuccess is an error that came with a status of success. Its code can
// say more than that another time may do.
func errorInSuccess(data []byte) *fault {
	e := parseErrorBody(data)
	return e.fault("success status with an error: " + e.describe(len(data)))
}

func (e errorBody) fault(detail string) *fault {
	if kind, known := kindOfCode(e); known {
		return &fault{kind, detail}
	}
	return unavailable(detail)
}

// errorOfChoice is an error in place of an answer, nil if there is none.
func (c *choice) errorOfChoice() *fault {
	if !saysError(c.Error) {
		return nil
	}
	raw, err := json.Marshal(c.Error)
	if err != nil {
		return unavailable("the choice is an error")
	}
	e := errorFields(raw, maxErrorDepth)
	return e.fault("the choice is an error: " + e.describe(len(raw)))
}

// readReply reads a body that is no event stream.
func readReply(body []byte) reply {
	body = trimBody(body)
	var e envelope
	stated, err := open(body, &e)
	switch {
	case err != nil:
		return reply{fault: unavailable("success status with " + sortOf(body) + " instead of a completion")}
	case stated != nil:
		return reply{fault: stated}
	case e.Choices == nil:
		return reply{fault: unavailable("success status with " + parseErrorBody(body).describe(len(body)))}
	case !utf8.Valid(body):
		return reply{fault: notUTF8()}
	case len(e.Choices) == 0:
		return reply{fault: noChoices(filtered(e.Filter)), usage: e.Usage.read()}
	}
	c := &e.Choices[0]
	m := &c.Message
	content, refusal, ok := contentText(m.Content)
	return reply{
		fault: c.errorOfChoice(), content: content, odd: !ok, refusal: text(m.Refusal) + refusal, finish: text(c.FinishReason),
		called: m.called(), reasoned: m.reasoned(), model: text(e.Model), usage: e.Usage.read(), cached: e.Usage.cached(),
	}
}

// judge takes the completion out of a reply, or says why there is none. The order
// of the checks matters: a refusal and a cut come with content, too.
func (p *Provider) judge(r *reply, req extraction.Request, asked *head) (extraction.Completion, *extraction.ProviderError) {
	failed := func(kind extraction.Kind, detail string) (extraction.Completion, *extraction.ProviderError) {
		err := &extraction.ProviderError{Kind: kind, FinishReason: r.finish, Usage: r.usage, Detail: p.keys.redactor().detail(detail, req.Text)}
		if kind == extraction.KindMalformed && r.fault == nil {
			err.Schema = req.Schema.Name
		}
		return extraction.Completion{}, err
	}
	if r.fault != nil {
		r.finish = "" // it is not the end of an answer
		return failed(r.fault.kind, r.fault.detail)
	}
	if r.refusal != "" {
		return failed(extraction.KindRefused, "the model refused: "+r.refusal)
	}
	finish, _, _ := strings.Cut(strings.ToLower(r.finish), ":") // "content_filter: PROHIBITED_CONTENT"
	switch finish {
	case "length", "max_tokens", "model_length":
		return failed(extraction.KindTruncated, "the answer was cut: allow more tokens or use smaller chunks")
	case "content_filter", "safety", "recitation", "prohibited_content", "blocklist", "spii", "refusal", "guardrail_intervened": // of Gemini and others behind gateways
		return failed(extraction.KindRefused, "the server's content filter stepped in")
	case "tool_calls", "function_call":
		return failed(extraction.KindMalformed, "the model called a tool instead of answering")
	case "error", "abort", "insufficient_system_resource":
		return failed(extraction.KindUnavailable, "the server gave up: finish_reason "+r.finish)
	}
	switch {
	case r.odd:
		return failed(extraction.KindMalformed, "content is neither a text nor a list of texts")
	case strings.TrimSpace(r.content) != "":
	case r.called:
		return failed(extraction.KindMalformed, "the model called a tool instead of answering")
	case r.reasoned:
		return failed(extraction.KindEmpty, "no content, only reasoning: turn thinking off or allow more tokens")
	default:
		return failed(extraction.KindEmpty, "no content")
	}
	if p.meter.cuts(asked.fewest, req.Text, r.usage.PromptTokens+r.cached) {
		return failed(extraction.KindContextTooLong, "the server read only a part of the prompt: its context is too small")
	}
	return extraction.Completion{Content: r.content, FinishReason: r.finish, Model: p.keys.redactor().detail(r.model, req.Text), Usage: r.usage}, nil
}

// read believes only whole, plausible numbers.
func (u *usage) read() extraction.Usage {
	if u == nil {
		return extraction.Usage{}
	}
	return extraction.Usage{PromptTokens: tokenCount(u.Prompt), CompletionTokens: tokenCount(u.Completion)}
}

// tokenCount is 0 for what cannot be a count.
func tokenCount(value any) int64 {
	const absurd = 1e9
	n, ok := value.(float64)
	if !ok || n < 0 || n > absurd || n != math.Trunc(n) {
		return 0
	}
	return int64(n)
}

// text is a string or number as text, and "" for anything else.
func text(value any) string {
	switch v := value.(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func isNull(raw []byte) bool { return len(raw) == 0 || string(raw) == "null" }

// saysError reports whether an error field holds an error: some servers send it
// empty with every answer.
func saysError(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case string:
		return v != ""
	case bool:
		return v
	case []any:
		return len(v) > 0
	case map[string]any:
		return len(v) > 0
	}
	return true
}

// sortOf names what a body is that is no completion.
func sortOf(body []byte) string {
	switch {
	case len(body) == 0:
		return "an empty body"
	case isHTML(body):
		return parseErrorBody(body).Message
	case json.Valid(body):
		return errNotAnObject.Error()
	case body[0] == '{':
		return "broken JSON"
	default:
		return "something that is not JSON"
	}
}
