package health

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A body that never comes holds no connection, whether somebody reads it or not.
func TestBodiesThatDoNotComeAreNotWaitedFor(t *testing.T) {
	for name, handler := range map[string]http.HandlerFunc{
		"read":     func(_ http.ResponseWriter, r *http.Request) { _, _ = io.ReadAll(r.Body) },
		"not read": func(http.ResponseWriter, *http.Request) {},
	} {
		server := httptest.NewServer(inTime(50*time.Millisecond, handler))
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		require.NoError(t, err, name)
		require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second)))
		_, err = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
		require.NoError(t, err, name)
		_, err = io.ReadAll(conn) // until the server closes it
		require.NoError(t, err, name)
		require.NoError(t, conn.Close(), name)
		server.Close()
	}
}

// once is a listener that has one connection for whoever accepts it.
type once struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (l once) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l once) Close() error { close(l.closed); return nil }

func (once) Addr() net.Addr { return &net.TCPAddr{} }

// A connection that nobody uses any more is closed after two minutes, and not before: a
// viewer of the page asks every two seconds, Prometheus every minute.
func TestConnectionsThatNobodyUsesEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, accepted := net.Pipe()
		listener := once{make(chan net.Conn, 1), make(chan struct{})}
		listener.conn <- accepted
		server := patient(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		done := make(chan error, 1)
		go func() { done <- server.Serve(listener) }()
		answers := bufio.NewReader(client)
		ask := func() {
			_, err := io.WriteString(client, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
			require.NoError(t, err)
			answer, err := http.ReadResponse(answers, nil)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, answer.StatusCode)
			require.NoError(t, answer.Body.Close())
		}
		ask()
		time.Sleep(2*time.Minute - time.Second)
		ask()
		asked := time.Now()
		_, err := answers.ReadByte()
		require.ErrorIs(t, err, io.EOF)
		require.Equal(t, 2*time.Minute, time.Since(asked))
		require.NoError(t, server.Close())
		require.ErrorIs(t, <-done, http.ErrServerClosed)
	})
}
