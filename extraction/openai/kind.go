package openai

import (
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// kindOf translates an error response. The status decides, except where servers
// put different things under one status: their code then says which.
func kindOf(status int, e errorBody) extraction.Kind {
	switch {
	case (status == http.StatusForbidden || status == http.StatusBadRequest) && e.saysModerated():
		return extraction.KindRefused
	case status == http.StatusUnauthorized, status == http.StatusForbidden:
		return extraction.KindAuth
	case status == http.StatusPaymentRequired:
		return extraction.KindQuota
	case status == http.StatusTooManyRequests:
		if e.is(quotaCodes()...) {
			return extraction.KindQuota
		}
		return extraction.KindRateLimited
	case status == http.StatusRequestTimeout, status == http.StatusConflict, status == http.StatusTooEarly,
		status < 400, status >= 500:
		return extraction.KindUnavailable
	}
	if kind, ok := kindOfCode(e); ok {
		return kind
	}
	if status == http.StatusBadRequest && e.saysWrongKey() {
		return extraction.KindAuth
	}
	if status != http.StatusNotFound && e.saysTooLong() {
		return extraction.KindContextTooLong
	}
	return extraction.KindInvalidRequest
}

// kindOfCode translates the codes that mean the same under any status.
func kindOfCode(e errorBody) (extraction.Kind, bool) {
	switch {
	case e.is("context_length_exceeded", "exceed_context_size_error", "context_window_exceeded", "string_above_max_length"):
		return extraction.KindContextTooLong, true
	case e.is(quotaCodes()...):
		return extraction.KindQuota, true
	case e.is("invalid_api_key", "authentication_error"), strings.HasPrefix(e.Reason, "API_KEY_"):
		return extraction.KindAuth, true
	case e.is("content_filter", "content_policy_violation", "responsibleaipolicyviolation",
		"data_inspection_failed", "datainspectionfailed", // Alibaba
		"moderation", "moderation_blocked", "moderation_error", "content_moderation", "content_policy", "flagged", "input_flagged"),
		e.Flagged:
		return extraction.KindRefused, true
	}
	return "", false
}

func quotaCodes() []string {
	return []string{"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "insufficient_balance"}
}

// is reports whether the code or the type is one of the names.
func (e errorBody) is(names ...string) bool {
	return slices.Contains(names, strings.ToLower(e.Code)) || slices.Contains(names, strings.ToLower(e.Type))
}

// saysModerated reports whether an error is about what the text says, and not about
// who asks or how: gateways send 403 and 400 for both.
func (e errorBody) saysModerated() bool {
	if kind, known := kindOfCode(e); known {
		return kind == extraction.KindRefused
	}
	if e.Param != "" && !aboutText.MatchString(e.Param) {
		return false
	}
	message := strings.ToLower(e.Message)
	return moderated.MatchString(message) && !aboutAsker.MatchString(message)
}

var (
	aboutText  = regexp.MustCompile(`^(?:prompt|input|messages)`)
	aboutAsker = regexp.MustCompile(`account|api key|apikey|organi[sz]ation|permission|access`)
	moderated  = regexp.MustCompile(`flagged|moderation|content policy|content management policy|content[ _]filter` +
		`|inappropriate content|content exists risk`) // Alibaba, DeepSeek
	wrongKey = regexp.MustCompile(`(?:api[ _-]?key|credentials?)\b.{0,60}\b(?:not valid|invalid|incorrect|expired|revoked)` +
		`|(?:invalid|incorrect|expired|revoked) (?:api[ _-]?key|credentials)`)
)

// saysWrongKey knows servers that send 400 for a wrong key, as Gemini does. Whoever
// takes that for the chunk's fault loses all that wait.
func (e errorBody) saysWrongKey() bool { return wrongKey.MatchString(strings.ToLower(e.Message)) }

// tooLong are the words of servers that have no code for it.
var tooLong = regexp.MustCompile(strings.Join([]string{
	`context (?:length|size|window|limit)`, // OpenAI, vLLM, SGLang, LM Studio, Mistral; llama.cpp; llama-cpp-python; Anthropic
	`(?:prompt|input) is too long`,         // Anthropic behind gateways
	`input token count`,                    // Gemini
	`range of input length`,                // Alibaba
	"tokens \\+ `max_new_tokens`",          // TGI, as long as it counts the answer, too
	"inputs?\\W{1,3}must have (?:less|fewer) than \\d+ tokens",
	`token count exceeds`,
	`reduce the length of the (?:messages|prompt|input)`,
	`too many tokens: size limit exceeded`, // Cohere
	`longer than the maximum model length`,
}, "|"))

func (e errorBody) saysTooLong() bool { return tooLong.MatchString(strings.ToLower(e.Message)) }

// complaintOf recognises a refusal of a request feature. Only a 400 that names
// the feature counts: anything else would change how every later chunk is asked.
// (Streaming changes nothing but how an answer comes, so there a 422 of a strict
// server counts, too, if it names the field as such.)
func complaintOf(status int, e errorBody) complaint {
	switch {
	case status != http.StatusBadRequest && status != http.StatusUnprocessableEntity:
		return noComplaint
	case e.Param == "stream_options" || strings.HasPrefix(e.Param, "stream_options."):
		return aboutStreamOptions
	case e.Param == "stream":
		return aboutStream
	case status != http.StatusBadRequest:
		return noComplaint
	}
	names := func(field string) bool {
		return e.Param == field || strings.HasPrefix(e.Param, field+".") || strings.Contains(e.Message, field)
	}
	switch {
	case names("response_format"):
		return aboutFormat
	case names("max_completion_tokens"): // "use 'max_completion_tokens' instead"
		return aboutMaxTokens
	case names("temperature"):
		return aboutTemperature
	case names("stream_options"):
		return aboutStreamOptions
	case names("'stream'"), names("`stream`"), names("stream=true"), names("Streaming"), names("streaming"):
		return aboutStream
	}
	return noComplaint
}
