package admission

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// A place that is given to a caller in the instant in which it leaves comes back.
func TestGrantedToWhoHasLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(WithConcurrency(1))
		require.NoError(t, err)
		defer func() { require.NoError(t, c.Close()) }()
		for range 200 { // which of the two is first is up to chance
			ctx, leave := context.WithCancel(t.Context())
			first, second := NewCall(), NewCall()
			_, err := c.acquire(t.Context(), first)
			require.NoError(t, err)
			go func() {
				if _, err := c.acquire(ctx, second); err == nil {
					c.leave(second, true)
				}
			}()
			synctest.Wait()
			leave()
			c.leave(first, true)
			synctest.Wait()
			s := c.Snapshot()
			require.Zero(t, s.Active)
			require.Zero(t, s.Queued)
		}
	})
}
