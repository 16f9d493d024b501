package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestMistakesAreNamed(t *testing.T) {
	for want, args := range map[string][]string{
		"-provider must be offline or openai": {"-provider", "oracle"},
		"-every must be at least 1":           {"-every", "0"},
		"Model is required":                   {"-provider", "openai", "-base-url", "http://127.0.0.1:1/v1"},
		"no such file":                        {"-gold", filepath.Join(t.TempDir(), "none.jsonl")},
	} {
		require.ErrorContains(t, run(t.Context(), args, io.Discard), want)
	}
}

func TestScoresTheSampleAndOwnGold(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.jsonl")
	require.NoError(t, os.WriteFile(own, []byte(`{"id":"1","text":"Ada Lovelace met Bob Fox.","entities":[{"name":"Ada Lovelace","type":"person"},{"name":"Bob Fox","type":"person"}],`+
		`"relationships":[{"source":"Ada Lovelace","target":"Bob Fox","type":"met"}]}`), 0o644))
	var sample strings.Builder
	require.NoError(t, run(t.Context(), nil, &sample))
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	for line := range strings.Lines(sample.String()) {
		if !strings.Contains(line, "documents/s") { // of this machine
			require.Contains(t, string(readme), strings.TrimRight(line, " \n"), "the README has these figures")
		}
	}
	require.NoError(t, run(t.Context(), []string{"-gold", own, "-types", "all", "-every-surface"}, io.Discard))
	require.NoError(t, run(t.Context(), []string{"-gold", own, "-convert"}, io.Discard))
}
