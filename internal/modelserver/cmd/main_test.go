package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPrintsItsURLServesAndStopsWithItsParent(t *testing.T) {
	stdin, parent := io.Pipe()
	out, stdout := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run([]string{"-until-eof", "-models", "one,two", "-control", `{"default":"bad_gateway"}`}, stdin, stdout)
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)
	base := strings.TrimSpace(line)

	res, err := http.Get(base + "/models")
	require.NoError(t, err)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Contains(t, string(body), `"two"`)
	res, err = http.Post(base+"/chat/completions", "application/json", strings.NewReader(`{"messages":[]}`))
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, http.StatusBadGateway, res.StatusCode)

	require.NoError(t, parent.Close())
	require.NoError(t, <-done)
}

func TestRefusesABadCommandBeforeListening(t *testing.T) {
	require.ErrorContains(t, run([]string{"-control", `{"default":"nonsense"}`}, nil, io.Discard), "nonsense")
	require.ErrorContains(t, run([]string{"-addr", "0.0.0.0:0"}, nil, io.Discard), "loopback")
}

func TestHelpIsNoFailure(t *testing.T) {
	for _, flag := range []string{"-h", "--help"} {
		var out strings.Builder
		require.NoError(t, run([]string{flag}, nil, &out))
		require.Regexp(t, `^Usage of practice-model:\n  -addr string\n`, out.String())
		require.NotContains(t, out.String(), "requested")
	}
	var out strings.Builder
	require.EqualError(t, run([]string{"-nonsense"}, nil, &out), "flag provided but not defined: -nonsense")
	require.Empty(t, out.String())
}
