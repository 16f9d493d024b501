package extraction

import (
	"context"
	"encoding/json"
)

// Provider asks one model one question. Implementations must be safe for
// concurrent use, must supply no prompt of their own, and report every failure
// of the model as a [*ProviderError]; a cancelled or expired context is
// returned as the context's error.
type Provider interface {
	// Extract sends the text and returns what the model wrote, unparsed.
	Extract(ctx context.Context, req Request) (Completion, error)

	// Model is provenance: "provider/model", recorded with every result. A
	// wrapper delegates it.
	Model() string
}

// Request is one question to a model.
type Request struct {
	// Tenant is whose allowance the call uses. Providers ignore it; wrappers
	// that limit or account need it.
	Tenant string
	// SystemPrompt is the whole of the instructions.
	SystemPrompt string
	// Text is the chunk, sent verbatim as the last user message.
	Text string
	// Schema is what the answer must look like. It is shared: it is only to be read.
	Schema Schema
	// MaxTokens bounds the answer further than the provider does; 0 does not.
	MaxTokens int
	// Optional marks a question whose answer the caller can do without. Wrappers
	// that limit refuse it before it would cost another call its place.
	Optional bool
}

// Schema is a named JSON schema for a model's answer.
type Schema struct {
	Name string
	JSON json.RawMessage
}

// Completion is what the model wrote.
type Completion struct {
	Content      string // as received; the pipeline parses it
	FinishReason string // "stop" when the model ended by itself
	Model        string // the one that has answered, as its server calls it; "" if it does not say
	OutputMode   string // how the answer was asked for: json_schema, json_object, text
	Usage        Usage
}
