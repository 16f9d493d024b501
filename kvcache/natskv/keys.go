package natskv

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

const (
	escape  = "=_" // begins every key that is not its own name
	hashed  = "="  // follows escape where a hash stands for the key
	longest = 1024 // bytes of a name; a subject has to fit in one line of the protocol
)

// keyName is what the bucket calls a key.
func keyName(key string) string {
	if plainKey(key) && len(key) <= longest {
		return key
	}
	if base64.RawURLEncoding.EncodedLen(len(key)) > longest {
		sum := sha256.Sum256([]byte(key))
		return escape + hashed + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return escape + base64.RawURLEncoding.EncodeToString([]byte(key))
}

// plainKey reports whether a key is allowed as a name in a bucket and cannot be
// taken for an escaped one.
func plainKey(key string) bool {
	if key == "" || key[0] == '.' || key[len(key)-1] == '.' || strings.Contains(key, "..") || strings.HasPrefix(key, escape) {
		return false
	}
	for i := 0; i < len(key); i++ {
		switch c := key[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '/', c == '_', c == '=', c == '.':
		default:
			return false
		}
	}
	return true
}
