package strictjson

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
)

// What is JSON to encoding/json is to the reader, and nothing else is.
func FuzzReader(f *testing.F) {
	for _, seed := range []string{
		`{}`, `[]`, ` { "a" : [ 1 , -0.5e+7 , true , false , null , "\u00e9\n\ud83d\ude00\ud800" ] , "b" : { } } `, "\"\x80\"", `0`, `-0`, `1E5`, `1.50`, `1e400`,
		``, ` `, `{`, `[`, `"`, `"\`, `"\u12`, `"\u12g4"`, `"\x"`, "\"\n\"", `01`, `-`, `1.`, `.5`, `1e`, `1e+`, `+1`, `NaN`, `nul`, `truex`,
		`{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{1:2}`, `{"a" 1}`, `{"a":1 "b":2}`, `[1,]`, `[,1]`, `[1 2]`, `[1}`, `{"a":1]`, `]`, `{}{}`, `[] x`, `"a" b`, "\ufeff{}",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := Read(text)
		value := r.Value()
		valid := r.Ended()
		require.Equal(t, json.Valid([]byte(text)), valid, "%q", text)
		if !valid {
			return
		}
		require.Equal(t, strings.Trim(text, " \n\t\r"), value)
		r = Read(value)
		said, is := r.Str()
		require.Equal(t, value[0] == '"', is)
		if is && utf8.ValidString(text) {
			var want string
			require.NoError(t, json.Unmarshal([]byte(value), &want))
			require.Equal(t, want, said)
		}
	})
}

func TestJSONIsReadAsDeepAsEncodingJSONReadsIt(t *testing.T) {
	for _, depth := range []int{deepest, deepest + 1} {
		text := strings.Repeat(`[`, depth) + strings.Repeat(`]`, depth)
		r := Read(text)
		r.Value()
		require.Equal(t, json.Valid([]byte(text)), r.Ended(), depth)
	}
	r := Read(strings.Repeat(`{"a":`, 1_000_000))
	r.Value()
	require.False(t, r.Ended())
}
