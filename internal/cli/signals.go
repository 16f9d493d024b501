package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// echo is how close together the same signal twice counts as once: timeout(1) and
// terminals signal a process and its group.
const echo = 100 * time.Millisecond

// Interruptible returns a context that the first SIGINT or SIGTERM cancels, so
// that a command can end in order. The second signal calls abort, for a user
// who does not want to wait. Call stop when the command has ended.
func Interruptible(parent context.Context, abort func()) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancel(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ended := make(chan struct{})
	go func() {
		var first os.Signal
		var at time.Time
		for {
			select {
			case s := <-signals:
				switch {
				case first == nil:
					first, at = s, time.Now()
					cancel()
				case s != first || time.Since(at) > echo:
					abort()
					return
				}
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
