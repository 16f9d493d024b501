package natsconn_test

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/natsconn"
	"github.com/weirkeeper/weirkeeper/internal/process"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func embedded(t *testing.T, o natsconn.EmbeddedOptions) *natsconn.Embedded {
	t.Helper()
	e, err := natsconn.StartEmbedded(o)
	require.NoError(t, err)
	t.Cleanup(func() { _ = e.Close() })
	return e
}

func TestNoAnswerIsAnErrorWithin5Seconds(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	refusing := closed.Addr().String()
	closed.Close()

	// A listener that takes connections and never says a word.
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { silent.Close() }) // after the parallel subtests

	for name, url := range map[string]string{
		"refused":    "nats://bob:s3cret@" + refusing,
		"silent":     "nats://bob:s3cret@" + silent.Addr().String(),
		"two silent": "nats://s3cret@" + silent.Addr().String() + "?x,nats://bob:s3cret@" + silent.Addr().String(),
		"no host":    "nats://bob:s3cret@weirkeeper.invalid:4222",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start := time.Now()
			_, err := natsconn.Connect(t.Context(), natsconn.Options{URL: url})
			require.Less(t, time.Since(start), 5*time.Second)
			var ce *natsconn.ConnectError
			require.ErrorAs(t, err, &ce)
			_, host, _ := strings.Cut(strings.Split(url, ",")[0], "@")
			require.Contains(t, err.Error(), strings.TrimSuffix(host, "?x"))
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
}

func TestCancelledConnect(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer silent.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = natsconn.Connect(ctx, natsconn.Options{URL: "nats://" + silent.Addr().String()})
	require.ErrorIs(t, err, context.Canceled)
}

func TestOptionsThatCannotBeUsed(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, []byte("nothing"), 0o600))
	for option, o := range map[string]natsconn.Options{
		"nats-url": {URL: "nats://bob:s3cret@ho st:4222"},
		"creds":    {Creds: file + "-missing"},
		"nkey":     {NKey: file},
		"tls-ca":   {TLSCA: file + "-missing"},
		"tls-cert": {TLSCert: file},
		"tls-key":  {TLSCert: file, TLSKey: file + "-missing"},
	} {
		t.Run(option, func(t *testing.T) {
			_, err := natsconn.Connect(t.Context(), o)
			var oe *natsconn.OptionError
			require.ErrorAs(t, err, &oe)
			require.Equal(t, option, oe.Option)
			require.NotContains(t, err.Error(), "s3cret")
		})
	}
	_, err := natsconn.Connect(t.Context(), natsconn.Options{URL: "http://127.0.0.1:1"})
	require.ErrorContains(t, err, "scheme")
}

func TestReconnectsAfterARestartAndSaysSo(t *testing.T) {
	var log process.Log
	dir := t.TempDir()
	first, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	require.NoError(t, err)
	_, portText, err := net.SplitHostPort(strings.TrimPrefix(first.URL(), "nats://"))
	require.NoError(t, err)
	port, err := strconv.Atoi(portText)
	require.NoError(t, err)

	back := make(chan struct{})
	nc, err := natsconn.Connect(t.Context(), natsconn.Options{
		URL: first.URL(), Name: "worker-1", Logger: slog.New(slog.NewTextHandler(&log, nil)),
	})
	require.NoError(t, err)
	defer nc.Close()
	require.Equal(t, "worker-1", nc.Opts.Name)
	handler := nc.ReconnectHandler()
	nc.SetReconnectHandler(func(nc *nats.Conn) { handler(nc); close(back) })

	require.NoError(t, first.Close())
	embedded(t, natsconn.EmbeddedOptions{StoreDir: dir, Port: port})
	select {
	case <-back:
	case <-time.After(20 * time.Second):
		t.Fatal("did not reconnect")
	}
	require.NoError(t, nc.FlushTimeout(5*time.Second))
	require.Contains(t, log.String(), "connection lost")
	require.Contains(t, log.String(), "is back")
}

func TestEmbeddedKeepsOrRemovesItsFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new")
	e, err := natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: dir})
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(e.URL(), "nats://127.0.0.1:"))
	require.NoError(t, e.Close())
	require.NoError(t, e.Close())
	require.DirExists(t, dir)

	t.Setenv("TMPDIR", t.TempDir())
	e, err = natsconn.StartEmbedded(natsconn.EmbeddedOptions{InProcess: true})
	require.NoError(t, err)
	require.Empty(t, e.URL())
	nc, err := e.Connect(natsconn.Options{Name: "inside"})
	require.NoError(t, err)
	nc.Close()
	require.NoError(t, e.Close())
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestEmbeddedThatCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer taken.Close()
	port := taken.Addr().(*net.TCPAddr).Port
	start := time.Now()
	_, err = natsconn.StartEmbedded(natsconn.EmbeddedOptions{Port: port})
	require.ErrorContains(t, err, "address already in use")
	require.Less(t, time.Since(start), 10*time.Second)

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = natsconn.StartEmbedded(natsconn.EmbeddedOptions{StoreDir: file})
	require.ErrorContains(t, err, "store-dir")

	_, err = natsconn.StartEmbedded(natsconn.EmbeddedOptions{Port: 70000})
	var oe *natsconn.OptionError
	require.True(t, errors.As(err, &oe))
}
