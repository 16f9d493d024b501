package natskv

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Get implements [kvcache.KeyValue]: one round trip.
func (c *Cache) Get(ctx context.Context, key string) (string, bool, error) {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return "", false, err
	}
	defer done()
	got, now, err := c.look(ctx, keyName(key))
	if err != nil || !got.alive(now) {
		return "", false, err
	}
	return got.value, true, nil
}

// Set implements [kvcache.KeyValue]: one round trip.
func (c *Cache) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	if ttl < 0 {
		return fmt.Errorf("%w: %v is negative", kvcache.ErrInvalidTTL, ttl)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	name := keyName(key)
	m := c.message(name, value)
	lives(m.Header, ttl)
	c.alone(m.Header)
	seq, err := c.publish(ctx, m)
	if err != nil {
		return notLost(err)
	}
	c.wrote(name, seq, ttl)
	return nil
}

const (
	// mostRaces is how often an increment is tried when others are always
	// faster. Long before, the timeout ends it.
	mostRaces = 200

	// longestBackoff limits the random wait after a lost race, which doubles
	// from shortestBackoff on.
	shortestBackoff = 500 * time.Microsecond
	longestBackoff  = 32 * time.Millisecond
)

// Increment implements [kvcache.KeyValue]: two round trips, and two more each
// time that somebody else wrote the key in between.
func (c *Cache) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	if ttl < 0 {
		return 0, fmt.Errorf("%w: %v is negative", kvcache.ErrInvalidTTL, ttl)
	}
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return 0, err
	}
	defer done()
	name := keyName(key)
	backoff := shortestBackoff
	for range mostRaces {
		count, err := c.tryIncrement(ctx, name, ttl)
		if !errors.Is(err, errLost) {
			return count, err
		}
		if err := c.wait(ctx, backoff); err != nil {
			return 0, err
		}
		backoff = min(2*backoff, longestBackoff)
	}
	return 0, unavailable(fmt.Errorf("natskv: lost %d races for one key", mostRaces))
}

// tryIncrement returns errLost if somebody else wrote the key meanwhile.
func (c *Cache) tryIncrement(ctx context.Context, name string, ttl time.Duration) (int64, error) {
	got, now, err := c.look(ctx, name)
	if err != nil {
		return 0, err
	}
	count := int64(1)
	alive := got.alive(now)
	if alive {
		if count, err = kvcache.NextCount(got.value); err != nil {
			return 0, err
		}
	}
	m := c.message(name, strconv.FormatInt(count, 10))
	expect(m.Header, got.seq)
	if alive {
		expires(m.Header, got.deadline, now)
	} else {
		lives(m.Header, ttl)
	}
	c.alone(m.Header)
	seq, err := c.publish(ctx, m)
	switch {
	case errors.Is(err, errLost):
		c.seen.doubt(name, got.seq)
		return 0, err
	case err != nil:
		return 0, err
	case alive:
		c.seen.note(name, sighting{seq: seq, deadline: got.deadline, complete: true})
	default:
		c.wrote(name, seq, ttl)
	}
	return count, nil
}

// Delete implements [kvcache.KeyValue]: it leaves a marker in place of the
// value, for a while, and one in place of the hits.
func (c *Cache) Delete(ctx context.Context, key string) error {
	ctx, done, err := c.begin(ctx)
	if err != nil {
		return err
	}
	defer done()
	name := keyName(key)
	m := c.message(name, "")
	isPurge(m.Header)
	seq, err := c.publish(ctx, m)
	if err != nil {
		return notLost(err)
	}
	c.wrote(name, seq, 0)
	return c.hits.clear(ctx, key)
}

// wrote remembers a message that this process wrote. When it ends is known only
// once its time stamp has been read.
func (c *Cache) wrote(name string, seq uint64, ttl time.Duration) {
	c.seen.note(name, sighting{seq: seq, deadline: endless, complete: ttl == 0})
}
