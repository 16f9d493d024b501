package openai

import (
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// mostKeys bounds how many replaced keys are still hidden in texts of servers: one
// may be in an answer to a request that was sent before.
const mostKeys = 16

// keyring has the key to send, and hides every key that was sent lately. It is
// safe for concurrent use.
type keyring struct {
	config Config
	mu     sync.Mutex // for replacing
	latest atomic.Pointer[keyState]
}

type keyState struct {
	key      string
	seen     []string // the latest last
	redactor redactor
}

func newKeyring(c Config) *keyring {
	k := &keyring{config: c}
	k.latest.Store(&keyState{key: c.APIKey, seen: []string{c.APIKey}, redactor: newRedactor(c, c.APIKey)})
	return k
}

// current is the key to send now. One that no header can carry, or none, is not
// taken: somebody is just writing it.
func (k *keyring) current() string {
	state := k.latest.Load()
	if k.config.KeySource == nil {
		return state.key
	}
	key := strings.TrimSpace(k.config.KeySource())
	if key == state.key || key == "" || !headerValue(key) {
		return state.key
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if state = k.latest.Load(); key == state.key {
		return key // another call was faster
	}
	seen := append(slices.DeleteFunc(slices.Clone(state.seen), func(s string) bool { return s == key }), key)
	seen = seen[max(0, len(seen)-mostKeys):]
	k.latest.Store(&keyState{key, seen, newRedactor(k.config, seen...)})
	k.config.Logger.Info("the model server's API key was replaced, going on with the new one", slog.String("model", k.config.Model))
	return key
}

// redactor hides what must not be seen, the keys of earlier requests too.
func (k *keyring) redactor() redactor { return k.latest.Load().redactor }
