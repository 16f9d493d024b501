package wire_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/weirkeeper/weirkeeper/internal/wire"
)

func TestTokensOfTheContract(t *testing.T) {
	for in, want := range map[string]string{
		"acme":                   "acme",
		"A_b-9":                  "A_b-9",
		strings.Repeat("a", 128): strings.Repeat("a", 128),
		"":                       "=",
		"a b":                    "=YSBi",
		"a.b":                    "=YS5i",
		"*":                      "=Kg",
		">":                      "=Pg",
		"=YSBi":                  "=PVlTQmk",
		"café":                   "=Y2Fmw6k",
		"a\x00b":                 "=YQBi",
		strings.Repeat("a", 129): "=" + strings.Repeat("YWFh", 43),
	} {
		require.Equal(t, want, wire.EncodeToken(in))
		back, err := wire.DecodeToken(want)
		require.NoError(t, err)
		require.Equal(t, in, back)
	}
}

func TestTokensNobodyWrites(t *testing.T) {
	for name, token := range map[string]string{
		"empty":                 "",
		"outside the alphabet":  "café",
		"too long for verbatim": strings.Repeat("a", 129),
		"padded":                "=YQ==",
		"standard alphabet":     "=+/+/",
		"trailing bits":         "=Kh",
		"not UTF-8":             "=_w",
		"plain, yet encoded":    "=YWNtZQ",
		"line break":            "=YS\n5i",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := wire.DecodeToken(token)
			var te *wire.TokenError
			require.ErrorAs(t, err, &te)
		})
	}
}

// Two ids never share a subject, and every id has one.
func TestTokensAreOneToOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := rapid.String().Draw(t, "a"), rapid.String().Draw(t, "b")
		ta, tb := wire.EncodeToken(a), wire.EncodeToken(b)
		require.Equal(t, a == b, ta == tb)
		back, err := wire.DecodeToken(ta)
		require.NoError(t, err)
		require.Equal(t, a, back)
	})
}

func FuzzDecodeToken(f *testing.F) {
	for _, s := range []string{"", "=", "acme", "=YSBi", "=YWNtZQ", "=Kh", "a.b", strings.Repeat("a", 129)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, token string) {
		s, err := wire.DecodeToken(token)
		if err == nil && wire.EncodeToken(s) != token {
			t.Fatalf("%q decodes to %q, which encodes to %q", token, s, wire.EncodeToken(s))
		}
		if strings.ContainsAny(wire.EncodeToken(token), ".*> \t\r\n\x00") {
			t.Fatalf("%q does not encode to one token", token)
		}
	})
}
