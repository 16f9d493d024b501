package health

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
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
