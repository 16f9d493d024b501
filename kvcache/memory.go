package kvcache

import (
	"context"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/weirkeeper/weirkeeper/kvcache/internal/hits"
)

// Memory is the [Cache] of one process: complete, exact, and without any server
// or goroutine behind it. It also offers [Versioned], [Ledger] and [Watcher].
//
// One lock guards everything, so each operation happens at one instant. Expired
// state is given back a little at a time by the writes that follow; see
// [Memory.sweep]. Safe for concurrent use.
type Memory struct {
	clock func() time.Time
	moved bool      // the clock is not the timers'
	start time.Time // deadlines are durations since start, so that wall clock steps do not move them

	mu      sync.Mutex
	closed  bool
	records map[string]*record
	order   []*record // every record once, for the sweep to walk
	hand    int       // where in order the sweep goes on
	version uint64    // of the latest write to any key
	floor   uint64    // no forgotten record had a later version

	admissions uint64 // id of the latest admission to any ledger

	watches map[string][]watch // who wants to hear of a key
	ended   chan struct{}      // closed with the cache
}

// record is what the cache knows of one key.
type record struct {
	key   string
	place int // index in Memory.order

	value    string
	present  bool
	deadline time.Duration // when value expires, never if it does not
	version  uint64

	hits hits.Series

	book *book // see [Ledger]; nil until the first question

	// A record that was read by Load stays a while even without content, so
	// that its version can be compared; see sweep.
	loaded    bool
	keepUntil time.Duration
}

const never time.Duration = math.MaxInt64

// MemoryOption adjusts a [Memory].
type MemoryOption func(*Memory)

// WithClock sets the clock by which the cache decides when to forget; it answers
// no question about a window. Default: time.Now, which nil stands for too.
//
// No timer follows another clock, so [Memory.Watch] looks at it every 20 ms
// while a watched key has a deadline.
func WithClock(clock func() time.Time) MemoryOption {
	return func(m *Memory) {
		if clock != nil {
			m.clock, m.moved = clock, true
		}
	}
}

// NewMemory returns an empty cache. It needs no Close, but obeys it.
func NewMemory(opts ...MemoryOption) *Memory {
	m := &Memory{clock: time.Now, records: make(map[string]*record), watches: make(map[string][]watch), ended: make(chan struct{})}
	for _, opt := range opts {
		opt(m)
	}
	m.start = m.clock()
	return m
}

// Get implements [KeyValue].
func (m *Memory) Get(ctx context.Context, key string) (string, bool, error) {
	if err := m.enter(ctx); err != nil {
		return "", false, err
	}
	defer m.mu.Unlock()
	r := m.records[key]
	if r == nil {
		return "", false, nil
	}
	m.expire(r)
	return r.value, r.present, nil
}

// Set implements [KeyValue].
func (m *Memory) Set(ctx context.Context, key, value string, ttl time.Duration) error {
	if err := checkTTL(ttl); err != nil {
		return err
	}
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	now := m.now()
	m.write(m.ensure(key), value, deadlineAfter(now, ttl))
	m.sweep(now)
	return nil
}

// Increment implements [KeyValue].
func (m *Memory) Increment(ctx context.Context, key string, ttl time.Duration) (int64, error) {
	if err := checkTTL(ttl); err != nil {
		return 0, err
	}
	if err := m.enter(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	now := m.now()
	r := m.ensure(key)
	m.expireAt(r, now)
	count, deadline := int64(1), r.deadline
	if r.present {
		var err error
		if count, err = NextCount(r.value); err != nil {
			return 0, err
		}
	} else {
		deadline = deadlineAfter(now, ttl)
	}
	m.write(r, strconv.FormatInt(count, 10), deadline)
	m.sweep(now)
	return count, nil
}

// Delete implements [KeyValue].
func (m *Memory) Delete(ctx context.Context, key string) error {
	if err := m.enter(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if r := m.records[key]; r != nil {
		now := m.now()
		r.hits = hits.Series{}
		m.expireAt(r, now)
		if r.present {
			m.erase(r)
		}
		m.sweep(now)
	}
	return nil
}

// Close implements [Cache]: it forgets everything. It never fails.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.closed {
		m.closed = true
		close(m.ended)
	}
	m.records, m.order = nil, nil
	return nil
}

// enter takes the lock, unless the caller has gone away or the cache is closed.
func (m *Memory) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return ErrClosed
	}
	return nil
}

func (m *Memory) now() time.Duration {
	if !m.moved {
		return time.Since(m.start) // the same, for half of what it costs
	}
	return m.clock().Sub(m.start)
}

// deadlineAfter is now+ttl; a ttl of 0, or one beyond counting, is never.
func deadlineAfter(now, ttl time.Duration) time.Duration {
	if ttl == 0 || now > never-ttl {
		return never
	}
	return now + ttl
}

// ensure returns the record of key, made if need be.
func (m *Memory) ensure(key string) *record {
	r := m.records[key]
	if r == nil {
		r = &record{key: key, place: len(m.order), version: m.floor, deadline: never}
		m.records[key] = r
		m.order = append(m.order, r)
	}
	return r
}

// Versions count in steps of two. A write takes the next even number; a value
// that expires moves its key to the odd number after it, whenever that is
// noticed. So every change of a key shows, also the one that nobody makes.

func (m *Memory) write(r *record, value string, deadline time.Duration) {
	m.version += 2
	r.value, r.present, r.deadline, r.version = value, true, deadline, m.version
	m.wake(r.key)
}

func (m *Memory) erase(r *record) {
	m.version += 2
	r.value, r.present, r.deadline, r.version = "", false, never, m.version
	m.wake(r.key)
}

// expire drops the value of r if its time has come. It reads the clock only
// where there is a deadline.
func (m *Memory) expire(r *record) {
	if r.deadline != never {
		m.expireAt(r, m.now())
	}
}

func (m *Memory) expireAt(r *record, now time.Duration) {
	if r.present && r.deadline <= now {
		r.value, r.present, r.deadline = "", false, never
		r.version++
		m.wake(r.key)
	}
}
