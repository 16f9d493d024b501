package main

import (
	"encoding/pem"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/extraction"
	"github.com/weirkeeper/weirkeeper/internal/cli"
	"github.com/weirkeeper/weirkeeper/internal/modelserver"
)

// modelOf is what newProvider makes of a command line.
func modelOf(t *testing.T, args ...string) (extraction.Provider, error) {
	t.Helper()
	var flags struct {
		Go struct {
			engineFlags `embed:""`
			testCommand `embed:""`
		} `cmd:"" default:"withargs"`
	}
	app := cli.App{Name: "worker", LogLevel: "info", Groups: groups, Streams: cli.Streams{Out: io.Discard, Err: io.Discard}, LookupEnv: func(string) (string, bool) { return "", false }}
	require.Equal(t, cli.ExitDone, app.Run(t.Context(), append([]string{"go", "--rpm", "unlimited"}, args...), &flags))
	if err := flags.Go.engineFlags.check(); err != nil {
		return nil, err
	}
	provider, closeProvider, err := newProvider(flags.Go.engineFlags, slog.New(slog.DiscardHandler))
	if err == nil {
		t.Cleanup(closeProvider)
	}
	return provider, err
}

type testCommand struct{}

func (testCommand) Run() error { return nil }

func TestFlagsOfTheModelReachTheRequest(t *testing.T) {
	var header http.Header
	var body []byte
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header = r.Header
		body, _ = io.ReadAll(r.Body)
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`)
	}))
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the refused handshake
	server.StartTLS()
	defer server.Close()
	authority := filepath.Join(t.TempDir(), "ca.pem")
	require.NoError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o600))

	ask := func(args ...string) error {
		provider, err := modelOf(t, append([]string{"--openai-base-url", server.URL + "/v1"}, args...)...)
		require.NoError(t, err)
		_, err = provider.Extract(t.Context(), extraction.Request{Text: "Ada"})
		return err
	}
	untrusted := ask()
	require.ErrorContains(t, untrusted, "certificate")
	require.Contains(t, (&checkup{flags: &checkCommand{}}).cure(untrusted), "--openai-ca")
	require.NoError(t, ask("--openai-ca", authority, "--stream", "--stream-idle-timeout", "5s", "--attempt-timeout", "20s",
		"--openai-header", "X-One: a, b: c", "--openai-header", "api-key:hunter2\nX-Three: 3\n",
		"--openai-body", `{"chat_template_kwargs":{"enable_thinking":false},"seed":9007199254740993,"temperature":0.2}`))
	require.Equal(t, "a, b: c", header.Get("X-One"))
	require.Equal(t, "hunter2", header.Get("Api-Key"))
	require.Equal(t, "3", header.Get("X-Three"))
	for _, part := range []string{`"chat_template_kwargs":{"enable_thinking":false}`, `"seed":9007199254740993`, `"temperature":0.2`, `"stream":true`} {
		require.Contains(t, string(body), part)
	}
}

func TestFlagsOfTheModelThatCannotWork(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	require.NoError(t, os.WriteFile(empty, []byte("hunter2"), 0o600))
	for want, args := range map[string][]string{
		"--openai-ca: open":                      {"--openai-ca", "/nowhere/ca.pem"},
		"has no certificate in PEM":              {"--openai-ca", empty},
		`--openai-body must not set "model"`:     {"--openai-body", `{"model":"x"}`},
		`--openai-header must not set "Host"`:    {"--openai-header", "Host: hunter2"},
		"--openai-header \"a b\" is not a valid": {"--openai-header", "a b: hunter2"},
		"--stream-idle-timeout goes with":        {"--stream-idle-timeout", "5s"},
		"--stream-idle-timeout must be positive": {"--stream", "--stream-idle-timeout=-5s"},
		"--attempt-timeout must be shorter":      {"--attempt-timeout", "5m"},
		"--attempt-timeout must be positive":     {"--attempt-timeout", "11m"},
		"--openai-base-url must":                 {"--openai-base-url", "ftp://x"},
	} {
		_, err := modelOf(t, append([]string{"--provider", "openai"}, args...)...)
		require.ErrorContains(t, err, want)
		require.NotContains(t, err.Error(), "hunter2")
	}
	_, err := modelOf(t, "--provider", "openai", "--attempt-timeout", "299s")
	require.NoError(t, err)

	var h headers
	require.Error(t, h.UnmarshalText([]byte("hunter2")))
	require.Error(t, h.UnmarshalText([]byte(": hunter2")))
	var b bodyFields
	for _, text := range []string{"", "null", "[]", "{} {}", `{"a":1`, "hunter2"} {
		err := b.UnmarshalText([]byte(text))
		require.Error(t, err, text)
		require.NotContains(t, err.Error(), "hunter2")
	}
}

func TestAnAttemptTakesAsLongAsItsChunkUnlessAFlagSaysLess(t *testing.T) {
	for _, c := range []struct{ attempt, deadline, want time.Duration }{
		{0, 5 * time.Minute, 5 * time.Minute}, {0, time.Hour, 10 * time.Minute}, {20 * time.Second, 5 * time.Minute, 20 * time.Second},
	} {
		config, err := modelFlags{AttemptTimeout: c.attempt}.client(c.deadline, 8, nil)
		require.NoError(t, err)
		require.Equal(t, c.want, config.Timeout)
	}
}

func TestCheckSaysWhatTheClientHasLearnt(t *testing.T) {
	server, err := modelserver.New(modelserver.Options{})
	require.NoError(t, err)
	defer server.Close()
	server.Default(modelserver.Behaviour{Context: 8192})
	u := &checkup{flags: &checkCommand{engineFlags: engineFlags{modelFlags: modelFlags{Stream: true, MaxTokens: 8192}}}}
	u.provider, err = modelOf(t, "--openai-base-url", server.BaseURL(), "--stream")
	require.NoError(t, err)
	_, err = u.provider.Extract(t.Context(), extraction.Request{Text: "Ada"})
	require.NoError(t, err)
	require.Equal(t, "; answers are streamed; the server allows no answers of --max-tokens 8192, so they may have 4096", u.learnt())

	server.Then(modelserver.Fails(400, modelserver.StyleOpenAI, "", "'stream' is not supported"))
	_, err = u.provider.Extract(t.Context(), extraction.Request{Text: "Ada"})
	require.NoError(t, err)
	require.Contains(t, u.learnt(), "; the server does not stream, so --stream changes nothing;")
}

func TestKeyComesFromAFileThatMayBeReplaced(t *testing.T) {
	var sent []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = append(sent, r.Header.Get("Authorization"))
		_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`)
	}))
	defer server.Close()
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte("old-key\n"), 0o600))
	// The file alone is enough for auto to mean openai.
	provider, err := modelOf(t, "--openai-api-key-file", file)
	require.NoError(t, err)
	require.Equal(t, "openai/gpt-4o-mini", provider.Model())
	provider, err = modelOf(t, "--openai-base-url", server.URL+"/v1", "--openai-api-key-file", file)
	require.NoError(t, err)
	for _, key := range []string{"old-key", "new-key"} {
		require.NoError(t, os.WriteFile(file, []byte(key+"\n"), 0o600))
		_, err = provider.Extract(t.Context(), extraction.Request{Tenant: "acme", Text: "Ada."})
		require.NoError(t, err)
	}
	require.Equal(t, []string{"Bearer old-key", "Bearer new-key"}, sent)

	_, err = modelOf(t, "--openai-api-key-file", file+"-missing")
	require.ErrorContains(t, err, "--openai-api-key-file: "+file+"-missing: there is no such file")
	_, err = modelOf(t, "--openai-api-key-file", file, "--openai-api-key", "hunter2")
	require.ErrorContains(t, err, "give one of them")
	require.NotContains(t, err.Error(), "hunter2")
}
