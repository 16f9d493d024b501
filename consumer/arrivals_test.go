package consumer

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The looks of a fleet together do not grow with it, and none looks too rarely.
func TestLookInterval(t *testing.T) {
	for _, c := range []struct {
		fleet      int
		took, want time.Duration
	}{
		{1, 0, time.Second},
		{20, 0, time.Second},
		{100, 0, 5 * time.Second},
		{1000, 0, 10 * time.Second},
		{1, 500 * time.Millisecond, 10 * time.Second},
		{100, 30 * time.Millisecond, 5 * time.Second},
		{100, 500 * time.Millisecond, 50 * time.Second},
		{1000, 500 * time.Millisecond, time.Minute},
		{1000, 5 * time.Second, 100 * time.Second},
	} {
		require.Equal(t, c.want, lookInterval(c.fleet, c.took), "%d workers, %v", c.fleet, c.took)
	}
}
