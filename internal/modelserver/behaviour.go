package modelserver

import (
	"encoding/json"
	"time"
)

// Behaviour says how one request is answered. The zero value answers truthfully
// with status 200. Fields combine: Delay with any, Prefix with Content, and so
// on. In JSON a behaviour is an object, or just the name of a catalogued one.
type Behaviour struct {
	// Name is the catalogued behaviour to start from, see [Named]. It is what
	// [Record.Behaviour] and [Stats.Behaviours] report.
	Name string `json:"name,omitempty"`

	// Connection.

	DelayMS  int  `json:"delay_ms,omitempty"`  // wait before the first byte
	DripMS   int  `json:"drip_ms,omitempty"`   // wait between pieces of 16 bytes of the body
	Hang     bool `json:"hang,omitempty"`      // answer only after Release
	Reset    bool `json:"reset,omitempty"`     // close with a TCP reset, unanswered
	CutBody  bool `json:"cut_body,omitempty"`  // announce the whole body, send half of it
	PadBytes int  `json:"pad_bytes,omitempty"` // spaces before the body: an answer too big to read

	// Response.

	Status      int               `json:"status,omitempty"` // 0 = 200
	Header      map[string]string `json:"header,omitempty"` // verbatim, such as Retry-After
	ContentType string            `json:"content_type,omitempty"`
	Body        *string           `json:"body,omitempty"` // the raw body; {key}, {text} and {model} are replaced as in Error.Message
	Error       *ErrorBody        `json:"error,omitempty"`

	// Completion, when there is neither Body nor Error.

	Content        *string         `json:"content,omitempty"` // what the model writes; nil = the true answer
	Prefix         string          `json:"prefix,omitempty"`  // put before the content
	Suffix         string          `json:"suffix,omitempty"`  // put after it
	CutContent     bool            `json:"cut_content,omitempty"`
	ContentNull    bool            `json:"content_null,omitempty"`
	ContentArray   bool            `json:"content_array,omitempty"`   // [{"type":"text","text":...}]
	Refusal        string          `json:"refusal,omitempty"`         // message.refusal
	ToolCall       bool            `json:"tool_call,omitempty"`       // the answer as a tool call, content null
	ReasoningField string          `json:"reasoning_field,omitempty"` // the answer in this field, content null
	FinishReason   *string         `json:"finish_reason,omitempty"`   // nil = "stop", "" = null
	OmitFinish     bool            `json:"omit_finish,omitempty"`     // no finish_reason at all
	NoChoices      bool            `json:"no_choices,omitempty"`
	Usage          json.RawMessage `json:"usage,omitempty"` // verbatim; null = an honest count
	OmitUsage      bool            `json:"omit_usage,omitempty"`

	// Context is the model's: a request whose prompt and budget for the answer exceed
	// it together is refused in the words of vLLM. 0 is no limit.
	Context int `json:"context,omitempty"`

	// Stream is what is wrong with the events of a completion that is streamed.
	Stream StreamFaults `json:"stream,omitzero"`
}

// UnmarshalJSON reads a name, or an object whose fields refine the named
// behaviour.
func (b *Behaviour) UnmarshalJSON(data []byte) error {
	var name string
	if json.Unmarshal(data, &name) == nil {
		named, err := Named(name)
		*b = named
		return err
	}
	var head struct {
		Name string `json:"name"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	type plain Behaviour
	var start plain
	if head.Name != "" {
		named, err := Named(head.Name)
		if err != nil {
			return err
		}
		start = plain(named)
	}
	if err := json.Unmarshal(data, &start); err != nil {
		return err
	}
	*b = Behaviour(start)
	return nil
}

// WithDelay is b, first waiting for d.
func (b Behaviour) WithDelay(d time.Duration) Behaviour {
	b.DelayMS = int(d / time.Millisecond)
	return b
}

// WithHeader is b with one more response header.
func (b Behaviour) WithHeader(name, value string) Behaviour {
	header := map[string]string{name: value}
	for k, v := range b.Header {
		if k != name {
			header[k] = v
		}
	}
	b.Header = header
	return b
}

// Writes is a completion with this content and finish_reason stop.
func Writes(content string) Behaviour { return Behaviour{Name: "custom", Content: &content} }

// Raw is a response with this status, content type and body.
func Raw(status int, contentType, body string) Behaviour {
	return Behaviour{Name: "custom", Status: status, ContentType: contentType, Body: &body}
}

// Fails is an error response in the given style, see [ErrorBody].
func Fails(status int, style Style, code, message string) Behaviour {
	return Behaviour{
		Name:   "custom",
		Status: status,
		Error:  &ErrorBody{Style: style, Code: code, Message: message},
	}
}
