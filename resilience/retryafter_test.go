package resilience_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/resilience"
)

// The forms of the header are tested where they are parsed, in
// internal/retryafter.
func TestA22ParseRetryAfter(t *testing.T) {
	wait, ok := resilience.ParseRetryAfter(http.Header{"Retry-After": {"1.5"}}, time.Now())
	require.True(t, ok)
	require.Equal(t, 1500*time.Millisecond, wait)
	_, ok = resilience.ParseRetryAfter(http.Header{"Retry-After": {"-1"}}, time.Now())
	require.False(t, ok)
}
