package wire

import (
	"encoding/base64"
	"unicode/utf8"
)

// maxPlainToken is the length up to which a simple token is written verbatim.
const maxPlainToken = 128

// MaxIDBytes bounds tenant, document and chunk ids, so that a subject made of
// two of them stays far below the 4 KiB that a NATS server takes as one line.
const MaxIDBytes = 512

// EncodeToken makes one subject token of any string: [A-Za-z0-9_-]{1,128} stays
// as it is, everything else becomes "=" and unpadded base64url. Different
// strings have different tokens, because no plain token begins with "=".
func EncodeToken(s string) string {
	if isPlain(s) {
		return s
	}
	return "=" + base64.RawURLEncoding.EncodeToString([]byte(s))
}

// DecodeToken is the inverse of [EncodeToken] and accepts nothing else, so that
// one string never has two subjects. The error is a [*TokenError].
func DecodeToken(token string) (string, error) {
	if isPlain(token) {
		return token, nil
	}
	if token == "" || token[0] != '=' {
		return "", &TokenError{token, "neither 1 to 128 of [A-Za-z0-9_-] nor '=' and base64url"}
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token[1:])
	if err != nil {
		return "", &TokenError{token, "not unpadded base64url after '='"}
	}
	s := string(raw)
	if !utf8.ValidString(s) {
		return "", &TokenError{token, "does not encode UTF-8"}
	}
	if EncodeToken(s) != token {
		return "", &TokenError{token, "encodes what must be written verbatim"}
	}
	return s, nil
}

func isPlain(s string) bool {
	if len(s) == 0 || len(s) > maxPlainToken {
		return false
	}
	for i := range len(s) {
		if !isPlainByte(s[i]) {
			return false
		}
	}
	return true
}

func isPlainByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}
