// Package filecache is an example of a Cache adapter of one's own: it keeps the
// shared state in the files of a directory, so that the processes of one machine
// agree on limits and circuits without any server.
//
// It has the eight operations of the port and none of the optional capabilities.
// So the limiter counts hits one by one, with the weaker guarantee that kvcache
// describes, and the breaker is right as long as all go through it. The test beside
// it is the suite that every adapter should pass.
package filecache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache"
)

// Cache keeps one file per key. Safe for concurrent use, also by several
// processes of one machine.
type Cache struct {
	dir    string
	closed atomic.Bool
}

// Open returns a cache on a directory, which is made if it is missing.
func Open(dir string) (*Cache, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return &Cache{dir: dir}, nil
}

// record is a file's content.
type record struct {
	Value   []byte      `json:"value,omitempty"` // a string in JSON would not be any bytes
	Present bool        `json:"present,omitempty"`
	Ends    time.Time   `json:"ends,omitzero"` // of the value, never if zero
	Hits    []time.Time `json:"hits,omitempty"`
	Forget  time.Time   `json:"forget,omitzero"` // all hits, after the last one's ttl
}

// change reads the record of a key, lets f change it, and writes it back, while
// nobody else does. That one lock is what makes every operation atomic.
func (c *Cache) change(ctx context.Context, key string, f func(r *record, now time.Time) (write bool, err error)) error {
	switch {
	case c.closed.Load():
		return kvcache.ErrClosed
	case ctx.Err() != nil:
		return ctx.Err()
	}
	lock, err := os.OpenFile(filepath.Join(c.dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return unavailable(err)
	}
	defer func() { _ = lock.Close() }() // unlocks
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return unavailable(err)
	}
	name := sha256.Sum256([]byte(key)) // keys are of any characters and length
	path := filepath.Join(c.dir, hex.EncodeToString(name[:]))
	var r record
	switch content, err := os.ReadFile(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return unavailable(err)
	default:
		if err := json.Unmarshal(content, &r); err != nil {
			return unavailable(err)
		}
	}
	now := time.Now()
	if !r.Ends.IsZero() && !now.Before(r.Ends) {
		r.Value, r.Present, r.Ends = nil, false, time.Time{}
	}
	if !now.Before(r.Forget) {
		r.Hits = nil
	}
	write, err := f(&r, now)
	if err != nil || !write {
		return err
	}
	if !r.Present && len(r.Hits) == 0 {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return unavailable(err)
		}
		return nil
	}
	content, err := json.Marshal(r)
	if err != nil {
		return unavailable(err)
	}
	// Whoever is killed while he writes leaves the old record.
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		return unavailable(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		return unavailable(err)
	}
	return nil
}

// unavailable is never mistaken for an error of the call that is protected.
func unavailable(err error) error {
	return fmt.Errorf("filecache: %w: %w", kvcache.ErrUnavailable, err)
}

// Get implements [kvcache.KeyValue].
func (c *Cache) Get(ctx context.Context, key string) (value string, ok bool, err error) {
	err = c.change(ctx, key, func(r *record, _ time.Time) (bool, error) {
		value, ok = string(r.Value), r.Present
		return false, nil
	})
	return value, ok, err
}

// Set implements [kvcache.KeyValue].
func (c *Cache) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	return c.change(ctx, key, func(r *record, now time.Time) (bool, error) {
		if ttl < 0 {
			return false, kvcache.ErrInvalidTTL
		}
		r.set(value, ttl, now)
		return true, nil
	})
}

func (r *record) set(value string, ttl time.Duration, now time.Time) {
	r.Value, r.Present, r.Ends = []byte(value), true, time.Time{}
	if ttl > 0 {
		r.Ends = now.Add(ttl)
	}
}

// Increment implements [kvcache.KeyValue].
func (c *Cache) Increment(ctx context.Context, key string, ttl time.Duration) (n int64, err error) {
	err = c.change(ctx, key, func(r *record, now time.Time) (bool, error) {
		if ttl < 0 {
			return false, kvcache.ErrInvalidTTL
		}
		if !r.Present {
			n = 1
			r.set("1", ttl, now)
			return true, nil
		}
		old, err := strconv.ParseInt(string(r.Value), 10, 64)
		if err != nil || old == math.MaxInt64 {
			return false, kvcache.ErrNotNumber
		}
		n = old + 1
		r.Value = strconv.AppendInt(nil, n, 10)
		return true, nil
	})
	return n, err
}

// Delete implements [kvcache.KeyValue].
func (c *Cache) Delete(ctx context.Context, key string) error {
	return c.change(ctx, key, func(r *record, _ time.Time) (bool, error) {
		*r = record{}
		return true, nil
	})
}

// RecordHit implements [kvcache.HitWindow].
func (c *Cache) RecordHit(ctx context.Context, key string, at time.Time, ttl time.Duration) error {
	return c.change(ctx, key, func(r *record, now time.Time) (bool, error) {
		if ttl <= 0 {
			return false, kvcache.ErrInvalidTTL
		}
		r.Hits = append(r.Hits, at)
		if until := now.Add(ttl); until.After(r.Forget) {
			r.Forget = until
		}
		return true, nil
	})
}

// CountHits implements [kvcache.HitWindow].
func (c *Cache) CountHits(ctx context.Context, key string, since time.Time) (int, error) {
	hits, err := c.hits(ctx, key, since)
	return len(hits), err
}

// OldestHit implements [kvcache.HitWindow].
func (c *Cache) OldestHit(ctx context.Context, key string, since time.Time) (time.Time, bool, error) {
	hits, err := c.hits(ctx, key, since)
	if err != nil || len(hits) == 0 {
		return time.Time{}, false, err
	}
	return slices.MinFunc(hits, time.Time.Compare), true, nil
}

// hits forgets those before since, as the port allows.
func (c *Cache) hits(ctx context.Context, key string, since time.Time) (hits []time.Time, err error) {
	err = c.change(ctx, key, func(r *record, _ time.Time) (bool, error) {
		n := len(r.Hits)
		r.Hits = slices.DeleteFunc(r.Hits, func(at time.Time) bool { return at.Before(since) })
		hits = r.Hits
		return len(r.Hits) < n, nil
	})
	return hits, err
}

// Close implements [kvcache.Cache]. The files stay.
func (c *Cache) Close() error {
	c.closed.Store(true)
	return nil
}
