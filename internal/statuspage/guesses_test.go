package statuspage_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// Whoever tries tokens is in the log, with how often and from where, but neither with
// what was tried nor in a line for each.
func TestWrongTokensAreLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		c := busy(1).operated()
		c.Logger = slog.New(slog.NewTextHandler(&log, nil))
		h := handler(t, c)
		ask := func(bearer string) int {
			with := order("/api/resume", `{"fleet":true}`)
			with.bearer = bearer
			return with.to(t, h).Code
		}
		lines := func() []string {
			var all []string
			for line := range strings.Lines(log.String()) {
				if strings.Contains(line, "wrong token") {
					all = append(all, line)
				}
			}
			return all
		}
		require.Equal(t, http.StatusOK, ask("Bearer "+token))
		require.Equal(t, http.StatusUnauthorized, ask(""))
		require.Empty(t, lines(), "a browser asks without one at first")

		for range 100 {
			require.Equal(t, http.StatusUnauthorized, ask("Bearer guess-hunter2-hunter2"))
		}
		require.Len(t, lines(), 1, "at once, and once")
		require.Contains(t, lines()[0], "requests=1")
		require.Contains(t, lines()[0], "level=WARN")
		require.Contains(t, lines()[0], "client=192.0.2.1")
		time.Sleep(10 * time.Second)
		synctest.Wait()
		require.Len(t, lines(), 2)
		require.Contains(t, lines()[1], "requests=99")
		time.Sleep(time.Hour)
		synctest.Wait()
		require.Len(t, lines(), 2, "nothing was asked since")
		require.Equal(t, http.StatusUnauthorized, ask("Basic hunter2"))
		require.Len(t, lines(), 3)
		require.NotContains(t, log.String(), "hunter2")
		require.NotContains(t, log.String(), token)
		time.Sleep(time.Minute)
	})
}

// lockedBuffer is a log that is read while a timer may write to it.
type lockedBuffer struct {
	mu  sync.Mutex
	all bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.all.String()
}
