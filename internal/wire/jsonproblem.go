package wire

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// JSONProblem says what is wrong with a JSON text in the words of who wrote it:
// encoding/json names the types of this program, which nobody outside knows. It is
// one line without control characters.
func JSONProblem(err error) string {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		what := wrong.Value
		if number, ok := strings.CutPrefix(what, "number "); ok {
			what = number
		} else {
			what = "a JSON " + what
		}
		if wrong.Field == "" {
			return "it must not be " + CleanError(what)
		}
		return CleanError(fmt.Sprintf("%s must not be %s", wrong.Field, what))
	}
	if wrong, ok := errors.AsType[*time.ParseError](err); ok {
		return CleanError(fmt.Sprintf("%s is no time such as 2026-01-31T12:00:00Z", wrong.Value))
	}
	reason := err.Error()
	if strings.HasPrefix(reason, "Time.UnmarshalJSON") {
		return "a time must be a string such as \"2026-01-31T12:00:00Z\""
	}
	return CleanError(strings.TrimPrefix(strings.TrimPrefix(reason, "json: "), "http: "))
}
