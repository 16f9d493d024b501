package modelserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Request is what one chat completion asked.
type Request struct {
	Seq    int       // counts from 1
	At     time.Time // when its body had arrived
	Model  string
	System string // the first system message
	Text   string // the last user message
	Format string // response_format.type, "" if there was none
	Schema string // name of the JSON schema
	Stream bool   // it asks for an event stream

	StreamUsage bool // with usage in it
	MaxTokens   int  // max_tokens or max_completion_tokens, 0 if there is neither

	Key  string // the bearer token; never put into a Record
	Body []byte // as received
}

// expand fills in what servers echo.
func (r Request) expand(s string) string {
	return strings.NewReplacer("{key}", r.Key, "{text}", r.Text, "{model}", r.Model).Replace(s)
}

// Parse reads from the Body what matters here; what is absent stays empty.
func (r *Request) Parse() error {
	var body struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
		ResponseFormat struct {
			Type       string `json:"type"`
			JSONSchema struct {
				Name string `json:"name"`
			} `json:"json_schema"`
		} `json:"response_format"`
		Stream        bool `json:"stream"`
		StreamOptions struct {
			IncludeUsage bool `json:"include_usage"`
		} `json:"stream_options"`
		MaxTokens           int `json:"max_tokens"`
		MaxCompletionTokens int `json:"max_completion_tokens"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return err
	}
	r.Model = body.Model
	r.Format = body.ResponseFormat.Type
	r.Stream, r.StreamUsage = body.Stream, body.StreamOptions.IncludeUsage
	r.MaxTokens = max(body.MaxTokens, body.MaxCompletionTokens)
	r.Schema = body.ResponseFormat.JSONSchema.Name
	for _, m := range body.Messages {
		var content string
		if json.Unmarshal(m.Content, &content) != nil {
			continue // content in parts: none of our clients sends that
		}
		switch {
		case m.Role == "user":
			r.Text = content
		case m.Role == "system" && r.System == "":
			r.System = content
		}
	}
	return nil
}

// overflows reports whether prompt and budget do not fit the model's context.
func (b Behaviour) overflows(r Request) bool {
	return b.Context > 0 && tokens(r.System, r.Text)+r.MaxTokens > b.Context
}

func contextOverflow(context int, r Request) Behaviour {
	prompt := tokens(r.System, r.Text)
	refused := Fails(http.StatusBadRequest, StyleFlat, "", fmt.Sprintf("This model's maximum context length is %d tokens. However, you requested %d tokens "+
		"(%d in the messages, %d in the completion). Please reduce the length of the messages or completion.", context, prompt+r.MaxTokens, prompt, r.MaxTokens))
	refused.Name = "context_overflow"
	return refused
}
