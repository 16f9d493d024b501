package health_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/weirkeeper/weirkeeper/internal/health"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func get(t *testing.T, server *health.Server, path string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+server.Address()+path, nil)
	require.NoError(t, err)
	request.Close = true
	response, err := http.DefaultClient.Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	require.NoError(t, err)
	return response.StatusCode, string(body)
}

func TestAnswersSayWhyNot(t *testing.T) {
	reasons, notes := []string{"not connected to NATS", "draining"}, []string(nil)
	server, err := health.Listen("127.0.0.1:0", health.Handler(health.Config{
		Live:     func() []string { return nil },
		Ready:    func() []string { return reasons },
		Notes:    func(context.Context) []string { return notes },
		Snapshot: func(context.Context) any { return map[string]int{"in_flight": 3} },
		Metrics:  http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "x 1\n") }),
	}))
	require.NoError(t, err)
	defer server.Close()

	status, body := get(t, server, "/healthz")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"ok":true,"reasons":[]}`, body)

	status, body = get(t, server, "/readyz")
	require.Equal(t, http.StatusServiceUnavailable, status)
	var answer struct {
		OK      bool
		Reasons []string
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer))
	require.False(t, answer.OK)
	require.Equal(t, reasons, answer.Reasons)

	reasons, notes = nil, []string{"paused"}
	status, body = get(t, server, "/readyz")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"ok":true,"reasons":[],"notes":["paused"]}`, body)

	status, body = get(t, server, "/snapshot")
	require.Equal(t, http.StatusOK, status)
	require.JSONEq(t, `{"in_flight":3}`, body)

	_, body = get(t, server, "/metrics")
	require.Equal(t, "x 1\n", body)

	status, _ = get(t, server, "/other")
	require.Equal(t, http.StatusNotFound, status)
}

func TestAddressesAreChecked(t *testing.T) {
	for _, address := range []string{"", "nonsense", "9464", "127.0.0.1:"} {
		_, err := health.Listen(address, http.NotFoundHandler())
		var wrong *health.AddressError
		require.ErrorAs(t, err, &wrong, address)
	}
	// No host means this machine only.
	server, err := health.Listen(":0", http.NotFoundHandler())
	require.NoError(t, err)
	defer server.Close()
	require.Contains(t, server.Address(), "127.0.0.1:")

	_, err = health.Listen(server.Address(), http.NotFoundHandler())
	require.ErrorContains(t, err, "in use")
}

func TestWatchdogComplainsOnlyWithoutProgressAndExcuse(t *testing.T) {
	now := time.Unix(1000, 0)
	dog := health.NewWatchdog(time.Minute, func() time.Time { return now })
	progress := now
	require.Empty(t, dog.Look(progress, false))
	now = now.Add(59 * time.Second)
	require.Empty(t, dog.Look(progress, false))
	now = now.Add(2 * time.Second)
	require.Contains(t, dog.Look(progress, false), "1m1s")
	require.Empty(t, dog.Look(now, false), "it goes on")

	progress = now
	now = now.Add(time.Hour)
	require.Empty(t, dog.Look(progress, true), "the server was gone for an hour")
	now = now.Add(30 * time.Second)
	require.Empty(t, dog.Look(progress, false), "it is back, the first pull is out")
	now = now.Add(31 * time.Second)
	require.NotEmpty(t, dog.Look(progress, false))
}

func TestLoopback(t *testing.T) {
	for address, want := range map[string]bool{"127.0.0.1:9464": true, "[::1]:9464": true, "127.8.8.8:1": true, "0.0.0.0:9464": false, "[::]:9464": false, "10.0.0.1:1": false, "nonsense": false} {
		require.Equal(t, want, health.Loopback(address), address)
	}
}
