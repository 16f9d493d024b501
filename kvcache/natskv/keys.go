package natskv

import (
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// A key has two names: one in the bucket, and one as a single token of a subject in the
// streams of hits and ledgers, where no subject may have more tokens than another.

const (
	escape  = "=_" // begins every key that is not its own name
	hashed  = "="  // follows escape where a hash stands for the key
	longest = 1024 // bytes of a name; a subject has to fit in one line of the protocol

	tokenEscape  = "="
	tokenHashed  = "~"
	longestToken = 200 // keeps subjects far below what the server takes in one line
)

// keyName is what the bucket calls a key.
func keyName(key string) string {
	if plainKey(key) && len(key) <= longest {
		return key
	}
	if base64.RawURLEncoding.EncodedLen(len(key)) > longest {
		return escape + hashed + hashOf(key)
	}
	return escape + base64.RawURLEncoding.EncodeToString([]byte(key))
}

// KeyOf is the key that a bucket has under a name, for who reads the bucket itself;
// ok is false where a hash stands for the key.
func KeyOf(name string) (key string, ok bool) {
	encoded, escaped := strings.CutPrefix(name, escape)
	if !escaped {
		return name, true
	}
	plain, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(plain), err == nil
}

// plainKey reports whether a key is allowed as a name in a bucket and cannot be
// taken for an escaped one.
func plainKey(key string) bool {
	if key == "" || key[0] == '.' || key[len(key)-1] == '.' || strings.Contains(key, "..") || strings.HasPrefix(key, escape) {
		return false
	}
	for i := range len(key) {
		if c := key[i]; !plainByte(c) && c != '/' && c != '=' && c != '.' {
			return false
		}
	}
	return true
}

// subjectToken is a key as one token of a subject. Letters, digits, - and _ stand
// for themselves; any other key is = and its bytes in unpadded base64url, or ~ and
// its hash if that would be too long.
func subjectToken(key string) string {
	token := key
	if !plainToken(key) {
		token = tokenEscape + base64.RawURLEncoding.EncodeToString([]byte(key))
	}
	if len(token) > longestToken {
		token = tokenHashed + hashOf(key)
	}
	return token
}

// keyOfToken is the inverse of subjectToken; ok is false where a hash stands for the
// key.
func keyOfToken(token string) (key string, ok bool) {
	encoded, escaped := strings.CutPrefix(token, tokenEscape)
	if !escaped {
		return token, !strings.HasPrefix(token, tokenHashed)
	}
	plain, err := base64.RawURLEncoding.DecodeString(encoded)
	return string(plain), err == nil
}

func plainToken(key string) bool {
	for i := range len(key) {
		if !plainByte(key[i]) {
			return false
		}
	}
	return key != ""
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
}

func hashOf(key string) string {
	sum := sha256.Sum256([]byte(key))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
