package openai_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/extraction/openai"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func sourced(key *atomic.Value) func(*openai.Config) {
	return func(c *openai.Config) {
		c.APIKey, c.KeySource = "", func() string { return key.Load().(string) }
	}
}

func TestAReplacedKeyIsTakenUpWithTheNextRequest(t *testing.T) {
	var key atomic.Value
	key.Store("sk-0ld-0ld-0ld-0ld\n")
	p := start(t, sourced(&key))
	p.server.RequireKey("sk-n3w-n3w-n3w-n3w")
	_, err := p.ask(sentence)
	var failed *extraction.ProviderError
	require.ErrorAs(t, err, &failed)
	require.Equal(t, extraction.KindAuth, failed.Kind)

	key.Store("sk-n3w-n3w-n3w-n3w\n")
	_, err = p.ask(sentence)
	require.NoError(t, err)

	// What no header can carry, and nothing, are somebody who is just writing.
	for _, unusable := range []string{"", " \n", "a\nb", "a\x00b"} {
		key.Store(unusable)
		_, err = p.ask(sentence)
		require.NoError(t, err, "%q", unusable)
	}
}

// A server may quote the key that it was sent a moment ago.
func TestReplacedKeysStayHidden(t *testing.T) {
	var key atomic.Value
	keys := []string{"k3y-number-one", "k3y-number-two", "k3y-number-three"}
	key.Store(keys[0])
	p := start(t, sourced(&key))
	for _, now := range keys {
		key.Store(now)
		_, err := p.ask(sentence)
		require.NoError(t, err)
	}
	echo := modelserver.Raw(http.StatusUnauthorized, "text/plain", "wrong: "+strings.Join(keys, ", "))
	require.NotContains(t, p.fails(echo).Error(), "k3y")
	shown := fmt.Sprintf("%v %+v %#v", p.provider, p.provider, p.provider)
	require.NotContains(t, shown, "k3y")
}

func TestAKeyIsGivenInOneWay(t *testing.T) {
	_, err := openai.New(openai.Config{Model: "m", APIKey: apiKey, KeySource: func() string { return apiKey }})
	var wrong *extraction.ArgumentError
	require.True(t, errors.As(err, &wrong))
	require.Equal(t, "KeySource", wrong.Argument)
	_, err = openai.New(openai.Config{Model: "m", KeySource: func() string { return "a\nb" }})
	require.ErrorContains(t, err, "APIKey")
	require.NotContains(t, err.Error(), "a\nb")
}
