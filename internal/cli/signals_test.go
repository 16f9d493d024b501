package cli_test

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/weirkeeper/weirkeeper/internal/cli"
)

func TestFirstSignalEndsInOrderTheSecondAborts(t *testing.T) {
	aborted := make(chan struct{})
	ctx, stop := cli.Interruptible(t.Context(), func() { close(aborted) })
	defer stop()
	self, err := os.FindProcess(os.Getpid())
	require.NoError(t, err)

	require.NoError(t, self.Signal(syscall.SIGTERM))
	select {
	case <-ctx.Done():
	case <-time.After(10 * time.Second):
		require.FailNow(t, "the first signal did not end the context")
	}
	select {
	case <-aborted:
		require.FailNow(t, "one signal must not abort")
	default:
	}
	require.NoError(t, self.Signal(os.Interrupt))
	select {
	case <-aborted:
	case <-time.After(10 * time.Second):
		require.FailNow(t, "the second signal did not abort")
	}
}
