package main

import (
	"context"
	"log/slog"
	"sync"

	"github.com/weirkeeper/weirkeeper/internal/wire/limits"
)

// follow reads what is granted to single tenants, so that the first chunk already
// finds it, and keeps to it until the function that it returns is called. changed
// hears of every change.
func follow(granted *limits.Follower, changed func(), logger *slog.Logger) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	if _, err := granted.Look(ctx); err != nil {
		logger.Warn("cannot read the limits of single tenants yet, beginning with those of the flags", "error", err.Error())
	}
	var following sync.WaitGroup
	following.Go(func() { granted.Run(ctx, changed) })
	return func() {
		cancel()
		following.Wait()
	}
}
