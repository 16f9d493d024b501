package openai

import (
	"slices"
	"strings"

	"github.com/weirkeeper/weirkeeper/extraction"
)

// contentText is a message's content, decoded: a text, or the texts and the refusals
// of its parts. It is false for anything else.
func contentText(content any) (said, refusal string, ok bool) {
	switch c := content.(type) {
	case nil:
		return "", "", true
	case string:
		return c, "", true
	case []any:
		var texts, refusals strings.Builder
		for _, item := range c {
			part, ok := item.(map[string]any)
			if !ok && item != nil {
				return "", "", false
			}
			switch part["type"] {
			case "text", "output_text", "", nil:
				s, _ := part["text"].(string)
				texts.WriteString(s)
			case "refusal":
				s, _ := part["refusal"].(string)
				refusals.WriteString(s)
			}
		}
		return texts.String(), refusals.String(), true
	}
	return "", "", false
}

// noChoices is the fault of an answer with an empty list of them.
func noChoices(filtered bool) *fault {
	if filtered {
		return &fault{extraction.KindRefused, "the server's content filter refused the prompt"}
	}
	return &fault{extraction.KindEmpty, "no choices"}
}

// filtered reports whether any filter says that it stepped in.
func filtered(results any) bool {
	switch v := results.(type) {
	case []any:
		return slices.ContainsFunc(v, filtered)
	case map[string]any:
		if v["filtered"] == true {
			return true
		}
		for _, inner := range v {
			if filtered(inner) {
				return true
			}
		}
	}
	return false
}
