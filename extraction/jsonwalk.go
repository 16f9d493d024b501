package extraction

import (
	"encoding/json"
	"strings"
)

// A model's answer is walked member by member instead of being decoded into
// structs, because encoding/json hides what must be seen here: it takes null for
// a string, matches keys in any case, lets the last of two equal keys win, and
// gives up the whole list for one bad row. All functions expect text for which
// json.Valid holds, and return pieces of it.

// eachMember calls f with the raw key and value of every member of an object,
// in order. It reports whether raw is an object.
func eachMember(raw string, f func(key, value string)) bool {
	if len(raw) == 0 || raw[0] != '{' {
		return false
	}
	for i := skipBlanks(raw, 1); raw[i] != '}'; {
		end := valueEnd(raw, i)
		key, _ := stringValue(raw[i:end])
		i = skipBlanks(raw, skipBlanks(raw, end)+1) // past the colon
		end = valueEnd(raw, i)
		f(key, raw[i:end])
		i = nextItem(raw, end)
	}
	return true
}

// eachElement calls f with every element of an array, in order. It reports
// whether raw is an array.
func eachElement(raw string, f func(value string)) bool {
	if len(raw) == 0 || raw[0] != '[' {
		return false
	}
	for i := skipBlanks(raw, 1); raw[i] != ']'; {
		end := valueEnd(raw, i)
		f(raw[i:end])
		i = nextItem(raw, end)
	}
	return true
}

// nextItem returns the offset of the next member or of the closing bracket.
func nextItem(raw string, i int) int {
	i = skipBlanks(raw, i)
	if raw[i] == ',' {
		i = skipBlanks(raw, i+1)
	}
	return i
}

func skipBlanks(raw string, i int) int {
	for raw[i] == ' ' || raw[i] == '\n' || raw[i] == '\t' || raw[i] == '\r' {
		i++
	}
	return i
}

// valueEnd returns the offset after the value that begins at i.
func valueEnd(raw string, i int) int {
	depth := 0
	for ; i < len(raw); i++ {
		switch raw[i] {
		case '"':
			i = stringEnd(raw, i)
			if depth == 0 {
				return i + 1
			}
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i // after a number or literal
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',', ':', ' ', '\n', '\t', '\r':
			if depth == 0 {
				return i
			}
		}
	}
	return i
}

// stringEnd returns the offset of the quotation mark that closes the string that begins
// at i.
func stringEnd(raw string, i int) int {
	end := i + 1 + strings.IndexByte(raw[i+1:], '"')
	if strings.IndexByte(raw[i:end], '\\') < 0 {
		return end
	}
	for i++; raw[i] != '"'; i++ {
		if raw[i] == '\\' {
			i++
		}
	}
	return i
}

// stringValue decodes a JSON string. It reports whether raw is one.
func stringValue(raw string) (string, bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return "", false
	}
	if strings.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], true
	}
	var s string
	err := json.Unmarshal([]byte(raw), &s)
	return s, err == nil
}
