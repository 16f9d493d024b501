package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// Interruptible returns a context that the first SIGINT or SIGTERM cancels, so
// that a command can end in order. The second signal calls abort, for a user
// who does not want to wait. Call stop when the command has ended.
func Interruptible(parent context.Context, abort func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		for count := 0; ; count++ {
			select {
			case <-signals:
				if count > 0 {
					abort()
					return
				}
				cancel()
			case <-ended:
				return
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(ended)
		cancel()
	}
}
