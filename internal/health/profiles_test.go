package health_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/health"
)

func TestProfilesAreForThisMachineOnly(t *testing.T) {
	none := func() []string { return nil }
	config := health.Config{
		Live: none, Ready: none, Snapshot: func(context.Context) any { return nil }, Metrics: http.NotFoundHandler(), Profiles: true,
	}
	ask := func(handler http.Handler, path, remote, host string, header ...string) int {
		request := httptest.NewRequest(http.MethodGet, path, nil)
		request.RemoteAddr, request.Host = remote, host
		for i := 0; i+1 < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, request)
		return answer.Code
	}
	served := health.Handler(config)
	const heap, here = "/debug/pprof/heap", "127.0.0.1:50000"
	require.Equal(t, http.StatusOK, ask(served, heap, here, "127.0.0.1:9464"))
	require.Equal(t, http.StatusOK, ask(served, heap, "[::1]:50000", "localhost:9464"))
	require.Equal(t, http.StatusOK, ask(served, "/debug/pprof/", here, "localhost"))
	require.Equal(t, http.StatusForbidden, ask(served, heap, "10.0.0.7:50000", "127.0.0.1:9464"), "from elsewhere")
	require.Equal(t, http.StatusForbidden, ask(served, heap, here, "evil.example:9464"), "a browser that was led here")
	require.Equal(t, http.StatusForbidden, ask(served, heap, here, "127.0.0.1:9464", "X-Forwarded-For", "10.0.0.7"), "through a proxy")
	require.Equal(t, http.StatusNotFound, ask(served, "/debug/pprof/cmdline", here, "localhost"), "it may hold a key")

	config.Profiles = false
	require.Equal(t, http.StatusNotFound, ask(health.Handler(config), heap, here, "localhost"))
}
