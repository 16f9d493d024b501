package openai

import (
	"encoding/json"
	"maps"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// placeholderModel stands in until the body is patched: the library refuses
// requests by the look of the model's name, which says nothing about a local
// server's models.
const placeholderModel = "model"

// request builds what the library may see. The model, the temperature (the
// library drops a 0) and the budget's name follow in fields.
func request(req extraction.Request, m mode) sdk.ChatCompletionRequest {
	out := sdk.ChatCompletionRequest{Model: placeholderModel}
	if req.SystemPrompt != "" { // the library would send a message without content
		out.Messages = append(out.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: req.SystemPrompt})
	}
	out.Messages = append(out.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleUser, Content: req.Text})
	switch m {
	case modeSchema:
		out.ResponseFormat = &sdk.ChatCompletionResponseFormat{
			Type: sdk.ChatCompletionResponseFormatTypeJSONSchema,
			JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{
				Name: req.Schema.Name, Schema: req.Schema.JSON, Strict: true,
			},
		}
	case modeObject:
		out.ResponseFormat = &sdk.ChatCompletionResponseFormat{Type: sdk.ChatCompletionResponseFormatTypeJSONObject}
	}
	return out
}

// fields are the parts of the body that the library cannot express. A most that
// is not 0 bounds the answer further than the configuration does.
func (p *Provider) fields(d dialect, most int) map[string]any {
	budget := p.config.MaxTokens
	if most > 0 {
		budget = min(budget, most)
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
	maps.Copy(fields, p.config.Body)
	return fields
}

// patch sets top-level fields of a JSON object.
func patch(body []byte, fields map[string]any) ([]byte, error) {
	object := map[string]json.RawMessage{}
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	for name, value := range fields {
		raw, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		object[name] = raw
	}
	return json.Marshal(object)
}
