package main

import (
	"context"
	"log/slog"
	"sync"
)

// follower reads a bucket that operators write.
type follower interface {
	Look(ctx context.Context) (changed bool, err error)
	Run(ctx context.Context, changed func())
}

// followOperators reads what operators have granted to single tenants and what they have
// paused, so that the first chunk already finds it, and keeps to it until the
// function that it returns is called. changed hears of every change.
func followOperators(changed func(), logger *slog.Logger, followers ...follower) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	for _, f := range followers {
		if _, err := f.Look(ctx); err != nil {
			logger.Warn("cannot read yet what operators have set, beginning without it", "error", err.Error())
		}
		following.Go(func() { f.Run(ctx, changed) })
	}
	return func() {
		cancel()
		following.Wait()
	}
}
