package openai_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func (p pair) formats() []string {
	var out []string
	for _, r := range p.server.Records() {
		out = append(out, r.Format)
	}
	return out
}

func TestLadderStepsDownAndRemembers(t *testing.T) {
	p := start(t)
	p.server.RejectFormats("json_schema")
	for range 3 {
		completion, err := p.ask(sentence)
		require.NoError(t, err)
		require.Equal(t, "json_object", completion.OutputMode)
	}
	require.Equal(t, []string{"json_schema", "json_object", "json_object", "json_object"}, p.formats())

	p = start(t)
	p.server.RejectFormats("json_schema", "json_object")
	for range 2 {
		completion, err := p.ask(sentence)
		require.NoError(t, err)
		require.Equal(t, "text", completion.OutputMode)
	}
	require.Equal(t, []string{"json_schema", "json_object", "", ""}, p.formats())

	// Another model, or another server, is asked anew.
	other := connect(t, p.server.BaseURL(), func(c *openai.Config) { c.Model = "other" })
	p.server.RejectFormats()
	completion, err := other.Extract(t.Context(), ask(sentence))
	require.NoError(t, err)
	require.Equal(t, "json_schema", completion.OutputMode)
}

func TestLadderKnowsTheWordsOfServers(t *testing.T) {
	for _, b := range []modelserver.Behaviour{
		modelserver.Fails(400, modelserver.StyleOpenAI, "", "This response_format type is unavailable now"),
		modelserver.Fails(400, modelserver.StyleFlat, "", "response_format.type `json_schema` is unavailable now at line 1 column 1193"),
		modelserver.Fails(400, modelserver.StyleString, "", "'response_format.type' : value is not one of the allowed values ['text','json_object']"),
		modelserver.Raw(400, "application/json", `{"error":{"message":"Unsupported value.","param":"response_format","code":"unsupported_value"}}`),
		modelserver.Raw(400, "application/json", `{"detail":[{"loc":["body","response_format","type"],"msg":"unexpected value"}]}`),
	} {
		p := start(t)
		p.server.Then(b)
		completion, err := p.ask(sentence)
		require.NoError(t, err)
		require.Equal(t, "json_object", completion.OutputMode)
	}
}

func TestLadderStaysWhereNothingNamesResponseFormat(t *testing.T) {
	p := start(t)
	for _, b := range []modelserver.Behaviour{
		modelserver.Fails(400, modelserver.StyleOpenAI, "", "json_schema is wrong"),
		modelserver.Fails(422, modelserver.StyleOpenAI, "", "response_format is wrong"),
		modelserver.Fails(500, modelserver.StyleOpenAI, "", "response_format is wrong"),
		modelserver.Fails(429, modelserver.StyleOpenAI, "", "response_format is wrong"),
		modelserver.Fails(400, modelserver.StyleOpenAI, "context_length_exceeded", "response_format is wrong"),
		named(t, "prose"), // accepted and ignored: the pipeline calls that malformed
	} {
		p.server.Then(b)
		_, _ = p.ask(sentence)
	}
	// The document may speak of it; a server that echoes it says nothing about itself.
	const document = "Please set the response_format parameter of the request to a value that fits."
	p.server.Then(modelserver.Fails(400, modelserver.StyleOpenAI, "", "cannot process: {text}"))
	_, err := p.ask(document)
	require.ErrorIs(t, err, extraction.ErrInvalidRequest)

	completion, err := p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, "json_schema", completion.OutputMode)
	require.Equal(t, 8, p.server.Stats().Requests)
}

func TestLadderEndsWhenAServerRefusesEverything(t *testing.T) {
	p := start(t)
	p.server.Default(modelserver.Fails(400, modelserver.StyleOpenAI, "", "response_format, max_completion_tokens and temperature are wrong"))
	_, err := p.ask(sentence)
	require.ErrorIs(t, err, extraction.ErrInvalidRequest)
	require.Equal(t, []string{"json_schema", "json_object", ""}, p.formats())
	_, err = p.ask(sentence)
	require.ErrorIs(t, err, extraction.ErrInvalidRequest)
	require.Equal(t, 4, p.server.Stats().Requests)
}

func TestWithoutSchemaNoFormatIsAskedFor(t *testing.T) {
	p := start(t)
	completion, err := p.provider.Extract(t.Context(), extraction.Request{Text: sentence})
	require.NoError(t, err)
	require.Equal(t, "text", completion.OutputMode)
	require.NotContains(t, p.sent(), "response_format")
	p.server.Then(modelserver.Fails(400, modelserver.StyleOpenAI, "", "response_format is wrong"))
	_, err = p.provider.Extract(t.Context(), extraction.Request{Text: sentence})
	require.ErrorIs(t, err, extraction.ErrInvalidRequest, "nothing was asked for, so there is nothing to step down from")
	completion, err = p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, "json_schema", completion.OutputMode)
}

// OpenAI's reasoning models take neither max_tokens nor a temperature.
func TestReasoningModelsAreMetOnTheirTerms(t *testing.T) {
	p := start(t, func(c *openai.Config) { c.Model, c.MaxTokens = "gpt-5", 500 })
	p.server.Then(
		modelserver.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.","type":"invalid_request_error","param":"max_tokens","code":"unsupported_parameter"}}`),
		modelserver.Raw(http.StatusBadRequest, "application/json", `{"error":{"message":"Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.","type":"invalid_request_error","param":"temperature","code":"unsupported_value"}}`),
	)
	_, err := p.ask(sentence)
	require.NoError(t, err)
	_, err = p.ask(sentence)
	require.NoError(t, err)
	require.Equal(t, 4, p.server.Stats().Requests, "what was learnt is remembered")
	require.EqualValues(t, 500, p.sent()["max_completion_tokens"])
	require.NotContains(t, p.sent(), "max_tokens")
	require.NotContains(t, p.sent(), "temperature")
	require.Equal(t, "json_schema", p.formats()[3])
}
