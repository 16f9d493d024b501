package natskv

import (
	"context"
	"sync"
	"time"
)

// serverClock guesses the server's time from the stamps of what it has sent and
// the local time since then. While the local clock is sound the guess is never
// ahead, because a message is received after it was stamped. It tells when to
// ask, and never what is admitted. Safe for concurrent use.
type serverClock struct {
	local func() time.Time
	start time.Time

	mu     sync.Mutex
	known  bool
	offset int64 // the server's Unix nanoseconds less elapsed
	learnt int64 // elapsed when offset was last confirmed or improved
}

func newServerClock(local func() time.Time) *serverClock {
	if local == nil {
		local = time.Now
	}
	return &serverClock{local: local, start: local()}
}

// elapsed is the local time in nanoseconds, by the monotonic clock.
func (c *serverClock) elapsed() int64 { return int64(c.local().Sub(c.start)) }

// now returns the guess; it is 0 before the first stamp.
func (c *serverClock) now() int64 {
	elapsed := c.elapsed()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known {
		return 0
	}
	return elapsed + c.offset
}

// received learns from a stamp on something that has just been received.
func (c *serverClock) received(stamp int64) {
	elapsed := c.elapsed()
	c.mu.Lock()
	defer c.mu.Unlock()
	if offset := stamp - elapsed; !c.known || offset >= c.offset {
		c.known, c.offset, c.learnt = true, offset, elapsed
	}
}

// sent learns from the stamp on something that was sent at elapsed time before.
// It cannot have been stamped before it was sent: if the guess says so, either
// clock has been set, and the guess is worthless.
func (c *serverClock) sent(stamp, before int64) {
	elapsed := c.elapsed()
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.known || stamp < before+c.offset {
		c.known, c.offset = true, stamp-elapsed
	}
	c.learnt = elapsed
}

// fresh reports whether the guess rests on something not older than age.
func (c *serverClock) fresh(age time.Duration) bool {
	elapsed := c.elapsed()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.known && elapsed-c.learnt <= int64(age)
}

// askTime learns the time of the server that leads the bucket.
func (c *Cache) askTime(ctx context.Context) error {
	before := c.clock.elapsed()
	stamp, err := c.timeOf(ctx, "KV_"+c.bucket)
	if err == nil {
		c.clock.sent(stamp, before)
	}
	return err
}

// serverNow is the server's time, as far as it is known.
func (c *Cache) serverNow(ctx context.Context) (int64, error) {
	if !c.clock.fresh(time.Minute) {
		if err := c.askTime(ctx); err != nil {
			return 0, err
		}
	}
	return c.clock.now(), nil
}
