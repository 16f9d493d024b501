// Package examples has programs that use the libraries as somebody outside this
// repository would. This test runs them.
package examples_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/process"
)

const patience = time.Minute

func build(t *testing.T, example string) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), example)
	output, err := exec.Command("go", "build", "-o", program, "./"+example).CombinedOutput()
	require.NoError(t, err, "%s", output)
	return program
}

func natsServer(t *testing.T) (url string, js jetstream.JetStream) {
	t.Helper()
	server, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { _ = server.Close() })
	nc, err := server.Connect(natsconn.Options{})
	require.NoError(t, err)
	t.Cleanup(nc.Close)
	js, err = jetstream.New(nc)
	require.NoError(t, err)
	return server.URL(), js
}

// A worker with a provider of one's own takes documents from the fleet's queue,
// and stops when it is told to.
func TestOwnProvider(t *testing.T) {
	t.Parallel()
	url, js := natsServer(t)
	output := &process.Log{}
	p, err := process.Command{Path: build(t, "own-provider"), Home: t.TempDir(), Env: []string{"NATS_URL=" + url}, Err: output}.Start()
	require.NoError(t, err)
	defer p.Kill()

	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var results jetstream.Stream
	require.Eventually(t, func() bool {
		results, err = js.Stream(ctx, "WEIR_RESULTS")
		return err == nil
	}, patience, 20*time.Millisecond, "%s", output)
	_, err = js.Publish(ctx, "weir.documents.acme", []byte("Ada Lovelace met Charles Babbage in London."))
	require.NoError(t, err)
	var stored *jetstream.RawStreamMsg
	require.Eventually(t, func() bool {
		stored, err = results.GetLastMsgForSubject(ctx, "weir.results.acme.*.0")
		return err == nil
	}, patience, 20*time.Millisecond, "%s", output)
	var result struct {
		Model    string
		Entities []struct{ Name string }
	}
	require.NoError(t, json.Unmarshal(stored.Data, &result))
	require.Equal(t, "example/glossary", result.Model)
	require.Len(t, result.Entities, 3)

	require.NoError(t, p.Signal(syscall.SIGTERM))
	code, err := p.Wait(patience)
	require.NoError(t, err, "%s", output)
	require.Equal(t, 0, code, "%s", output)
}

// Calls over the limit are refused by every process that shares the state, and a
// circuit keeps all from a server that is down.
func TestGuardedCall(t *testing.T) {
	t.Parallel()
	url, _ := natsServer(t)
	program := build(t, "guarded-call")
	up, down := 0, 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/down" {
			down++
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		up++
	}))
	defer server.Close()
	run := func(natsURL string, paths ...string) string {
		var urls []string
		for _, path := range paths {
			urls = append(urls, server.URL+path)
		}
		cmd := exec.Command(program, urls...)
		cmd.Env = append(os.Environ(), "NATS_URL="+natsURL)
		output, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", output)
		return string(output)
	}
	require.Contains(t, run("", "/", "/", "/", "/"), "over the limit")
	require.Equal(t, 3, up)
	require.NotContains(t, run("", "/"), "over the limit", "another process knows nothing of it")
	require.NotContains(t, run(url, "/", "/"), "over the limit")
	require.Contains(t, run(url, "/", "/"), "over the limit", "but here it does")
	require.Equal(t, 7, up)
	require.Contains(t, run("", "/down", "/down", "/down"), "circuit is open")
	require.Equal(t, 4, down, "two calls, each tried twice")
}
