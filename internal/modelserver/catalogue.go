package modelserver

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
)

const nameOK = "ok"

// Names lists the catalogued behaviours.
func Names() []string { return slices.Sorted(maps.Keys(catalogue())) }

// Named is a catalogued behaviour.
func Named(name string) (Behaviour, error) {
	b, ok := catalogue()[name]
	if !ok {
		return Behaviour{}, fmt.Errorf("no behaviour is called %q; there are %v", name, Names())
	}
	b.Name = name
	return b, nil
}

// mustNamed is Named for names written in this package; an unknown one answers
// with status 500 and says so.
func mustNamed(name string) Behaviour {
	b, err := Named(name)
	if err != nil {
		return Fails(http.StatusInternalServerError, StyleText, "", err.Error())
	}
	return b
}

func rejectFormat(format string) Behaviour {
	b := Fails(http.StatusBadRequest, StyleOpenAI, "unsupported_value",
		fmt.Sprintf("Invalid parameter: 'response_format' of type '%s' is not supported with this model.", format))
	b.Name = "reject_format"
	return b
}

func catalogue() map[string]Behaviour {
	text := func(s string) *string { return &s }
	content := func(s string) Behaviour { return Behaviour{Content: &s} }
	fails := func(status int, code, typ, message string) Behaviour {
		return Behaviour{Status: status, Error: &ErrorBody{Code: code, Type: typ, Message: message}}
	}
	wait := func(b Behaviour, value string) Behaviour { return b.WithHeader("Retry-After", value) }
	tooMany := fails(http.StatusTooManyRequests, "rate_limit_exceeded", "requests", "Rate limit reached for {model}.")
	engineDied := &ErrorBody{Message: "EngineCore encountered an issue.", Type: "InternalServerError"}
	return map[string]Behaviour{
		nameOK: {},

		// The connection.
		"slow":     {DelayMS: 2000},
		"drip":     {DripMS: 20},
		"hang":     {Hang: true},
		"reset":    {Reset: true},
		"cut_body": {CutBody: true},
		"huge":     {PadBytes: 64 << 20},
		"redirect": {Status: http.StatusMovedPermanently, Header: map[string]string{"Location": "/elsewhere"}, Body: text("")},

		// Error responses.
		"rate_limited":         wait(tooMany, "1"),
		"rate_limited_silent":  tooMany,
		"rate_limited_zero":    wait(tooMany, "0"),
		"rate_limited_odd":     wait(tooMany, "soon"),
		"rate_limited_half":    wait(tooMany, "0.5"),
		"moderated":            {Status: http.StatusForbidden, Body: text(`{"error":{"code":403,"message":"Your input was flagged","metadata":{"reasons":["violence"]}}}`)},
		"teapot":               fails(http.StatusTeapot, "", "", "I'm a teapot."),
		"overloaded_529":       fails(529, "", "overloaded_error", "Overloaded"),
		"quota":                fails(http.StatusTooManyRequests, "insufficient_quota", "insufficient_quota", "You exceeded your current quota."),
		"bad_key":              fails(http.StatusUnauthorized, "invalid_api_key", "", "Incorrect API key provided: {key}."),
		"forbidden":            fails(http.StatusForbidden, "", "permission_error", "Project has no access to model {model}."),
		"no_model":             fails(http.StatusNotFound, "model_not_found", "", "The model {model} does not exist."),
		"bad_request":          fails(http.StatusBadRequest, "invalid_value", "", "Invalid value."),
		"unprocessable":        {Status: http.StatusUnprocessableEntity, Error: &ErrorBody{Style: StyleDetailList, Message: "Input should be a valid list"}},
		"context_openai":       fails(http.StatusBadRequest, "context_length_exceeded", "", "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens."),
		"context_vllm":         {Status: http.StatusBadRequest, Error: &ErrorBody{Style: StyleFlat, Type: "BadRequestError", Message: "This model's maximum context length is 4096 tokens. However, you requested 17193 tokens (9001 in the messages, 8192 in the completion). Please reduce the length of the messages or completion."}},
		"context_llamacpp":     {Status: http.StatusBadRequest, Body: text(`{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":9001,"n_ctx":4096}}`)},
		"too_large":            {Status: http.StatusRequestEntityTooLarge, Error: &ErrorBody{Style: StyleHTML}},
		"request_timeout":      {Status: http.StatusRequestTimeout, Error: &ErrorBody{Style: StyleEmpty}},
		"server_error":         fails(http.StatusInternalServerError, "", "", "The server had an error while processing your request."),
		"bad_gateway":          {Status: http.StatusBadGateway, Error: &ErrorBody{Style: StyleHTML}},
		"overloaded":           wait(fails(http.StatusServiceUnavailable, "", "", "The engine is currently overloaded."), "1"),
		"content_filter_azure": fails(http.StatusBadRequest, "content_filter", "", "The response was filtered due to the prompt triggering content management policy."),

		// Status 200 that is no completion.
		"ok_error":      {Body: text(`{"error":{"message":"upstream failed","type":"server_error","code":502}}`)},
		"ok_error_flat": {Body: text(`{"object":"error","message":"upstream failed","code":500}`)},
		"ok_detail":     {Body: text(`{"detail":"Internal Server Error"}`)},
		"ok_html":       {ContentType: "text/html", Body: text("<html><body>Please sign in to the network.</body></html>")},
		"ok_empty":      {Body: text("")},
		"ok_null":       {Body: text("null")},
		"ok_list":       {Body: text("[]")},
		"ok_array_body": {Body: text(`[{"error":{"message":"upstream failed"}}]`)},
		"no_choices":    {NoChoices: true},

		// Event streams, of requests that ask for one; others get the true answer.
		"stream_ignored":      {Stream: StreamFaults{Ignored: true}},
		"stream_crlf":         {Stream: StreamFaults{LineEnd: "\r\n"}},
		"stream_cr":           {Stream: StreamFaults{LineEnd: "\r"}},
		"stream_keep_alive":   {Stream: StreamFaults{KeepAlive: true}},
		"stream_split_data":   {Stream: StreamFaults{SplitData: true}},
		"stream_no_blanks":    {Stream: StreamFaults{NoBlankLines: true, NoSpace: true}},
		"stream_no_done":      {Stream: StreamFaults{NoDone: true}},
		"stream_one_event":    {Stream: StreamFaults{OneEvent: true}},
		"stream_empty_deltas": {Stream: StreamFaults{EmptyDeltas: true}},
		"stream_two_choices":  {Stream: StreamFaults{TwoChoices: true}},
		"stream_finishes":     {Stream: StreamFaults{FinishAlways: true}},
		"stream_after_finish": {Suffix: "\n", Stream: StreamFaults{AfterFinish: "\n\n"}},
		"stream_error":        {Stream: StreamFaults{ErrorAfter: 3, ErrorEvent: engineDied}},
		"stream_error_event":  {Stream: StreamFaults{ErrorAfter: 3, ErrorEvent: engineDied, ErrorField: "event"}},
		"stream_error_field":  {Stream: StreamFaults{ErrorAfter: 3, ErrorEvent: engineDied, ErrorField: "error"}},
		"stream_broken_event": {Stream: StreamFaults{BrokenAfter: 3}},
		"stream_cut":          {Stream: StreamFaults{CutAfter: 3}},
		"stream_ends_early":   {Stream: StreamFaults{EndAfter: 3}},
		"stream_stalls":       {Stream: StreamFaults{StallAfter: 3}},

		// What the model writes.
		"prose":             content("Sure! The text speaks of several people, among them Ada Lovelace."),
		"list":              content(`[{"name":"Ada","type":"person","description":"","confidence":1,"quote":"Ada"}]`),
		"empty_object":      content("{}"),
		"no_relationships":  content(`{"entities":[]}`),
		"truncated_json":    {CutContent: true},
		"trailing_comma":    content(`{"entities":[],"relationships":[],}`),
		"comma_missing":     content(`{"entities":[] "relationships":[]}`),
		"single_quotes":     content(`{'entities':[],'relationships':[]}`),
		"comment":           content("{\"entities\":[], // none\n\"relationships\":[]}"),
		"twice":             content(`{"entities":[],"relationships":[],"entities":[]}`),
		"not_a_number":      content(`{"entities":[{"name":"Ada","type":"person","description":"","confidence":NaN,"quote":"Ada"}],"relationships":[]}`),
		"entities_object":   content(`{"entities":{"name":"Ada"},"relationships":[]}`),
		"entities_null":     content(`{"entities":null,"relationships":[]}`),
		"json_null":         content("null"),
		"json_string":       content(`"Ada Lovelace"`),
		"not_utf8":          {Body: text("{\"choices\":[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"{\\\"entities\\\":[],\\\"relationships\\\":[],\\\"caf\xe9\\\":1}\"},\"finish_reason\":\"stop\"}]}")},
		"bad_rows":          content(`{"entities":[{"name":7},"Ada",{"name":"Ada","type":"person","description":"","confidence":"95%","quote":"Ada"}],"relationships":[{}]}`),
		"half_pair":         content(`{"entities":[{"name":"Ada \ud83d","type":"person","description":"","confidence":1,"quote":"Ada"}],"relationships":[]}`),
		"lost_character":    content("{\"entities\":[{\"name\":\"Ad\ufffd\",\"type\":\"person\",\"description\":\"\",\"confidence\":1,\"quote\":\"Ada\"}],\"relationships\":[]}"),
		"byte_order_mark":   {Prefix: "\ufeff"},
		"fence":             {Prefix: "```json\n", Suffix: "\n```"},
		"think":             {Prefix: "<think>Who is named here?</think>\n"},
		"think_unopened":    {Prefix: "hmm, who is named here?</think>"},
		"nothing_found":     content(`{"entities":[],"relationships":[]}`),
		"empty":             content(""),
		"blank":             content(" \n\t"),
		"null_content":      {ContentNull: true},
		"array_content":     {ContentArray: true},
		"reasoning_only":    {ReasoningField: "reasoning_content"},
		"reasoning_only_2":  {ReasoningField: "reasoning"},
		"refusal":           {Refusal: "I'm sorry, I can't help with that.", ContentNull: true},
		"content_filter":    {FinishReason: text("content_filter"), ContentNull: true},
		"safety":            {FinishReason: text("SAFETY"), ContentNull: true},
		"recitation":        {FinishReason: text("RECITATION")},
		"prohibited":        {FinishReason: text("content_filter: PROHIBITED_CONTENT"), ContentNull: true},
		"max_tokens":        {CutContent: true, FinishReason: text("MAX_TOKENS")},
		"length_whole":      {FinishReason: text("length")},
		"length":            {CutContent: true, FinishReason: text("length")},
		"length_empty":      {Content: text(""), FinishReason: text("length")},
		"tool_calls":        {ToolCall: true, FinishReason: text("tool_calls")},
		"no_finish":         {OmitFinish: true},
		"null_finish":       {FinishReason: text("")},
		"odd_finish":        {FinishReason: text("eos")},
		"no_usage":          {OmitUsage: true},
		"negative_usage":    {Usage: []byte(`{"prompt_tokens":-5,"completion_tokens":-1,"total_tokens":-6}`)},
		"absurd_usage":      {Usage: []byte(`{"prompt_tokens":1e15,"completion_tokens":9007199254740993,"total_tokens":0}`)},
		"wrong_type_usage":  {Usage: []byte(`{"prompt_tokens":"many","completion_tokens":null}`)},
		"truncated_prompt":  {Usage: []byte(`{"prompt_tokens":8,"completion_tokens":10,"total_tokens":18}`)},
		"invented_entities": content(`{"entities":[{"name":"Zebulon Quux","type":"person","description":"","confidence":1,"quote":"Zebulon Quux"}],"relationships":[]}`),
	}
}
