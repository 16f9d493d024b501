package main

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/resilience"
)

const (
	// transitionsKept is how many transitions are known again. One is heard of
	// twice within moments.
	transitionsKept = 64

	// watchAgain is how long after a watch has failed the next one begins.
	watchAgain = 30 * time.Second
)

// transitions passes on each transition of the circuit once: this process hears of its
// own when it makes them and again, or before, when the store tells of them.
type transitions struct {
	logger *slog.Logger
	next   func(resilience.Change)

	mu    sync.Mutex
	known []uint64 // periods, the latest last
}

func newTransitions(logger *slog.Logger) *transitions {
	return &transitions{logger: logger, next: logChange(logger)}
}

// tell has heard called with each transition, too.
func (t *transitions) tell(heard func(resilience.Change)) {
	logged := t.next
	t.next = func(c resilience.Change) {
		logged(c)
		heard(c)
	}
}

func (t *transitions) hear(c resilience.Change) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.Contains(t.known, c.Period) {
		return
	}
	if len(t.known) == transitionsKept {
		t.known = t.known[1:]
	}
	t.known = append(t.known, c.Period)
	t.next(c)
}

// follow listens to what the rest of the fleet does to the circuit until the
// function that it returns is called.
func (t *transitions) follow(breaker *resilience.Breaker) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	var following sync.WaitGroup
	following.Go(func() {
		for ctx.Err() == nil {
			err := breaker.Watch(ctx, t.hear)
			if ctx.Err() != nil {
				return
			}
			t.logger.Warn("cannot follow the circuit, so what other workers do to it is not logged for now", "error", err.Error())
			select {
			case <-time.After(watchAgain):
			case <-ctx.Done():
			}
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}
