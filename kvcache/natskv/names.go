package natskv

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// longestToken keeps subjects far below what the server takes in one line.
const longestToken = 200

// subjectToken is a key as one token of a subject. Letters, digits, - and _ stand
// for themselves; any other key is = and its bytes in unpadded base64url, or ~ and
// its hash if that would be too long.
func subjectToken(key string) string {
	plain := key != ""
	for i := 0; i < len(key) && plain; i++ {
		c := key[i]
		plain = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_'
	}
	token := key
	if !plain {
		token = "=" + base64.RawURLEncoding.EncodeToString([]byte(key))
	}
	if len(token) > longestToken {
		sum := sha256.Sum256([]byte(key))
		token = "~" + base64.RawURLEncoding.EncodeToString(sum[:])
	}
	return token
}

// apiPrefix is where js asks.
func apiPrefix(o jetstream.JetStreamOptions) string {
	switch {
	case o.Domain != "":
		return "$JS." + o.Domain + ".API."
	case o.APIPrefix != "":
		return strings.TrimSuffix(o.APIPrefix, ".") + "."
	}
	return jetstream.DefaultAPIPrefix
}

// unavailable marks an error of the store.
func unavailable(err error) error { return fmt.Errorf("%w: %w", kvcache.ErrUnavailable, err) }
