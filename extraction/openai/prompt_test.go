package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

func reports(promptTokens int) modelserver.Behaviour {
	return modelserver.Behaviour{Name: "custom", Usage: fmt.Appendf(nil, `{"prompt_tokens":%d,"completion_tokens":5}`, promptTokens)}
}

func TestAPromptThatTheServerCutIsContextTooLong(t *testing.T) {
	long := strings.Repeat("Ada met Babbage in the city of London again. ", 1000) // 9000 words
	p := start(t)
	p.server.Then(reports(2048))
	_, err := p.ask(long)
	require.ErrorIs(t, err, extraction.ErrContextTooLong)

	// A small context is believed of a server that has counted well before.
	medium := long[:len(long)/20]
	p = start(t)
	p.server.Then(reports(600), reports(100))
	_, err = p.ask(medium)
	require.NoError(t, err)
	_, err = p.ask(medium)
	require.ErrorIs(t, err, extraction.ErrContextTooLong)
}

func TestAServerThatDoesNotCountCostsNoResults(t *testing.T) {
	long := strings.Repeat("Ada met Babbage in the city of London again. ", 1000)
	p := start(t)
	for _, n := range []int{0, 1, 10, 42, 100, 500, -7} {
		for _, text := range []string{sentence, long} {
			p.server.Then(reports(n))
			_, err := p.ask(text)
			require.NoError(t, err, n)
		}
	}
	// Text with few spaces, and counts a little low, are no sign either.
	p.server.Then(reports(600), reports(6000))
	_, err := p.ask(strings.Repeat("東京は日本の首都です。", 300))
	require.NoError(t, err)
	_, err = p.ask(long)
	require.NoError(t, err)
}
