package extraction

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What is JSON to encoding/json is to the reader, and nothing else is.
func FuzzJSONReader(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -0.5e+7 , true , false , null , "\u00e9\n\ud83d\ude00\ud800" ] , "b" : { } } `, "\"\x80\"", `0`, `-0`, `1E5`, `1.50`,
		``, ` `, `{`, `[`, `"`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "\"\n\"", `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `NaN`, `nul`, `truex`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a" 1}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `[1 2]`, `[1}`, `{"a":1]`, `]`, `{}{}`, `[] x`, `"a" b`, "\ufeff{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := jsonReader{text: text}
		r.blanks()
		value := r.value()
		valid := r.ended()
		require.Equal(t, json.Valid([]byte(text)), valid, "%q", text)
		if !valid {
			return
		}
		require.Equal(t, strings.Trim(text, " \n\t\r"), value)
		r = jsonReader{text: value}
		said, is := r.str()
		var want any
		require.NoError(t, json.Unmarshal([]byte(value), &want))
		if utf8.ValidString(text) && (is || value[0] == '"') {
			require.Equal(t, want, said)
		}
	})
}

func TestJSONIsReadAsDeepAsEncodingJSONReadsIt(t *testing.T) {
	for _, depth := range []int{deepest, deepest + 1} {
		text := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
		r := jsonReader{text: text}
		r.value()
		require.Equal(t, json.Valid([]byte(text)), r.ended(), depth)
	}
	r := jsonReader{text: strings.Repeat(`{"a":`, 1_000_000)}
	r.value()
	require.False(t, r.ended())
}
