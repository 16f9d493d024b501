package admission

import (
	"context"
	"time"
)

// Defaults of a [Controller].
const (
	DefaultQueueCapacity = 100
	DefaultRefresh       = 60 * time.Second
)

type config struct {
	queueCapacity int
	refresh       time.Duration
	interval      *time.Duration // absent: refresh
	requests      *int64         // absent: unlimited, here and below
	tokens        *int64
	concurrency   *int64
	now           func() time.Time
	sleep         func(context.Context, time.Duration) error
}

// Option configures a [Controller]. A limit that is not given is unlimited; that
// is its only spelling, zero and negative limits are errors.
type Option func(*config)

// WithQueueCapacity bounds how many calls wait. Defaults to 100.
func WithQueueCapacity(n int) Option { return func(c *config) { c.queueCapacity = n } }

// WithRefresh is the span of the fixed window. Defaults to 60 seconds.
func WithRefresh(d time.Duration) Option { return func(c *config) { c.refresh = d } }

// WithInterval resets the window at this interval instead of every refresh span.
func WithInterval(d time.Duration) Option { return func(c *config) { c.interval = &d } }

// WithRequestLimit bounds the calls per window.
func WithRequestLimit(n int64) Option { return func(c *config) { c.requests = &n } }

// WithTokenLimit bounds the tokens per window; every call then needs an estimate.
func WithTokenLimit(n int64) Option { return func(c *config) { c.tokens = &n } }

// WithConcurrency bounds the calls that are active at the same time.
func WithConcurrency(n int64) Option { return func(c *config) { c.concurrency = &n } }

// WithClock replaces time.Now for the window.
func WithClock(now func() time.Time) Option { return func(c *config) { c.now = now } }

// WithSleep replaces the wait for the next window. It must return the context's
// error when that ends first; any other error closes the controller.
func WithSleep(sleep func(context.Context, time.Duration) error) Option {
	return func(c *config) { c.sleep = sleep }
}

func (c *config) validate() error {
	positive := []struct {
		name string
		ok   bool
	}{
		{"queue capacity", c.queueCapacity > 0},
		{"refresh", c.refresh > 0},
		{"interval", c.interval == nil || *c.interval > 0},
		{"request limit", c.requests == nil || *c.requests > 0},
		{"token limit", c.tokens == nil || *c.tokens > 0},
		{"concurrency", c.concurrency == nil || *c.concurrency > 0},
	}
	for _, p := range positive {
		if !p.ok {
			return &ConfigError{Argument: p.name, Problem: "must be positive; leave it out for no limit"}
		}
	}
	if c.now == nil || c.sleep == nil {
		return &ConfigError{Argument: "clock and sleep", Problem: "must not be nil"}
	}
	return nil
}

// period is how often the window is reset.
func (c *config) period() time.Duration {
	if c.interval != nil {
		return *c.interval
	}
	return c.refresh
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
