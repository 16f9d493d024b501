package consumer

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A crew starts everything at once, however much that is, keeps its goroutines
// and leaves none behind.
func TestCrew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCrew()
		for range 3 {
			release, begun := make(chan struct{}), 0
			for range 5 {
				c.start(func() { <-release })
				begun++
			}
			synctest.Wait()
			require.Equal(t, 5, begun)
			require.Zero(t, c.idle, "all five are at work")
			close(release)
			c.wait()
			require.Equal(t, 5, c.idle, "no more than ever ran at a time")
		}
		late := make(chan struct{})
		c.start(func() { <-late })
		c.dismiss()
		c.start(func() {}) // after a dismissal it starts over
		close(late)
		c.wait()
		require.Equal(t, 1, c.idle)
		c.dismiss()
	}) // fails if a goroutine is left
}
