package openai

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// smallestBudget is the fewest tokens that an answer can do anything with. A prompt
// that leaves less room is too long.
const smallestBudget = 256

// room is what a server says of the sizes when it refuses a request: many count
// the prompt and the whole budget of the answer against the model's context. What
// it does not say is 0.
type room struct {
	context int  // what the model can hold
	prompt  int  // of which the prompt takes this
	atLeast bool // or more: the server has stopped counting
	most    int  // the longest answer that it allows
}

// Words that come with sizes: those of OpenAI, vLLM in its versions, SGLang, TGI and
// several hosts.
var (
	contextSize = regexp.MustCompile(`context length (?:is|of|is only) (\d+)|must be <= (\d+)\. given`)
	promptSize  = regexp.MustCompile(`(at least )?(\d+) (?:in the messages|input tokens|tokens from the input messages|` + "`inputs` tokens" + `)`)
	longest     = regexp.MustCompile(`supports at most (\d+) completion tokens|max_tokens: \d+ > (\d+), which is the maximum` +
		"|`max_tokens` must be less than or equal to `(\\d+)`" + `|range of max_tokens (?:is|should be) \[\d+, ?(\d+)\]`)
)

// roomOf reads the sizes out of an error; false if it states none that could be the
// reason.
func roomOf(status int, e errorBody) (room, bool) {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return room{}, false
	}
	message := strings.ToLower(e.Message)
	if m := longest.FindStringSubmatch(message); m != nil {
		r := room{most: number(m[1:])}
		return r, r.most > 0
	}
	size, prompt := contextSize.FindStringSubmatch(message), promptSize.FindStringSubmatch(message)
	if size == nil || prompt == nil {
		return room{}, false
	}
	r := room{context: number(size[1:]), prompt: number(prompt[2:]), atLeast: prompt[1] != ""}
	return r, r.context > 0 && r.prompt > 0
}

// number is the first of the matches that is one, 0 if there is none or it is
// absurd.
func number(matches []string) int {
	const absurd = 1e9
	for _, s := range matches {
		if n, err := strconv.Atoi(s); err == nil && n < absurd {
			return n
		}
	}
	return 0
}

// budgets are smaller ones than budget, which the server has refused: for all later
// requests, and for this one; 0 where there is nothing to gain. Half of the context
// is left to answers as a rule: a budget that followed each prompt would be refused
// again with every longer one, and one that followed the longest would cut the
// answers to all others. A prompt of more than that half gets what is left, just
// once.
func (r room) budgets(budget int) (all, this int) {
	usable := func(n int) int {
		if n < smallestBudget || n >= budget {
			return 0
		}
		return n
	}
	if r.most > 0 {
		return usable(r.most), usable(r.most)
	}
	left, half := r.context-r.prompt, r.context/2
	switch {
	case left < smallestBudget:
		return 0, 0 // the prompt is the reason
	case left >= half && usable(half) > 0:
		return half, half
	case r.atLeast:
		return usable(half), usable(min(half, budget) / 2)
	}
	return usable(half), usable(left)
}
