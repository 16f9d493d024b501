package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// placeholderModel stands in until the body is completed: the library refuses
// requests by the look of the model's name, which says nothing about a local
// server's models.
const placeholderModel = "model"

// request builds what the library may see: the messages, and what asks for a
// stream. Everything else is in the head.
func request(req extraction.Request, s streaming) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: placeholderModel}
	if s == streamWithUsage {
		out.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	}
	if req.SystemPrompt != "" { // the library would send a message without content
		out.Messages = append(out.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: req.SystemPrompt})
	}
	out.Messages = append(out.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleUser, Content: req.Text})
	return out
}

// head is what a request's body begins with, up to the messages: the fields that
// the library cannot express (it drops a temperature of 0), and those which
// would be encoded anew for each request although they are always the same.
type head struct {
	dialect dialect
	mode    mode
	budget  int
	schema  extraction.Schema
	json    []byte // without the closing brace
}

// head returns the head of a request. The last one is kept: as a rule all
// requests have the same.
func (p *Provider) head(req extraction.Request, d dialect) (*head, error) {
	budget := tighter(tighter(p.config.MaxTokens, req.MaxTokens), d.budget)
	if h := p.lastHead.Load(); h != nil && h.dialect == d && h.budget == budget && h.schema.Name == req.Schema.Name && bytes.Equal(h.schema.JSON, req.Schema.JSON) {
		return h, nil
	}
	h := &head{dialect: d, mode: d.mode, budget: budget, schema: extraction.Schema{Name: req.Schema.Name, JSON: bytes.Clone(req.Schema.JSON)}}
	if len(h.schema.JSON) == 0 {
		h.mode = modeText
	} else if !json.Valid(h.schema.JSON) {
		return nil, &extraction.ArgumentError{Argument: "Schema", Reason: "is not JSON"}
	}
	fields := map[string]any{"model": p.config.Model}
	if !d.ownTemperature {
		fields["temperature"] = 0
	}
	if d.completionTokens {
		fields["max_completion_tokens"] = budget
	} else {
		fields["max_tokens"] = budget
	}
	switch h.mode {
	case modeSchema:
		fields["response_format"] = sdk.ChatCompletionResponseFormat{
			Type: sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{
				Name: h.schema.Name, Schema: h.schema.JSON, Strict: true,
			},
		}
	case modeObject:
		fields["response_format"] = sdk.ChatCompletionResponseFormat{Type: sdk.ChatCompletionResponseFormatTypeJSONObject}
	}
	maps.Copy(fields, p.config.Body)
	encoded, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}
	h.json = bytes.TrimSuffix(encoded, []byte("}"))
	p.lastHead.Store(h)
	return h, nil
}

// libraryHead is what the library's body begins with, and what the head
// replaces.
const libraryHead = `{"model":"` + placeholderModel + `"`

var errLibraryHead = errors.New("the library's request does not begin with the model")

// complete reads the library's body of the given size and puts the head in front
// of its messages. Besides them it has only what the head does not have: whether to
// stream.
func (h *head) complete(body io.Reader, size int64) ([]byte, error) {
	at := len(h.json) - len(libraryHead) // the head is longer: it names the model, too
	if at < 0 || size < int64(len(libraryHead)) {
		return nil, errLibraryHead
	}
	out := make([]byte, int64(at)+size)
	if _, err := io.ReadFull(body, out[at:]); err != nil {
		return nil, err
	}
	if string(out[at:len(h.json)]) != libraryHead {
		return nil, errLibraryHead
	}
	copy(out, h.json)
	return out, nil
}
