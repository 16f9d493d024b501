package wire_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

// No user has ever heard of a type of this program.
func TestJSONProblemsAreInTheWordsOfTheUser(t *testing.T) {
	type entry struct {
		RPM   *int64     `json:"rpm"`
		Until *time.Time `json:"until"`
		List  []entry    `json:"list"`
	}
	for text, want := range map[string]string{
		`{"rpm":"5"}`:                     "rpm must not be a JSON string",
		`{"rpm":0.5}`:                     "rpm must not be 0.5",
		`{"rpm":99999999999999999999}`:    "rpm must not be 99999999999999999999",
		`{"list":[{"rpm":{}}]}`:           "rpm must not be a JSON object",
		`7`:                               "it must not be a JSON number",
		`[]`:                              "it must not be a JSON array",
		`{"until":"tomorrow"}`:            "is no time such as 2026-01-31T12:00:00Z",
		`{"until":5}`:                     "a time must be a string such as",
		`{"rpm":5`:                        "unexpected end of JSON input",
		``:                                "unexpected end of JSON input",
		`{"rpm":x}`:                       "invalid character 'x'",
		`{"mine":1}`:                      `unknown field "mine"`,
		"{\"until\":\"\u007f\u001b[2J\"}": "",
	} {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.DisallowUnknownFields()
		var e entry
		err := json.Unmarshal([]byte(text), &e)
		if err == nil {
			err = decoder.Decode(&e)
		}
		require.Error(t, err, text)
		said := wire.JSONProblem(err)
		require.Contains(t, said, want, text)
		for _, internal := range []string{"Go ", "struct", "json:", "entry", "UnmarshalJSON", "2006-01-02", "\x1b", "\n"} {
			require.NotContains(t, said, internal, text)
		}
	}
}
