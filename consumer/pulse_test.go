package consumer

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

// A message is kept alive for as long as its server hears of it, and is lost for
// good once that has been too long ago.
func TestPulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var beats atomic.Int64
		var connected atomic.Bool
		connected.Store(true)
		p := newPulse(3*time.Second, func() bool {
			beats.Add(1)
			return connected.Load()
		})
		time.Sleep(time.Minute)
		synctest.Wait()
		require.EqualValues(t, 60, beats.Load())
		require.False(t, p.lost())

		connected.Store(false)
		time.Sleep(2500 * time.Millisecond)
		require.False(t, p.lost(), "the ack wait is not over")
		time.Sleep(time.Second)
		require.True(t, p.lost())
		connected.Store(true)
		tried := beats.Load()
		time.Sleep(time.Minute)
		require.True(t, p.lost(), "to be heard again makes it nobody's twice")
		require.Equal(t, tried, beats.Load(), "another's message is not kept alive")
		p.stop()
	})
}

// A short outage loses nothing.
func TestPulseThatComesBackInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var connected atomic.Bool
		p := newPulse(3*time.Second, connected.Load)
		time.Sleep(2500 * time.Millisecond)
		connected.Store(true)
		time.Sleep(time.Minute)
		require.False(t, p.lost())
		require.False(t, Lost(context.Background()))
		require.False(t, Lost(context.WithValue(t.Context(), pulseKey{}, p)))
		p.stop()
	})
	require.True(t, errors.Is(ErrLost, context.Canceled), "so that nobody counts it against a server")
}
