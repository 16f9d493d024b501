package openai

import (
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// roomOf reads the sizes out of an error; false if it states none that could be the
// reason. Servers word them in dozens of ways, but the numbers are of two kinds: a
// prompt and an answer of the size that was asked for which add up to more than the
// context, or a bound of the answer, which then is the only size that was not asked for.
func roomOf(status int, e errorBody, asked int) (room, bool) {
	switch status {
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
	default:
		return room{}, false
	}
	message := strings.ToLower(e.Message)
	for _, read := range []func(string, int) (room, bool){writtenSum, toldTotal, namedSizes, bound} {
		if r, ok := read(message, asked); ok {
			r.atLeast = r.prompt > 0 && strings.Contains(message, "at least "+strconv.Itoa(r.prompt))
			return r, true
		}
	}
	return room{}, false
}

var sum = regexp.MustCompile(`(\d+) ?\+ ?(\d+) ?> ?(\d+)`)

// writtenSum reads "808 + 8192 > 8192".
func writtenSum(message string, asked int) (room, bool) {
	m := sum.FindStringSubmatch(message)
	if m == nil {
		return room{}, false
	}
	one, other, context := number(m[1:2]), number(m[2:3]), number(m[3:4])
	if one == asked {
		one, other = other, one
	}
	return room{context: context, prompt: one}, other == asked && one > 0 && context > 0
}

// toldTotal reads "8192 ... you requested 9000 (808 of text, 8192 in the output)": the
// asked answer and one or two other numbers add up to a total, and the largest of those
// left below it is the context.
func toldTotal(message string, asked int) (room, bool) {
	numbers := sizes(message)
	at := slices.Index(numbers, asked)
	if at < 0 || len(numbers) > 12 {
		return room{}, false
	}
	rest := slices.Delete(slices.Clone(numbers), at, at+1)
	for t, total := range rest {
		for i, one := range rest {
			for j, two := range rest {
				switch {
				case j == t || i == t || total != asked+one && (i == j || total != asked+one+two):
					continue
				case total == asked+one:
					j, two = i, 0
				}
				context := 0
				for k, n := range rest {
					if k != t && k != i && k != j && n < total {
						context = max(context, n)
					}
				}
				if context >= smallestBudget {
					return room{context: context, prompt: one + two}, true
				}
			}
		}
	}
	return room{}, false
}

// Words for sizes that do not add up: those of OpenAI, vLLM in its versions, SGLang
// and TGI.
var (
	contextSize = regexp.MustCompile(`context (?:length|window|size|limit) (?:is|of|is only) (\d+)|must be <= (\d+)\. given`)
	promptSize  = regexp.MustCompile(`(\d+) (?:in the messages|input tokens|tokens from the input messages|` + "`inputs` tokens" + `)`)
)

func namedSizes(message string, _ int) (room, bool) {
	size, prompt := contextSize.FindStringSubmatch(message), promptSize.FindStringSubmatch(message)
	if size == nil || prompt == nil {
		return room{}, false
	}
	r := room{context: number(size[1:]), prompt: number(prompt[1:])}
	return r, r.context > 0 && r.prompt > 0
}

var (
	ofAnswers = regexp.MustCompile(`\bmax_?(?:completion_|new_|output_)?tokens\b|\bmax(?:imum)? (?:completion |new |output )?tokens\b|\b(?:completion|output) tokens\b`)
	ofPrompts = regexp.MustCompile("prompt|input|messages")
	below     = regexp.MustCompile(`(?:lower|less|smaller|fewer) than \D?(\d+)`)
)

// bound reads an error about the answer alone, in which the only size that was not
// asked for, and is smaller, is what is allowed.
func bound(message string, asked int) (room, bool) {
	if !ofAnswers.MatchString(message) || ofPrompts.MatchString(message) {
		return room{}, false
	}
	most := 0
	for _, n := range sizes(message) {
		switch {
		case n == asked || n < smallestBudget || n == most:
		case n > asked || most > 0:
			return room{}, false
		default:
			most = n
		}
	}
	if most == 0 {
		return room{}, false
	}
	if contextSize.MatchString(message) {
		return room{context: most}, true
	}
	if m := below.FindStringSubmatch(message); m != nil && number(m[1:]) == most {
		most--
	}
	return room{most: most}, true
}

var (
	word    = regexp.MustCompile(`\[?[\w.,\-]+`)
	grouped = regexp.MustCompile(`^\d{1,3}(?:,\d{3})+$`)
	code    = regexp.MustCompile(`\b(?:code|status|error|http)[:= ]+\d{3}\b`)
)

// sizes are the numbers of a message that stand alone: not those in names of models, dates
// or statuses.
func sizes(message string) []int {
	var out []int
	for _, w := range word.FindAllString(code.ReplaceAllString(message, ""), -1) {
		inRange := strings.HasPrefix(w, "[")
		w = strings.Trim(w, "[.,-")
		parts := strings.Split(w, ",")
		if !inRange && grouped.MatchString(w) {
			parts = []string{strings.ReplaceAll(w, ",", "")}
		}
		for _, part := range parts {
			if n := number([]string{part}); n > 0 {
				out = append(out, n)
			}
		}
	}
	return out
}

// number is the first of the matches that is one, 0 if there is none or it is
// absurd.
func number(matches []string) int {
	const absurd = 1e9
	for _, s := range matches {
		if n, err := strconv.Atoi(s); err == nil && n > 0 && n < absurd {
			return n
		}
	}
	return 0
}
